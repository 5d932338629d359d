"""Exit codes: scripts depend on them, and no way out shows a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

from mlcli.cli._console import reported
from mlcli.cli._running import Progress, WorkTooLong
from mlcli.core.errors import DataError, MlcliWarning, Problem, UsageError
from tests.support.shell import typed

CSV = "a,b,y\n1,2,yes\n2,1,no\n3,5,yes\n4,0,no\n5,9,yes\n6,1,no\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.csv").write_text(CSV)
    (tmp_path / "text.db").write_text("not a database")
    (tmp_path / "bad.yaml").write_text("data: [iris]\nmodels: [knnn]\nmetrics: [acuracy]\n")
    (tmp_path / "long.yaml").write_text("data: [small.csv]\nmodels: [one-r]\nprotocol: {use: holdout}\n")
    return tmp_path


TOO_LONG = "x" * 300
WAYS_OUT = [
    (0, ["eval", "small.csv", "-m", "one-r", "--folds", "2"]),
    (2, ["eval", "iris", "-m", "knnn"]),
    (2, ["evl", "iris"]),
    (2, ["eval", "iris", "--protcol", "k-fold"]),
    (2, ["eval"]),
    (2, ["eval", "iris", "--folds", "many"]),
    (2, ["eval", "iris", "--folds", "5", "--protocol", "holdout"]),
    (2, ["eval", "iris", "-p", "k=3"]),
    (2, ["init", "small.csv", "-o", "bad.yaml"]),
    (2, ["train", "iris", "-m", "linear-regression"]),
    (3, ["run", "bad.yaml"]),
    (3, ["run", "bad.yaml", "--dry-run"]),
    (3, ["run", "nowhere.yaml", "--dry-run"]),
    (3, ["run", TOO_LONG, "--dry-run"]),
    (2, ["eval", "iris", "-m", TOO_LONG]),
    (4, ["init", TOO_LONG]),
    (4, ["eval", "nowhere.csv"]),
    (4, ["eval", "small.csv", "--target", "z"]),
    (4, ["data", "irsi"]),
    (2, ["run", "long.yaml", "--backend", "dusk"]),
    (2, ["run", "long.yaml", "--address", "tcp://here:1"]),
    (2, ["run", "long.yaml", "--shard", "1/2", "--show", "curves"]),
    (2, ["run", "long.yaml", "--budget", "4 parsecs"]),
    (2, ["run", "long.yaml", "--budget", "{memory: 4}"]),
    (5, ["run", "long.yaml", "--budget", "0.000001"]),
    (5, ["run", "long.yaml", "--budget", "{total: 0.000001}"]),
    (5, ["eval", "small.csv", "-m", "one-r", "-m", "linear-regression", "--folds", "2"]),
    (6, ["eval", "small.csv", "-m", "one-r", "--folds", "2", "--store", "text.db"]),
    (6, ["runs", "--store", "text.db"]),
    (7, ["predict", "small.csv", "small.csv"]),
    (2, ["train", "small.csv", "-m", "one-r", "-o", "bad.yaml"]),
    (8, ["eval", "small.csv", "-m", "one-r", "--folds", "2", "--fail-under", "accuracy=1"]),
]


@pytest.mark.parametrize(("code", "words"), WAYS_OUT, ids=lambda part: str(part))
def test_every_way_out_has_its_code(folder: Path, code: int, words: list[str]) -> None:
    result = typed(*words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    said = [line for line in result.stderr.splitlines() if not line.startswith("small, ")]  # of few rows
    assert bool(said) == (code != 0)


def test_asking_only_for_what_cannot_be_done_is_a_mistake() -> None:
    result = typed("eval", "iris", "-m", "linear-regression", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "linear-regression does regression; iris is classification" in result.stderr
    partly = typed("eval", "iris", "weather_nominal", "-m", "linear-regression", "-m", "one-r")
    assert partly.exit_code == 5
    assert "skipped, though asked for: linear-regression" in partly.stderr
    assert typed("eval", "iris", "cpu", "-m", "linear-regression", "-m", "one-r").exit_code == 0


def test_a_seed_that_no_store_can_hold_is_refused(folder: Path) -> None:
    result = typed("eval", "iris", "-m", "zero-r", "--store", "s.db", "--seed", "9" * 30)
    assert result.exit_code == 2
    assert "seeds go up to 9223372036854775807" in result.stderr


def test_a_bug_is_told_with_all_that_a_report_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("MLCLI_DEBUG", raising=False)
    with pytest.raises(SystemExit) as left, reported():
        raise ZeroDivisionError("nothing to divide")
    said = capsys.readouterr().err
    (report,) = tmp_path.glob("mlcli-bug-*.txt")
    assert left.value.code == 1
    assert str(report) in said
    assert "Traceback" not in said
    for part in ("mlcli 0", "Python 3", "command: mlcli", "ZeroDivisionError: nothing to divide", __file__):
        assert part in report.read_text()


def test_a_bug_shows_its_traceback_to_who_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLCLI_DEBUG", "1")
    with pytest.raises(SystemExit), reported():
        raise ZeroDivisionError("nothing to divide")
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_full_disk_is_a_matter_of_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, reported():
        raise OSError(28, "No space left on device", "answers.csv")
    assert left.value.code == 6
    assert capsys.readouterr().err == "Error: answers.csv: No space left on device\n"


def test_a_warning_is_said_without_code(capsys: pytest.CaptureFixture[str]) -> None:
    with reported():
        warnings.warn("it stopped early", MlcliWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: it stopped early\n"


def test_every_problem_is_told_with_its_place_and_advice(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), reported():
        raise DataError(Problem("is odd", "a.csv:3", "make it even"), Problem("is red"))
    assert capsys.readouterr().err == "Error: a.csv:3: is odd\n  make it even\nError: is red\n"


@pytest.mark.parametrize("words", [["models"], ["data", "segment"], ["eval", "iris", "-m", "one-r", "--json"]])
def test_a_pipe_that_is_closed_early_is_no_error(words: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "mlcli", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_all_problems_of_a_file_are_told_at_once(folder: Path) -> None:
    said = typed("run", "bad.yaml", "--dry-run").stderr
    assert "bad.yaml:2:10: there is no model 'knnn'" in said
    assert "bad.yaml:3:11: there is no metric 'acuracy'" in said
    assert said.count("did you mean") == 2


def test_what_cannot_be_done_well_is_said_once(folder: Path) -> None:
    rows = "".join(f"{row % 5},{row % 3},{'rare' if row < 3 else 'often'}\n" for row in range(40))
    (folder / "rare.csv").write_text("a,b,class\n" + rows)
    result = typed("eval", "rare.csv", "-m", "one-r")
    assert result.output.count("the rarest class has only") == 1
    assert "the rarest class has only" in typed("eval", "rare.csv", "-m", "one-r", "--json").stdout


def test_a_plan_says_which_protocol_does_not_do_well(folder: Path) -> None:
    rows = "".join(f"{row % 5},{row % 3},{'rare' if row < 3 else 'often'}\n" for row in range(40))
    (folder / "rare.csv").write_text("a,b,class\n" + rows)
    protocols = "[{use: k-fold, folds: 20}, {use: holdout, test_share: 0.1}]"
    (folder / "two.yaml").write_text(f"data: [rare.csv]\nmodels: [one-r]\nprotocol: {protocols}\n")
    said = typed("run", "two.yaml", "--dry-run").stdout
    assert "- k-fold: warning: the rarest class has only" in said
    assert "- holdout: warning: there are only 4 test rows" in said


def test_long_work_is_not_done_on_a_doubtful_guess(folder: Path) -> None:
    rows = "".join(f"{row % 7},w{row % 400}\n" for row in range(1000))
    (folder / "words.csv").write_text("a,word\n" + rows)
    result = typed("eval", "words.csv", "-m", "one-r")
    assert result.exit_code == 2
    assert "the target 'word' has 400 classes in 1,000 rows" in result.stderr
    assert "name the target with --target COLUMN" in result.stderr


def test_work_that_turns_out_long_is_ended_where_the_target_is_in_doubt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_module("mlcli.kernels")  # an import that is interrupted leaves half a module behind
    monkeypatch.setattr("mlcli.experiment.spec.suitability.MOST_FOR_A_GUESS", 0.0)
    (folder / "plain.csv").write_text("u,v\n" + "".join(f"{row}.5,{row * 7 % 11}.25\n" for row in range(20)))
    asked = ("plain.csv", "-m", "svm-regression")
    for verb in (("eval",), ("audit",), ("curve", "learning")):
        result = typed(*verb, *asked)
        assert result.exit_code == 2
        assert "the target was guessed: 'v', the last column; 'u' may be meant" in result.stderr
    assert typed("train", *asked, "--target", "v").exit_code == 0
    progress = Progress()
    progress._doubt = "in doubt"
    with pytest.raises(WorkTooLong):
        progress._tick(14, None)
    with pytest.raises(UsageError, match="in doubt"), progress:
        raise WorkTooLong
