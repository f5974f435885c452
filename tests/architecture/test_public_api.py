"""The public names of the package."""

import subprocess
import sys
from typing import Any

import pytest

import remote_evals


def test_all_is_sorted_and_complete() -> None:
    """`__all__` is sorted, and every name in it can be imported."""
    assert remote_evals.__all__ == sorted(remote_evals.__all__)
    assert all(getattr(remote_evals, name) is not None for name in remote_evals.__all__)
    assert dir(remote_evals) == remote_evals.__all__


def test_the_lazy_table_is_that_of_all() -> None:
    """Each public name but the version has one module, from which it is imported on first use."""
    assert sorted([*remote_evals._HOME_OF, "__version__"]) == remote_evals.__all__


@pytest.mark.parametrize("name", [name for name in remote_evals.__all__ if name != "__version__"])
def test_a_public_name_has_a_docstring(name: str) -> None:
    """Every public name has a docstring."""
    value: Any = getattr(remote_evals, name)
    assert value.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelled name raises `AttributeError`, as in any module."""
    with pytest.raises(AttributeError, match="EvalCse"):
        _ = remote_evals.EvalCse


def imported_after(code: str) -> set[str]:
    """Return the modules that a new interpreter has imported after running `code`."""
    show = f"{code}; import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout.split())


def test_the_api_imports_no_command_line() -> None:
    """The Python API imports neither the command line nor the reporters."""
    code = "import remote_evals as r; r.EvalRunner; r.RemoteTarget; r.EvalCase; r.load_suites"
    assert not imported_after(code) & {"typer", "remote_evals.cli", "remote_evals.reporters"}


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`import remote_evals` alone is fast: it imports no HTTP client and no pydantic."""
    assert not imported_after("import remote_evals") & {"httpx", "aiohttp", "pydantic", "typer", "rich", "yaml"}
