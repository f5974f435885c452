"""How settings files are found, validated and read."""

import copy
from pathlib import Path

import pytest

from remote_evals.config.settings import Settings, load_settings
from remote_evals.errors import SettingsError
from remote_evals.suites.discovery import find_suite_files

FULL = """
suites = ["evals", "more/*.eval.yaml"]
concurrency = 8
timeout = "2m"
max_time = "20m"
retries = 0

[reports]
json = "out/results.json"
junit = "/tmp/results.xml"
markdown = "report.md"
save = "results"

[environments.production]
url = "https://agent.example.com/support/"
token_env = "AGENT_TOKEN"
headers = {X-Tenant = "evals"}
secret_headers = ["X-Tenant"]
ca_bundle = "certificates/own.pem"
wait = "1m"
expect_headers = {X-Version = "${VERSION:-1.4.2}"}
tags = ["smoke", "money"]

[environments.staging]
url = "${STAGING_URL:-http://127.0.0.1:9}"
tags = "smoke"
ca_bundle = "/etc/own.pem"
insecure_http = true
"""
SHARED = '[project]\nname = "shop"\n\n[tool.remote-evals]\nconcurrency = 2\n'


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def load(folder: Path, text: str, **variables: str) -> Settings:
    return load_settings(write(folder, "remote-evals.toml", text), folder, variables)


def load_problems(path: Path | None, start: Path, **variables: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(path, start, variables)
    return [problem.replace(f"{start}/", "") for problem in caught.value.problems]


def test_a_file_sets_everything(tmp_path: Path) -> None:
    """A file sets suites, limits and reports; its relative paths start at its folder."""
    settings = load(tmp_path, FULL)
    assert settings.suites == (f"{tmp_path}/evals", f"{tmp_path}/more/*.eval.yaml")
    assert (settings.concurrency, settings.timeout, settings.max_time, settings.retries) == (8, 120.0, 1200.0, 0)
    assert (settings.reports.json_path, settings.reports.junit_path) == (
        tmp_path / "out/results.json",
        Path("/tmp/results.xml"),  # noqa: S108 - nothing is written there
    )
    assert (settings.reports.markdown_path, settings.reports.save_folder) == (
        tmp_path / "report.md",
        tmp_path / "results",
    )


def test_an_environment_is_a_deployment_by_its_name(tmp_path: Path) -> None:
    """An environment sets the URL, the variable of the token, headers and tags, with variables filled in."""
    settings = load(tmp_path, FULL, STAGING_URL="https://staging")
    production, staging = settings.environment("production"), settings.environment("staging")
    assert (production.url, production.token_env) == ("https://agent.example.com/support", "AGENT_TOKEN")
    assert (production.headers, production.tags) == ({"X-Tenant": "evals"}, ("smoke", "money"))
    assert (staging.url, staging.token_env, staging.tags) == ("https://staging", None, ("smoke",))


def test_an_environment_says_how_its_deployment_is_reached(tmp_path: Path) -> None:
    """An environment sets certificates, relative to the file, plain HTTP, what to wait for, and secret headers."""
    settings = load(tmp_path, FULL)
    production, staging = settings.environment("production"), settings.environment("staging")
    assert (production.ca_bundle, staging.ca_bundle) == (tmp_path / "certificates/own.pem", Path("/etc/own.pem"))
    assert (production.insecure_http, staging.insecure_http) == (False, True)
    assert (production.wait, production.expect_headers) == (60.0, {"X-Version": "1.4.2"})
    assert (staging.wait, staging.expect_headers) == (None, {})
    assert (production.secret_headers, staging.secret_headers) == (("X-Tenant",), ())


def test_without_a_file_settings_are_empty(tmp_path: Path) -> None:
    """Without a file the settings are empty, and that is no error."""
    (tmp_path / ".git").mkdir()
    assert load_settings(None, tmp_path, {}) == Settings()


@pytest.mark.parametrize(("name", "text"), [("remote-evals.toml", "concurrency = 2"), ("pyproject.toml", SHARED)])
def test_the_nearest_file_is_found(name: str, text: str, tmp_path: Path) -> None:
    """The search goes upwards from a folder and stops at the first file that has settings."""
    write(tmp_path, "remote-evals.toml", "concurrency = 9")
    write(tmp_path / "a", name, text)
    write(tmp_path / "a" / "b", "pyproject.toml", '[project]\nname = "x"\n[tool]\nother = 1\n')
    start = tmp_path / "a" / "b" / "c"
    start.mkdir()
    assert load_settings(None, start, {}).concurrency == 2


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_search_ends_at_the_root_of_the_repository(kind: str, tmp_path: Path) -> None:
    """A file above the root of the repository or work tree is ignored; one at the root is found."""
    write(tmp_path, "remote-evals.toml", "concurrency = 9")
    root = tmp_path / "repository"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir() if kind == "folder" else (root / ".git").write_text("gitdir: elsewhere")
    assert load_settings(None, root / "sub", {}) == Settings()
    write(root, "remote-evals.toml", "concurrency = 3")
    assert load_settings(None, root / "sub", {}).concurrency == 3


def test_a_file_in_the_working_directory_keeps_its_paths_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths of a file in the working directory stay as written; those of a file above become absolute."""
    write(tmp_path, "remote-evals.toml", 'suites = "evals"')
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_settings(None, Path(), {}).suites == ("evals",)
    monkeypatch.chdir(tmp_path / "sub")
    assert load_settings(None, Path(), {}).suites == (f"{tmp_path.resolve()}/evals",)


def test_a_folder_is_never_a_pattern(tmp_path: Path) -> None:
    """Brackets in the name of the settings' folder are literal, both for plain paths and for globs."""
    folder = tmp_path / "a[b]"
    for name in ("one.eval.yaml", "two.eval.yaml"):
        write(folder / "evals", name, "")
    settings = load(folder, 'suites = ["evals/one.eval.yaml", "evals/*.eval.yaml"]')
    files, problems = find_suite_files(settings.suites)
    assert ([file.name for file in files], problems) == (["one.eval.yaml", "two.eval.yaml"], [])


def test_two_files_in_one_folder_are_refused(tmp_path: Path) -> None:
    """Two files with settings in one folder are refused, unless one of them is named."""
    own = write(tmp_path, "remote-evals.toml", "concurrency = 3")
    shared = write(tmp_path, "pyproject.toml", SHARED)
    assert load_problems(None, tmp_path) == [
        "pyproject.toml:4: tool.remote-evals: remote-evals.toml has settings too; keep one of the two"
    ]
    assert [load_settings(path, tmp_path, {}).concurrency for path in (own, shared)] == [3, 2]
    write(tmp_path, "pyproject.toml", '[project]\nname = "shop"\n')
    assert load_settings(None, tmp_path, {}).concurrency == 3


PROBLEMS = [
    ("unknown key", "concurency = 1", ["1: concurency: unknown key 'concurency'; did you mean 'concurrency'?"]),
    (
        "unknown report",
        "[reports]\nhtml = 'x'\njson_path = 'y'",
        [
            "2: reports.html: unknown key 'html'; valid are json, junit, markdown, save",
            "3: reports.json_path: unknown key 'json_path'; did you mean 'json'?",
        ],
    ),
    ("no number", "concurrency = 'many'", ['integer, unable to parse string as an integer, got "many"']),
    ("too few", "concurrency = 0", ["1: concurrency: Input should be greater than or equal to 1, got 0"]),
    ("a flag", "concurrency = true", ["1: concurrency: Input should be a number, got true"]),
    ("no duration", "\ntimeout = '5 days'", ["2: timeout: '5 days' is not a duration; write it as 500ms, 30s, 10m"]),
    ("a negative number", "retries = -1", ["1: retries: Input should be greater than or equal to 0, got -1"]),
    (
        "no duration in an environment",
        "[environments.a]\nurl = 'http://x'\nwait = 'soon'",
        ["3: environments.a.wait: 'soon' is not a duration"],
    ),
    ("a date", "suites = [1, 2026-10-07]", ["1: suites[0]: Input should be a valid string, got 1"]),
    ("no mapping", "environments = 'x'", ["1: environments: Input should be a mapping, got a string"]),
    ("an array", "[[environments]]\nurl = 'x'", ["1: environments: Input should be a mapping, got a list"]),
    ("no URL", "[environments.a]\ntags = 'x'", ["1: environments.a.url: Field required"]),
    (
        "a bad URL",
        "[environments.a]\nurl = 'ftp://x'",
        ["2: environments.a.url: 'ftp://x' is not a URL of a deployment"],
    ),
    (
        "a token",
        "[environments.a]\nurl = 'http://x'\ntoken = 's3cret'",
        [
            "3: environments.a.token: a token does not belong in a file; name the variable that holds it: "
            "token_env = 'NAME'"
        ],
    ),
    ("unset", "suites = '${A}'", ["1: suites: the variable A is not set; set it, or write ${A:-a default}"]),
    ("unset twice", "suites = ['${A}${B}']", ["1: suites[0]: the variable A is not", "1: suites[0]: the variable B"]),
    ("unset number", "concurrency = '${A}'", ["1: concurrency: the variable A is not set; set it, or write"]),
    ("not TOML", "a = 1\n[b\n", ["not TOML: "]),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in PROBLEMS], ids=[row[0] for row in PROBLEMS])
def test_a_problem_is_reported_with_place_and_fix(text: str, expected: list[str], tmp_path: Path) -> None:
    """Each problem is reported with file, line and key, what was found and what is valid, but never with a token."""
    problems = load_problems(write(tmp_path, "remote-evals.toml", text), tmp_path)
    assert len(problems) == len(expected)
    for problem, part in zip(problems, expected, strict=True):
        assert problem.startswith("remote-evals.toml:")
        assert part in problem
        assert "s3cret" not in problem


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    """Every problem is reported, in the order of the lines, with the full path of its key in the shared file."""
    text = SHARED + "timout = 1\n[tool.remote-evals.environments.live]\nurl = 'nowhere'\n[tool.other]\nx = 1\n"
    assert load_problems(write(tmp_path, "pyproject.toml", text), tmp_path) == [
        "pyproject.toml:6: tool.remote-evals.timout: unknown key 'timout'; did you mean 'timeout'?",
        "pyproject.toml:8: tool.remote-evals.environments.live.url: 'nowhere' is not a URL of a deployment; "
        "write it as https://host or https://host/path",
    ]


def test_what_a_variable_holds_is_not_shown(tmp_path: Path) -> None:
    """Of a wrong value that may be a credential, only the kind is shown."""
    text = "[environments.a]\nurl = 'http://x'\nheaders = ['Authorization: ${TOKEN}']\n"
    (problem,) = load_problems(write(tmp_path, "remote-evals.toml", text), tmp_path, TOKEN="s3cret")
    assert problem.endswith("Input should be a mapping, got a list")


def test_a_variable_of_another_environment_may_be_unset(tmp_path: Path) -> None:
    """Only the environment that is used needs its variables; its other problems are always reported."""
    text = "[environments.a]\nurl = 'http://x'\n[environments.b]\nurl = '${B_URL}'\nheaders = {X = '${B_KEY}'}\n"
    settings = load(tmp_path, text)
    assert settings.environment("a").url == "http://x"
    with pytest.raises(SettingsError) as caught:
        settings.environment("b")
    assert [problem.replace(f"{tmp_path}/", "") for problem in caught.value.problems] == [
        "remote-evals.toml:4: environments.b.url: the variable B_URL is not set; set it, or write ${B_URL:-a default}",
        "remote-evals.toml:5: environments.b.headers.X: the variable B_KEY is not set; set it, or write "
        "${B_KEY:-a default}",
    ]
    (problem,) = load_problems(write(tmp_path, "remote-evals.toml", f"{text}tag = 'x'\n"), tmp_path)
    assert "environments.b.tag: unknown key 'tag'; did you mean 'tags'?" in problem


@pytest.mark.parametrize(
    ("name", "advice"),
    [("prodction", "did you mean 'production'?"), ("zzz", "valid are production, staging"), ("", "valid are")],
)
def test_an_unknown_environment_is_reported_with_the_known_ones(name: str, advice: str, tmp_path: Path) -> None:
    """An unknown environment is reported with the nearest known one, or with all of them."""
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, FULL).environment(name)
    assert str(caught.value).startswith(f"no environment {name!r} in {tmp_path}/remote-evals.toml; {advice}")


def test_an_environment_without_settings_is_reported() -> None:
    """Without a settings file, the message says which files were looked for."""
    with pytest.raises(
        SettingsError, match="no environment 'live', because there are no settings: neither remote-evals"
    ):
        Settings().environment("live")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.toml", None, "none.toml: cannot be read: No such file or directory"),
        (
            "pyproject.toml",
            "[project]\n",
            "pyproject.toml: settings belong in a table [tool.remote-evals]; there is none",
        ),
        ("pyproject.toml", "tool = 3", "pyproject.toml: settings belong in a table [tool.remote-evals]; there is none"),
        ("pyproject.toml", "tool.remote-evals = 3", "settings belong in a table [tool.remote-evals]; got 3"),
    ],
)
def test_a_named_file_must_have_settings(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    """A file that is named must hold settings, unlike one that the search only passes."""
    path = write(tmp_path, name, text) if text else tmp_path / name
    (problem,) = load_problems(path, tmp_path)
    assert message in problem


def test_settings_can_be_copied_with_what_they_know(tmp_path: Path) -> None:
    """A copy still knows which environments lack a variable."""
    settings = copy.deepcopy(load(tmp_path, "[environments.b]\nurl = '${B_URL}'\n"))
    with pytest.raises(SettingsError, match="B_URL is not set"):
        settings.environment("b")
