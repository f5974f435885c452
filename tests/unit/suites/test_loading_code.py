"""Files of evals in code: which evals they define, and how their problems are reported."""

from pathlib import Path

import pytest

from remote_evals import LoadedCode, SuiteError, load_suites, make_evals

GOOD = """
from remote_evals import define_eval

@define_eval(name="one", agent=str, tags=["smoke"], cases=[{"input": "a"}, {"input": "b"}])
async def one(t, case):
    await t.send(case["input"])

define_eval(name="two", input="hi", score=lambda reply: 1.0, agent=str)
"""


def write(folder: Path, text: str, name: str = "shop_eval.py") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def load_problems(path: str | Path, *, needs_target: bool = False) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        load_suites([str(path)], {}, needs_target=needs_target)
    return list(caught.value.problems)


def test_a_file_gives_its_evals(tmp_path: Path) -> None:
    """All evals of a file are loaded in order, even without a variable; the suite is named after the file."""
    path = write(tmp_path, GOOD)
    [loaded] = load_suites([str(path)], {}, needs_target=True)
    assert isinstance(loaded, LoadedCode)
    assert loaded.case_count == 3
    evals = make_evals([loaded])
    assert [eval_.name for eval_ in evals] == ["one / a", "one / b", "two"]
    assert {(eval_.suite, eval_.file) for eval_ in evals} == {("shop_eval", str(path))}


def test_a_folder_gives_both_kinds_of_suite(tmp_path: Path) -> None:
    """A folder gives suites as data and files named `*_eval.py` or `eval_*.py`; other Python files are not imported."""
    write(tmp_path, GOOD)
    write(tmp_path, GOOD, "eval_more.py")
    write(tmp_path, "raise SystemExit", "helper.py")
    write(tmp_path, "cases: [{name: a, prompt: hi}]", "data.eval.yaml")
    files = [Path(loaded.file).name for loaded in load_suites([str(tmp_path)], {})]
    assert files == ["data.eval.yaml", "eval_more.py", "shop_eval.py"]


def test_what_lies_beside_a_file_can_be_imported(tmp_path: Path) -> None:
    """A file of evals can import modules beside it, as a script can."""
    write(tmp_path, "WORD = 'beside'", "neighbour_of_evals.py")
    path = write(tmp_path, "from neighbour_of_evals import WORD\n" + GOOD.replace('"one"', "WORD"))
    [first, *_] = make_evals(load_suites([str(path)], {}))
    assert first.name == "beside / a"


def test_evals_that_a_file_imports_are_not_its_own(tmp_path: Path) -> None:
    """An eval belongs to the file that defines it, not to one that imports that file."""
    write(tmp_path, GOOD, "imported_by_others.py")
    path = write(tmp_path, "import imported_by_others\n" + GOOD)
    assert len(make_evals(load_suites([str(path)], {}))) == 3


MAKER = """

from remote_evals import define_eval

def make(name):
    @define_eval(name=name, agent=str)
    async def test(t):
        await t.send("hi")
    return test

UNUSED = make("of the helper")
"""


def test_evals_that_a_helper_defines_for_a_file_are_its_own(tmp_path: Path) -> None:
    """Evals that a helper defines and the file holds in variables are the file's; their place is in the helper."""
    helper = write(tmp_path, MAKER, "maker_of_evals.py")
    path = write(tmp_path, "from maker_of_evals import make\nfirst = make('first')\nsecond = make('second')\n")
    evals = make_evals(load_suites([str(path)], {}))
    assert [(eval_.name, eval_.file) for eval_ in evals] == [("first", str(path)), ("second", str(path))]
    assert {eval_.place for eval_ in evals} == {f"{helper}:6"}


def test_two_files_of_one_name_are_two_suites(tmp_path: Path) -> None:
    """Files with the same name in two folders are loaded as two suites."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, GOOD)
    assert len(make_evals(load_suites([str(tmp_path)], {}))) == 6


PROBLEMS = {
    "no Python": ("import os\ndef broken(:\n    pass\n", 2, "not Python: "),
    "no such module": ("\nimport no_such_module_at_all\n", 2, "cannot be imported: ModuleNotFoundError: No module"),
    "raises": ("x = 1\n1 / 0\n", 2, "cannot be imported: ZeroDivisionError: division by zero"),
    "exits": ("import sys\nsys.exit(3)\n", 2, "cannot be imported: SystemExit: 3"),
    "no eval": ("x = 1\n", None, "defines no eval; decorate a test with @define_eval(name=…)"),
    "two evals of one name": (f"{GOOD}{GOOD}", 12, "two evals are named 'one'; give each its own name"),
    "two cases of one name": (
        GOOD.replace('"b"', '"a"'),
        4,
        "define_eval(name='one'): two cases are named 'a'; give each its own `label`",
    ),
    "pass_at over repeat": (
        GOOD.replace("tags", "repeat=2, pass_at=3, tags"),
        4,
        "define_eval(name='one'): pass_at 3 can never be reached by 2 run(s); raise repeat, or lower pass_at",
    ),
    "no duration": (GOOD.replace("tags", "timeout='soon', tags"), 4, "define_eval(name="),
}


@pytest.mark.parametrize("name", sorted(PROBLEMS))
@pytest.mark.parametrize("is_relative", [False, True], ids=["absolute", "relative"])
def test_a_problem_names_its_file_and_line(
    name: str, is_relative: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem in a file is reported with the file as the caller named it, and with the line."""
    text, line, message = PROBLEMS[name]
    path: Path = write(tmp_path, text)
    if is_relative:
        monkeypatch.chdir(tmp_path)
        path = Path(path.name)
    [problem] = load_problems(path)
    # Either of the two evals may be the one that is reported.
    lines = [4, 12] if name == "two evals of one name" else [line]
    assert any(problem.startswith(f"{path}:{one}: {message}" if one else f"{path}: {message}") for one in lines), (
        problem
    )


def test_a_problem_in_an_imported_file_names_both_files(tmp_path: Path) -> None:
    """An imported file that is not Python is named, together with the line that imports it."""
    write(tmp_path, "def broken(:\n", "neighbour_that_is_broken.py")
    path = write(tmp_path, f"import neighbour_that_is_broken\n{GOOD}")
    [problem] = load_problems(path)
    assert problem.startswith(f"{path}:1: ")
    assert "neighbour_that_is_broken.py" in problem


def test_problems_in_code_and_in_data_are_reported_together(tmp_path: Path) -> None:
    """Problems in files of code and of data are reported at once."""
    write(tmp_path, "import no_such_module_at_all\n")
    write(tmp_path, "cases: []", "a.eval.yaml")
    assert [problem.partition(": ")[0] for problem in load_problems(tmp_path)] == [
        f"{tmp_path / 'a.eval.yaml'}:1",
        f"{tmp_path / 'shop_eval.py'}:1",
    ]


def test_an_eval_without_agent_and_target_is_a_problem(tmp_path: Path) -> None:
    """If no URL is given, an eval with neither agent nor target is reported with its line."""
    path = write(tmp_path, GOOD.replace("agent=str, ", ""))
    [problem] = load_problems(path, needs_target=True)
    assert problem.startswith(f"{path}:4: the eval 'one' has no agent and no target; give it one, pass --url URL")


def test_suites_named_for_a_judge_are_left_out(tmp_path: Path) -> None:
    """Without `judging`, files whose names say that they need a judge are neither loaded nor imported."""
    write(tmp_path, GOOD)
    write(tmp_path, "raise SystemExit", "style_judge_eval.py")
    write(tmp_path, "raise SystemExit  # define_eval", "eval_style_judge.py")
    write(tmp_path, "nonsense", "style.judge.eval.yaml")
    assert [Path(loaded.file).name for loaded in load_suites([str(tmp_path)], {}, judging=False)] == ["shop_eval.py"]
