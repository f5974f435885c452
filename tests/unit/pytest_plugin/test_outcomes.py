"""The advice in messages under pytest, where the command's options have other names."""

import ast
import re
from pathlib import Path

import pytest

import remote_evals
from remote_evals.errors import JudgeError, RemoteEvalsError, RemoteStatusError, UsageError
from remote_evals.pytest_plugin import pytest_addoption
from remote_evals.pytest_plugin.outcomes import PYTEST_WORDS, extract_case, in_pytest_words, translate
from remote_evals.results import AssertionResult, CaseError, EvalReport, EvalResult

URL, QUOTE = "https://agent/chat", "the answer was 500: raise --timeout. Or so"
PACKAGE = Path(remote_evals.__file__).parent
# Their messages never appear under pytest: they belong to the command, or to the start or end of a whole run.
COMMAND_ONLY = ("cli", "doctor", "pytest_plugin", "reporters", "__main__.py", "running/stopping.py")


def find_options(path: Path) -> set[str]:
    """Return the options named in the strings of a module, except in docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return {
        option for text in texts if isinstance(text, str) for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
    }


def test_pytest_has_a_word_for_each_option_that_messages_name() -> None:
    """Every option that a message names under pytest has a translation."""
    paths = [
        path for path in PACKAGE.rglob("*.py") if not path.relative_to(PACKAGE).as_posix().startswith(COMMAND_ONLY)
    ]
    named = set().union(*map(find_options, paths))
    assert "--token-env" in named
    assert named - set(PYTEST_WORDS) == set()


def test_pytest_has_the_options_that_its_words_name() -> None:
    """Every translation that starts with --remote is an option of the plugin."""
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    [group] = [group for group in parser._groups if group.name == "remote-evals"]
    options = {name for option in group.options for name in option.names()}
    assert {word for word in PYTEST_WORDS.values() if word.startswith("--remote")} <= options


def test_options_of_other_names_stay() -> None:
    """Only whole option names are translated."""
    text = "--url-prefix --remote-judge --judge, x--url"
    assert translate(text) == "--url-prefix --remote-judge --remote-judge, x--url"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RemoteStatusError(URL, QUOTE, "See --wait", 500), f"{URL}: {QUOTE}. See {PYTEST_WORDS['--wait']}."),
        (JudgeError(URL, QUOTE, "Try a lower --concurrency"), f"{URL}: {QUOTE}. Try a lower -n."),
        (UsageError("allow it by --insecure-http"), "allow it by --remote-insecure-http"),
    ],
)
def test_an_error_advises_in_pytests_words(error: RemoteEvalsError, text: str) -> None:
    """The advice of an error is translated, but not what it quotes from the deployment."""
    with pytest.raises(type(error)) as raised, in_pytest_words():
        raise error
    assert str(raised.value) == text


def test_a_case_advises_in_pytests_words() -> None:
    """A case's error and skipped assertions are translated, but not failed assertions, which quote the agent."""
    assertions = [
        AssertionResult(name="a", passed=True, score=1.0, skipped=True, message="only with --judge"),
        AssertionResult(name="b", passed=False, score=0.0, message="the reply was '--judge'"),
    ]
    error = CaseError(code="REMOTE_STATUS", message=f"{URL}: {QUOTE}. See --url.", status=500)
    result = EvalResult(name="a", case="a", status="error", assertions=tuple(assertions), error=error)
    report = EvalReport(tool_version="", started_at="", target="", duration_ms=0, results=(result,))
    [shown] = extract_case(report).runs
    assert [one.message for one in shown.assertions] == ["only with --remote-judge", "the reply was '--judge'"]
    assert shown.error == error.model_copy(update={"message": f"{URL}: {QUOTE}. See --remote-url."})
