"""Mistakes in your own files and in commands on them: the message says what would work."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.test_mistakes import rows_of
from tests.support.shell import typed

TABLE = """
explain w.mlcli outlook=sunny temprature=cool humidity=high windy=TRUE
  > did you mean 'temperature' by 'temprature'?
  $ explain w.mlcli outlook=sunny temperature=cool humidity=high windy=TRUE
predict w.mlcli odd.csv
  > did you mean 'outlook' by 'outlok'?
eval iris -m k-means --task clustering -p start=a,d
  > start is one of k-means-plus-plus, random-assignment
eval iris -m svm -p kernel=rbf,linear
  > did you mean 'gaussian'?
eval iris -m '{use: svm, params: {kernel: [rbf, linear]}}'
  > did you mean 'gaussian'?
eval iris -m '{use: knn, tune: k}'
  > such as tune: [k]
explain w.mlcli odd.csv 3
  > named by --row 3
predict my.csv
  > mlcli train my.csv -m MODEL -o FILE
eval iris -m bagging -p base=knn -p base.k=1,3
  > {use: bagging, params: {base: knn}, grid: {base.k: [1, 3]}}
  $ run bags.yaml --dry-run
eval --tune irsi -m knn
  > did you mean 'iris'?
eval price.csv
  > price.csv:7, column 'price': 'oops' is not a number
  $ eval fixed.csv -m zero-r
train price.csv -m ridge
  > price.csv:7, column 'price': 'oops' is not a number
  $ train fixed.csv -m ridge
eval price.csv --task regression
  > price.csv:7, column 'price': 'oops' is not a number
eval price.csv
  > say --task classification
  $ eval price.csv -m zero-r --task classification --folds 2
data note.csv --strict-no
  > mlcli data --help
  $ data note.csv
curve my.csv
  > mlcli curve learning my.csv -m MODEL
  $ curve learning my.csv -m zero-r
curve my.csv learning -m knn
  > did you mean: mlcli curve learning my.csv
--verbose eval my.csv -m one-r
  > options stand behind the command: mlcli eval my.csv -m one-r --verbose
  $ eval my.csv -m one-r --verbose
--seed 3 eval my.csv -m one-r
  > options stand behind the command: mlcli eval my.csv -m one-r --seed 3
  $ eval my.csv -m one-r --seed 3
eval my.csv -m knn --drop y
  > 'y' is the target, by its name, so it cannot be dropped
  $ eval my.csv -m knn --target a --drop y
eval my.csv --target y --drop y
  > 'y' is the target, so it cannot be dropped
eval fixed.csv -m ridge --cost '{a: {b: 1}}'
  > costs are those of answering with classes, and fixed is regression
  $ eval fixed.csv -m ridge
run cost.yaml --dry-run
  > cost.yaml:3:1: costs are those of answering with classes
"""
"""What is typed, what is said (>), and a command that then works ($)."""
WRONG = {
    "models: [knn]\n  protocol: {folds: 3}\n": "line 3 begins in column 3; below line 2 it can begin in column 1",
    "models:\n- use: knn\n   params: {k: 3}\n": "line 4 begins in column 4; below line 3 it can begin in column 3",
    "models:\n  - use: knn\n   params: {k: 3}\n": "line 4 begins in column 4; below line 3 it can begin in column",
    "models:\n  - use: knn\n  params: {k: 3}\n": "line 4 begins in column 3; below line 3 it can begin in column",
    "models:\n  - use: knn\n    params:\n    k: 3\n": "if it belongs to 'params', indent it by two blanks more",
    "protocol:\nfolds: 3\n": "if it belongs to 'protocol', indent it by two blanks more",
    "models:\n- knn\n  - lda\n": "begin all items of a list in the same column",
}
SIDECARS = {
    "columns:\na: numeric\n": "if it belongs to 'columns', indent it by two blanks more",
    "columns:\n  a: numeric\n b: numeric\n": "line 3 begins in column 2; below line 2 it can begin in column 1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mistakes")
    pairs = [(row * 37 % 50 / 10, row * 17 % 20 / 20) for row in range(40)]
    (place / "my.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{'uv'[a + b > 3]}\n" for a, b in pairs))
    prices = [f"{a},{b},{3 * a + b:.2f}\n" for a, b in pairs]
    (place / "fixed.csv").write_text("a,b,price\n" + "".join(prices))
    (place / "price.csv").write_text("a,b,price\n" + "".join([*prices[:5], "1,1,oops\n", *prices[6:]]))
    (place / "note.csv").write_text(
        "a,b,y\n" + "".join(f"{a},{'12 kg' if i == 3 else b},u\n" for i, (a, b) in enumerate(pairs))
    )
    (place / "odd.csv").write_text("outlok,temperature,humidity,windy\nsunny,cool,high,TRUE\n")
    (place / "bags.yaml").write_text(
        "data: [iris]\nmodels: [{use: bagging, params: {base: knn}, grid: {base.k: [1, 3]}}]\n"
    )
    (place / "cost.yaml").write_text("data: [fixed.csv]\nmodels: [ridge]\ncost: {a: {b: 1}}\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        assert typed("train", "weather_nominal", "-m", "naive-bayes", "-o", "w.mlcli").exit_code == 0
    return place


@pytest.mark.parametrize(("mistake", "advice", "works"), rows_of(TABLE))
def test_a_mistake_is_answered_with_what_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, advice: str, works: str
) -> None:
    monkeypatch.chdir(folder)
    result = typed(*shlex.split(mistake))
    assert advice in " ".join(result.output.split())
    assert 2 <= result.exit_code <= 4
    if works:
        assert typed(*shlex.split(works)).exit_code == 0


@pytest.mark.parametrize(("text", "hint"), WRONG.items())
def test_wrong_indentation_is_told_with_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(f"data: [iris]\n{text}")
    result = typed("run", "spec.yaml", "--dry-run")
    assert (result.exit_code, hint in result.output) == (3, True)


@pytest.mark.parametrize(("text", "hint"), SIDECARS.items())
def test_so_it_is_in_sidecars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, hint: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("a,b,y\n1,2,u\n2,3,v\n3,4,v\n")
    Path("my.yaml").write_text(text)
    result = typed("data", "my.csv")
    assert (result.exit_code, hint in result.output) == (4, True)


def test_a_cell_among_the_numbers_of_a_feature_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert "column 'b' would be numeric but for '12 kg' in line 5" in " ".join(
        typed("data", "note.csv").stdout.split()
    )


def test_a_method_that_cannot_be_tuned_has_no_space_of_tuning() -> None:
    assert "Search space of --tune" not in typed("models", "k-means").stdout
    assert "mlcli curve validation" in typed("models", "k-means").stdout
    assert "Search space of --tune" in typed("models", "svm").stdout


def test_sequences_of_tags_alone_can_be_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tags.csv").write_text("seq,tag\n" + "".join(f"{s},{tag}\n" for s in range(12) for tag in "abcabcabc"))
    Path("tags.yaml").write_text("roles: {sequence: seq}\ntarget: tag\n")
    for words in (("eval", "tags.csv", "-m", "markov-chain"), ("audit", "tags.csv"), ("data", "tags.csv")):
        result = typed(*words)
        assert result.exit_code == 0
        assert "no model can do more" not in result.output
    assert "1.000" in typed("eval", "tags.csv", "-m", "markov-chain").stdout
