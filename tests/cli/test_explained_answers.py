"""How answers come about: the factors of naive Bayes and the voters of nearest neighbours, as on paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import typed

DAY = "outlook,temperature,humidity,windy\nsunny,hot,high,TRUE\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def explained(model: str, given: str, data: str = "weather_nominal") -> list[list[str]]:
    assert typed("train", data, "-m", model, "-o", "it.mlcli").exit_code == 0
    shown = typed("predict", "it.mlcli", "-", "--explain", given=given)
    assert shown.exit_code == 0, shown.output
    return [line.split() for line in shown.stdout.splitlines()]


def test_the_factors_of_naive_bayes_are_shares_of_counts_and_their_product_is_the_joint_probability(
    folder: Path,
) -> None:
    lines = explained("{use: naive-bayes, params: {smoothing: none}}", DAY)
    assert ["outlook", "=", "sunny", f"{2 / 9:.4f}", f"{3 / 5:.4f}"] in lines
    assert ["windy", "=", "TRUE", f"{3 / 9:.4f}", f"{3 / 5:.4f}"] in lines
    assert ["product", "0.0035", "0.0411"] in lines
    assert ["share", "of", "the", "products", "0.0790", "0.9210"] in lines


def test_an_empty_cell_is_no_factor_and_a_class_that_is_impossible_has_the_product_0(folder: Path) -> None:
    lines = explained("{use: naive-bayes, params: {smoothing: none}}", DAY.replace("sunny,hot", "overcast,"))
    assert not [line for line in lines if line[:1] == ["temperature"]]
    assert [line[-2:] for line in lines if line[:1] == ["share"]] == [["1.0000", "0.0000"]]


def test_the_factor_of_a_number_is_its_normal_density(folder: Path) -> None:
    Path("it.csv").write_text("x,y\n-1,a\n1,a\n9,b\n11,b\n")
    lines = explained("naive-bayes", "x\n0\n", "it.csv")
    density = next(line for line in lines if line[:1] == ["x"])
    assert float(density[3]) == pytest.approx(0.398942, abs=1e-3)


def test_voters_are_the_training_rows_by_distance_and_all_of_a_shared_last_place_vote(folder: Path) -> None:
    lines = explained("{use: knn, params: {k: 3, distance: hamming}}", DAY)
    voters = {line[0]: line[1:3] for line in lines if len(line) == 4 and line[0].isdigit()}
    assert voters["2"] == ["0", "no"]
    assert voters["1"] == ["1", "no"]
    assert {number for number, (distance, _) in voters.items() if distance == "2"} == {"3", "8", "11", "12", "14"}


def test_voters_on_a_number_have_values(folder: Path) -> None:
    Path("it.csv").write_text("x,y\n1,10\n2,20\n7,70\n")
    lines = explained("{use: knn, params: {k: 2}, steps: []}", "x\n1.2\n", "it.csv")
    assert [line[::2] for line in lines[-2:]] == [["1", "10"], ["2", "20"]]


def test_of_many_rows_the_first_are_explained_and_the_others_counted(folder: Path) -> None:
    lines = explained("knn", DAY + "sunny,hot,high,TRUE\n" * 24)
    assert sum(line[:1] == ["Row"] for line in lines) == 20
    assert lines[-1] == ["5", "more", "rows", "left", "out"]


def test_a_method_that_cannot_tell_says_so(folder: Path) -> None:
    assert typed("train", "weather_nominal", "-m", "one-r", "-o", "it.mlcli").exit_code == 0
    refused = typed("predict", "it.mlcli", "-", "--explain", given=DAY)
    assert refused.exit_code == 2
    assert "one-r cannot show how it comes to an answer" in refused.stderr


@pytest.mark.parametrize("other", [["-o", "out.csv"], ["--probabilities"]])
def test_options_that_would_have_no_effect_beside_it_are_refused(folder: Path, other: list[str]) -> None:
    assert typed("train", "weather_nominal", "-m", "knn", "-o", "it.mlcli").exit_code == 0
    refused = typed("predict", "it.mlcli", "-", "--explain", *other, given=DAY)
    assert refused.exit_code == 2
    assert "--explain prints no CSV" in refused.stderr
