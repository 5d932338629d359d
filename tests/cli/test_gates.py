"""Gates: what is expected of models, what comes of it, and what CI is told."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.shell import document, typed

HEAD = "data: [iris]\nmodels: [lda, one-r]\nprotocol: {folds: 5}\nmetrics: [accuracy]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gates(*expected: str) -> tuple[int, dict[tuple[str, str], bool]]:
    """The exit code of an experiment that expects this, and which gates have passed."""
    lines = "".join(f"  - {one}\n" for one in expected)
    Path("gates.yaml").write_text(f"{HEAD}expect:\n{lines}")
    result = typed("run", "gates.yaml", "--json")
    passed = {(gate["model"], gate["expected"]): gate["passed"] for gate in document(result)["gates"]}
    return result.exit_code, passed


def test_a_bound_is_of_the_cautious_end_unless_said(folder: Path) -> None:
    cell = document(typed("eval", "iris", "-m", "lda", "--folds", "5", "--metric", "accuracy", "--json"))["cells"][
        -1
    ]
    score = cell["metrics"]["accuracy"]
    between = (score["low"] + score["mean"]) / 2
    code, passed = gates(
        f"{{score: accuracy >= {between}, model: lda}}",
        f"{{score: accuracy.mean >= {between}, model: lda}}",
        f"{{score: error-rate < {1 - between}, model: lda}}",
        f"{{score: error-rate.mean < {1 - between}, model: lda}}",
    )
    assert code == 8
    assert list(passed.values()) == [False, True, False, True]
    assert [expected.split()[0] for _, expected in passed] == [
        "accuracy.low",
        "accuracy.mean",
        "error-rate.high",
        "error-rate.mean",
    ]


def test_every_model_that_was_asked_for_is_judged_and_the_baseline_is_not(folder: Path) -> None:
    code, passed = gates("accuracy.low >= 0.5")
    assert code == 0
    assert passed == {("lda", "accuracy.low >= 0.5"): True, ("one-r", "accuracy.low >= 0.5"): True}


def test_a_model_beats_another_only_where_that_is_no_chance(folder: Path) -> None:
    code, passed = gates("beats: zero-r", "{beats: lda, model: one-r}", "{beats: knn, model: lda}")
    assert code == 8
    assert passed[("lda", "beats zero-r")]
    assert passed[("one-r", "beats zero-r")]
    assert not passed[("one-r", "beats lda")]
    assert not passed[("lda", "beats knn")]


def test_a_run_does_not_fall_behind_another(folder: Path) -> None:
    assert gates("accuracy >= 0.1")[0] == 0
    assert gates("not-worse-than: {run: 1, by: 0.01}") == (
        0,
        {
            ("lda", "not worse than in run 1 by 0.01"): True,
            ("one-r", "not worse than in run 1 by 0.01"): True,
        },
    )
    worse = HEAD.replace("[lda, one-r]", "[{use: knn, params: {k: 120}, as: lda}]")
    Path("worse.yaml").write_text(worse + "expect: [{not-worse-than: {run: gates.yaml, by: 0.01}}]\n")
    result = typed("run", "worse.yaml")
    assert result.exit_code == 8
    assert "95 % interval" in result.stdout.partition("Gates")[2]
    Path("worse.yaml").write_text(worse.replace("5", "4") + "expect: [{not-worse-than: 1}]\n")
    assert "on other rows" in typed("run", "worse.yaml").stdout


def test_what_nothing_can_be_judged_by_has_failed(folder: Path) -> None:
    code, passed = gates("{score: accuracy >= 0.1, model: knn}")
    assert (code, passed) == (8, {("knn", "accuracy.low >= 0.1"): False})


def test_fail_under_knows_which_side_is_worse() -> None:
    told = typed("eval", "cpu", "-m", "linear-regression", "--metric", "rmse", "--fail-under", "rmse=1")
    assert told.exit_code == 8
    assert "rmse.high <= 1" in told.stdout
    assert "1 gate failed" in told.stderr
    assert typed("eval", "iris", "-m", "lda", "--fail-under", "accuracy.mean=0.9").exit_code == 0
    assert "it has no worse side" in typed("eval", "cpu", "-m", "ridge", "--fail-under", "bias=1").stdout


def test_ci_reads_junit_and_a_summary(folder: Path) -> None:
    words = ("eval", "iris", "-m", "lda", "-m", "linear-regression", "--fail-under", "accuracy=0.999")
    for _ in range(2):
        assert typed(*words, "--junit", "out/junit.xml", "--summary", "out/summary.md").exit_code == 5
    suite = ET.parse(folder / "out" / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    failed = {case.get("name"): case[0].get("message") for case in suite if len(case)}
    assert "linear-regression does regression" in str(failed["linear-regression"])
    assert str(failed["lda: accuracy.low >= 0.999"]).startswith("found 0.9")
    summary = (folder / "out" / "summary.md").read_text()
    assert summary.count("## Gates") == 2
    assert "| iris | lda | accuracy.low \\>= 0.999 |" in summary
    assert "| model | accuracy |" in summary


WRONG = [
    ("accuracy is good", "this is no bound of a score"),
    ("{beats: 3}", "'beats' takes the name of a model"),
    ("{not-worse-than: {by: 0.1}}", "'not-worse-than' takes a run and a margin"),
    ("{not-worse-than: {run: 1, by: -1}}", "'not-worse-than' takes a run and a margin"),
    ("{model: lda}", "takes one of score, beats, not-worse-than"),
    ("{score: accuracy > 1, modle: lda}", "there is no key 'modle' here"),
    ("acuracy >= 0.9", "did you mean 'accuracy'"),
    ("7", "an expectation is text or a mapping"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=lambda part: part)
def test_what_cannot_be_expected_is_told_with_its_place(folder: Path, line: str, said: str) -> None:
    Path("gates.yaml").write_text(f"{HEAD}expect:\n  - {line}\n")
    result = typed("run", "gates.yaml")
    assert result.exit_code == 3
    assert said in result.stderr
    assert "gates.yaml:6:" in result.stderr


def test_fail_under_takes_a_metric_and_a_number() -> None:
    for text in ("accuracy", "accuracy=high"):
        result = typed("eval", "iris", "-m", "lda", "--fail-under", text)
        assert (result.exit_code, "such as accuracy=0.9" in result.stderr) == (2, True)
    assert typed("eval", "iris", "-m", "lda", "--fail-under", "acuracy=0.9").exit_code == 2
