"""The page of the command: its options, what overrides what, variables, settings and codes are those of the code."""

import ast
import asyncio
import re
import tomllib
from pathlib import Path

import pytest

from remote_evals import LLMJudge, RemoteEvalsError, TargetOptions, errors
from remote_evals.cli import exits
from remote_evals.cli.run_setup import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S, DEFAULT_WAIT_S
from remote_evals.config.settings import EnvironmentSettings, ReportSettings, Settings, load_settings
from remote_evals.core.durations import parse_duration
from tests.docs.command_lines import COMMANDS, explain_command_line, list_options
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
    read_written,
)
from tests.serving.certificates import Authority
from tests.serving.command import ROOT, remote_evals, run_python
from tests.serving.deployments import WHOLE_RUN, Connection, listen, serve

PAGE = "remote_evals/cli/README.md"
PACKAGE = ROOT / "remote_evals"
OUTSIDE_THE_HELP = re.sub(r"<!-- help: begin -->.*<!-- help: end -->", "", read(PAGE), flags=re.DOTALL)

GREEN = "cases: [{name: a, prompt: x, tags: [smoke]}, {name: b, prompt: x}]"


# One process for all of them, with nothing around it that would make typer draw colours.
PRINT_HELP = """
import sys
from typer.testing import CliRunner
from remote_evals.cli.app import app

for name in sys.argv[1:]:
    print(CliRunner().invoke(app, [name, "--help"], prog_name="remote-evals").output, end="\\0")
"""


def render_help() -> str:
    """Return the help of every command as the page shows it: 100 columns wide, without blank edges."""
    done = run_python("-c", PRINT_HELP, *COMMANDS, env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "PY_COLORS": ""})
    assert done.code == 0, done.all
    return "\n".join(map(render_block, COMMANDS, done.out.split("\0")))


def render_block(command: str, text: str) -> str:
    """Return the help of a command below a heading."""
    shown = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    return f"### {command}\n\n```text\n{shown}\n```\n"


def read_words(text: str) -> list[str]:
    """Return the words of a help text without what another version of typer draws or adds around them."""
    return re.sub(r"[─│╭╮╰╯]|\[?<[\w\[\] ]+>\]?", " ", text).split()


def test_the_help_of_every_command_is_on_the_page() -> None:
    """The page shows each command's help word by word; REMOTE_EVALS_UPDATE_SNAPSHOTS=1 writes it first."""
    text = render_help()
    assert read_words(read_written(PAGE, "help", text)) == read_words(text)


def test_every_command_is_in_the_first_table() -> None:
    """The first table has each command once."""
    rows = find_table(PAGE, "command").rows
    assert [find_code(row[0])[0] for row in rows] == list(COMMANDS)
    assert re.findall(r"^│ (\w+) ", remote_evals("--help").out, re.MULTILINE) == list(COMMANDS)


def test_every_command_line_can_be_run() -> None:
    """Each example line has a command, options and arguments that exist."""
    lines = [line for block in fenced_blocks(PAGE, "") for line in block.splitlines()]
    assert len(lines) >= 6
    assert [wrong for line in lines if (wrong := explain_command_line(line))] == []


def test_every_option_exists() -> None:
    """Each option that the page names is one of a command."""
    known = {option for command in COMMANDS for option in list_options(command)}
    assert named_options(OUTSIDE_THE_HELP) <= {*known, "--version"}


def test_links_and_lines_are_sound() -> None:
    """Every link leads somewhere, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []


OVERRIDES = {row[0]: row[1] for row in find_table(PAGE, "value").rows}


def test_the_defaults_are_those_of_the_command() -> None:
    """The last source of a number is the default of the code."""

    def last(value: str) -> str:
        return OVERRIDES[value].rpartition("; ")[2]

    assert int(last("cases at a time")) == DEFAULT_CONCURRENCY
    assert int(last("retries")) == TargetOptions().retries
    assert parse_duration(last("limit of a case")) == DEFAULT_TIMEOUT_S
    assert f"{DEFAULT_WAIT_S:.0f}s if headers are expected" in OVERRIDES["wait"]


def test_the_sources_are_keys_and_options() -> None:
    """Every source is an option, a key of the settings or an environment, or a variable."""
    cells = "; ".join(OVERRIDES.values())
    settings = set(re.findall(r"setting `(\w+)`", cells))
    environment = set(re.findall(r"`(\w+)` of `ENV`", cells))
    assert settings == {*Settings.valid_keys()} - {"environments"}
    assert environment == {"url", "token_env", "ca_bundle", "tags", "wait", "expect_headers"}
    assert environment <= {*EnvironmentSettings.valid_keys()}


# Each source of the URL by the name that the page gives it, in the order of the page.
URL_SOURCES = ["`--url` or the `url` of `ENV`", "`REMOTE_EVALS_URL`", "the suite's `target.url`"]


@pytest.mark.parametrize("first", range(len(URL_SOURCES)))
def test_the_first_source_of_the_url_counts(first: int, tmp_path: Path) -> None:
    """Of the sources of the URL that are given, the one that the page names first is asked."""
    assert "; ".join(URL_SOURCES) == OVERRIDES["URL"]
    with serve() as server:
        urls = ["http://127.0.0.1:1" if source > first else server.url for source in range(len(URL_SOURCES))]
        (tmp_path / "s.eval.yaml").write_text(f"target: {{url: '{urls[2]}'}}\ncases: [{{name: a, prompt: x}}]")
        env = {"REMOTE_EVALS_URL": urls[1]} if first <= 1 else {}
        done = remote_evals("run", tmp_path, *(["--url", urls[0]] if first == 0 else []), env=env)
    assert done.code == 0, done.all


TOKEN_SOURCES = [
    "`--token-env`, `--token-file` or `--token`",
    "the `token_env` of `ENV`",
    "the suite's `target.token_env`",
    "`REMOTE_EVALS_TOKEN`",
]


@pytest.mark.parametrize("first", range(len(TOKEN_SOURCES)))
def test_the_first_source_of_the_token_counts(first: int, tmp_path: Path) -> None:
    """Of the sources of the token that are given, the one that the page names first is sent."""
    assert "; ".join(TOKEN_SOURCES) == OVERRIDES["token"]
    env = {
        name: "right-token-1" if source == first else "wrong-token-2"
        for source, name in enumerate(["OPTION", "ENVIRONMENT", "SUITE", "REMOTE_EVALS_TOKEN"])
        if source >= first
    }
    with serve(token="right-token-1") as server:
        settings = f'[environments.a]\nurl = "{server.url}"\n'
        (tmp_path / "remote-evals.toml").write_text(settings + ('token_env = "ENVIRONMENT"' if first <= 1 else ""))
        target = "target: {token_env: SUITE}\n" if first <= 2 else ""
        (tmp_path / "s.eval.yaml").write_text(f"{target}cases: [{{name: a, prompt: x}}]")
        args = ["--env", "a", *(["--token-env", "OPTION"] if first == 0 else [])]
        done = remote_evals("run", *args, cwd=tmp_path, env=env)
    assert done.code == 0, done.all


def test_every_variable_is_in_the_table() -> None:
    """The table has each variable of this package and of GitHub that the code names, and no other one of them."""
    source = "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")))
    read_by_code = set(re.findall(r"\b(?:REMOTE_EVALS|GITHUB)_[A-Z_]*[A-Z]\b", source)) - {"REMOTE_EVALS_JUDGE"}
    rows = find_table(PAGE, "variable").rows
    on_page = {name for row in rows for name in find_code(row[0])}
    ours = {name for name in on_page if name.startswith(("REMOTE_EVALS_", "GITHUB_"))}
    assert ours == {*read_by_code, "REMOTE_EVALS_JUDGE_API_KEY"}


def test_the_variables_of_the_judge_make_one() -> None:
    """The three variables of the judge are its URL, its model and its key."""
    variables = {
        "REMOTE_EVALS_JUDGE_URL": "https://judge.example.com",
        "REMOTE_EVALS_JUDGE_MODEL": "strict-1",
        "REMOTE_EVALS_JUDGE_API_KEY": "judge-key-7f3a91",
    }
    judge = LLMJudge.from_environment(variables)
    assert judge.description == "strict-1 at https://judge.example.com/v1/chat/completions"
    assert judge.redactor.scrub("judge-key-7f3a91") == "[redacted]"


def test_the_settings_are_valid(tmp_path: Path) -> None:
    """The example of the settings loads as it stands, and so does its table in a file of its own."""
    (settings,) = fenced_blocks(PAGE, "toml")
    (tmp_path / "pyproject.toml").write_text(settings, "utf-8")
    assert load_settings(None, tmp_path, {}).environment("production").tags == ("smoke",)
    own = tmp_path / "own" / "remote-evals.toml"
    own.parent.mkdir()
    own.write_text(settings.replace("[tool.remote-evals]\n", "").replace("tool.remote-evals.", ""), "utf-8")
    assert load_settings(None, own.parent, {}).concurrency == 8


KEYS = [
    ("key", "", Settings),
    ("key of `reports`", "reports", ReportSettings),
    ("key of an environment", "environments.a", EnvironmentSettings),
]

# What each type of the tables may be written as, in TOML.
SAMPLES = {
    "text": ['"x"'],
    "text, required": ['"https://host"'],
    "text or list": ['"x"', '["x", "y"]'],
    "number from 0": ["0"],
    "number from 1": ["1"],
    "duration": ['"2m"', "30"],
    "path": ['"a/b"'],
    "table": ["{}"],
    "true or false": ["true"],
}


@pytest.mark.parametrize(("title", "table", "model"), KEYS, ids=[key[0] for key in KEYS])
def test_every_key_of_the_settings_is_on_the_page(
    title: str, table: str, model: type[Settings | ReportSettings | EnvironmentSettings], tmp_path: Path
) -> None:
    """Each table has the keys of its model, and each key takes what its type says."""
    found = find_table(PAGE, title)
    rows = {find_code(row[0])[0]: row[1] if "type" in found.titles else "path" for row in found.rows}
    assert sorted(rows) == sorted(model.valid_keys())
    file = tmp_path / "remote-evals.toml"
    for key, kind in rows.items():
        for sample in SAMPLES[kind]:
            required = 'url = "https://host"\n' if model is EnvironmentSettings and key != "url" else ""
            written = f"headers = {{x = 'some value'}}\n{required}" if key == "secret_headers" else required
            file.write_text(f"{f'[{table}]' if table else ''}\n{written}{key} = {sample}\n", "utf-8")
            assert tomllib.loads(file.read_text("utf-8"))
            load_settings(file, tmp_path, {})


def test_every_exit_code_is_in_the_table() -> None:
    """The table has each exit code once, in order, with the word that tells it from the others."""
    rows = {int(row[0]): row[1] for row in find_table(PAGE, "exit code").rows}
    words = {
        exits.PASSED: "all passed",
        exits.FAILED: "a check failed",
        exits.USAGE: "nothing was sent",
        exits.UNAUTHORIZED: "rejected the token",
        exits.UNJUDGED: "could not be judged",
        130: "Ctrl-C",
        143: "SIGTERM",
    }
    assert list(rows) == list(words)
    assert [code for code, word in words.items() if word not in rows[code]] == []


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["list", "s.eval.yaml", "--tag", "nope"], 1),
        (["list", "nope.eval.yaml"], 2),
        (["validate", "nope.eval.yaml"], 2),
        (["init", "s.eval.yaml"], 2),
        (["run", "s.eval.yaml", "--url", ""], 2),
        (["run", "s.eval.yaml", "--url", "http://127.0.0.1:1", "--token", ""], 2),
        (["run", "s.eval.yaml", "--url", "http://127.0.0.1:1", "--token-env", "EMPTY"], 2),
        (["run", "s.eval.yaml", "--url", "http://127.0.0.1:1", "--json", "same", "--junit", "same"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_exit_codes_are_as_told(args: list[str], code: int, tmp_path: Path) -> None:
    """What the page says of the other commands, and of empty and contradicting options, is so."""
    (tmp_path / "s.eval.yaml").write_text(GREEN)
    done = remote_evals(*args, cwd=tmp_path, env={"EMPTY": "", "REMOTE_EVALS_URL": "", "REMOTE_EVALS_TOKEN": ""})
    assert done.code == code, done.all


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    """REMOTE_EVALS_URL and REMOTE_EVALS_TOKEN may be set to nothing."""
    (tmp_path / "s.eval.yaml").write_text(GREEN)
    with serve() as server:
        env = {"REMOTE_EVALS_URL": "", "REMOTE_EVALS_TOKEN": ""}
        done = remote_evals("run", "--url", server.url, cwd=tmp_path, env=env)
    assert done.code == 0, done.all


def test_every_error_code_is_in_the_table() -> None:
    """The table has every code that the error of a case can have, and no other."""
    rows = find_table(PAGE, "code").rows
    assert {find_code(row[0])[0] for row in rows} == {*list_codes_of_errors(), *list_codes_of_the_runner()}


def list_codes_of_errors() -> set[str]:
    """Return the codes of the errors that can end a case; suites and settings are read before any case."""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    codes = {one.code for one in classes if issubclass(one, RemoteEvalsError)}
    # Roots of several errors; what is told before any case; and what counts as a failed check.
    never = {"REMOTE_EVALS", "REMOTE", "REMOTE_REQUEST_FAILED", "FILE", "SUITE", "SETTINGS", "JUDGE_UNPARSEABLE"}
    return codes - never


def list_codes_of_the_runner() -> set[str]:
    """Return the codes that stand in the code of the runner itself."""
    nodes = [
        node for path in (PACKAGE / "running").glob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if re.fullmatch(r"[A-Z]+(_[A-Z]+)*", text)}


def test_a_folder_is_searched_as_told(tmp_path: Path) -> None:
    """A folder has suites of all the endings, and none in hidden folders, `node_modules`, `venv` and `__pycache__`."""
    endings = [name for name in find_code(OUTSIDE_THE_HELP) if name.startswith("*.eval.") and "|" not in name]
    taken = [*(name.replace("*", "a") for name in endings), "a_eval.py", "eval_a.py"]
    left_out = [f"{folder}/b.eval.yaml" for folder in (".hidden", "node_modules", "venv", "__pycache__")]
    code = "from remote_evals import define_eval\n@define_eval(name={!r})\nasync def a(t): ...\n"
    for name in (*taken, *left_out, "eval_helpers.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        case = f'{{"name": "{name}", "prompt": "x"}}'
        text = {".py": code.format(name), ".jsonl": case}.get(path.suffix, f"[{case}]")
        path.write_text("x = 1" if name == "eval_helpers.py" else text, "utf-8")
    done = remote_evals("list", tmp_path)
    assert sorted(line.rpartition(": ")[2] for line in done.out.splitlines()) == sorted(taken), done.all


async def test_the_variable_of_certificates_is_read(tmp_path: Path) -> None:
    """SSL_CERT_FILE names the certificates to trust."""
    authority = Authority(tmp_path)
    (tmp_path / "s.eval.yaml").write_text(GREEN)

    async def answer(connection: Connection) -> None:
        await connection.send(WHOLE_RUN)

    async with listen(answer, authority.certify("127.0.0.1")) as host:
        args = ["run", tmp_path / "s.eval.yaml", "--url", f"https://{host}", "--retries", 0]
        env = {"SSL_CERT_FILE": str(authority.bundle)}
        done = await asyncio.to_thread(remote_evals, *args, env=env)
    assert done.code == 0, done.all
