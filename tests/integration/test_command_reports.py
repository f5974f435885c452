"""What the reports of a run of several suites say of each."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from fake_server import FakeServer, parse_script
from tests.integration.command import remote_evals

SUITE = """
target: {{url: '{url}'}}
cases:
  - name: talk
    metadata: {{owner: team-a, level: 3, nested: {{list: [1, null]}}}}
    turns: [{{prompt: one, must_contain: good}}, {{prompt: two, must_contain: good}}]
    must_contain: good
  - {{name: plain, prompt: x}}
"""


def test_each_suite_has_its_target_in_the_reports(tmp_path: Path) -> None:
    """The JSON report has metadata, target and turn of what it shows, the JUnit report the target of each suite."""
    json_path, junit_path = tmp_path / "r.json", tmp_path / "r.xml"
    script = parse_script("replies: [{text: all good}]")
    with FakeServer(script) as one, FakeServer(script) as two:
        for name, server in (("one", one), ("two", two)):
            (tmp_path / f"{name}.eval.yaml").write_text(SUITE.format(url=f"{server.url}?hidden=1"))
        done = remote_evals("run", tmp_path, "--json", json_path, "--junit", junit_path)
    assert done.code == 0, done.all
    results = json.loads(json_path.read_text("utf-8"))["results"]
    assert [(result["suite"], result["target"]) for result in results] == [
        *[("one", one.url)] * 2,
        *[("two", two.url)] * 2,
    ]
    talk, plain = results[:2]
    assert talk["metadata"] == {"owner": "team-a", "level": 3, "nested": {"list": [1, None]}}
    assert plain["metadata"] == {}
    assert [turn["turn"] for turn in talk["turns"]] == [1, 2]
    assert [assertion["turn"] for assertion in talk["assertions"]] == [1, 2, None]
    suites = ET.parse(junit_path).getroot()  # noqa: S314 - written a moment ago
    targets = [
        (suite.get("name"), [p.get("value") for p in suite.findall("properties/property[@name='target']")])
        for suite in suites
    ]
    assert targets == [("one", [one.url]), ("two", [two.url])]
