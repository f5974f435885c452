"""Files of evals in code: imports `*_eval.py` and `eval_*.py`, and says where a mistake in one stands."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from .definitions import EvalDefinition, take_collected
from .errors import UsageError


class CodeError(Exception):
    """A file whose evals cannot be had: what is wrong, and at which of its lines, None when that is not known."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def load_definitions(path: Path) -> list[EvalDefinition]:
    """Import a file and return the evals that it defines. Raises `CodeError`."""
    take_collected()
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # As for a script: what lies beside the file can be imported, now and by the tests when they run.
        sys.path.insert(0, folder)
    try:
        module = _execute(path)
    except SyntaxError as error:
        raise CodeError(_describe_syntax(error, path), _syntax_line(error, path)) from error
    except UsageError as error:
        raise CodeError(str(error), _line_of(error, path)) from error
    except (Exception, SystemExit) as error:  # whatever the file does when it is imported
        raise CodeError(f"cannot be imported: {type(error).__name__}: {error}", _line_of(error, path)) from error
    return _check(take_collected(), path, module)


def _execute(path: Path) -> ModuleType:
    # A name of its own, so that two files of one name in two folders are two modules.
    name = f"_remote_evals_{path.stem}_{abs(hash(str(path.resolve())))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader  # noqa: S101, PT018 - the path of a .py file always has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _check(definitions: list[EvalDefinition], path: Path, module: ModuleType) -> list[EvalDefinition]:
    # Those that it defines, and those that it keeps a name of: a helper may define evals for it.
    kept = [value for value in vars(module).values() if isinstance(value, EvalDefinition)]
    own = [one for one in definitions if one in kept or Path(one.file).resolve() == path.resolve()]
    if not own:
        raise CodeError("defines no eval; decorate a test with @define_eval(name=…)", None)
    names = [definition.name for definition in own]
    for definition in own:
        if names.count(definition.name) > 1:
            raise CodeError(f"two evals are named {definition.name!r}; give each its own name", definition.line)
    return own


def _describe_syntax(error: SyntaxError, path: Path) -> str:
    is_here = error.filename and Path(error.filename).resolve() == path.resolve()
    where = "" if is_here or not error.filename else f" (in {error.filename}, line {error.lineno})"
    return f"not Python: {error.msg}{where}"


def _syntax_line(error: SyntaxError, path: Path) -> int | None:
    """Return the line of a syntax error, or in the file itself the line that imports the file it stands in."""
    is_here = error.filename and Path(error.filename).resolve() == path.resolve()
    return error.lineno if is_here else _line_of(error, path)


def _line_of(error: BaseException, path: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return own[-1].lineno if own else None
