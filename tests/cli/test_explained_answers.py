"""How answers come about: as on paper where the method has such a way, else by what hiding columns changes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.support.shell import document, typed

WORDS = ("outlook=sunny", "temperature=hot", "humidity=high", "windy=TRUE")
DAY = "outlook,temperature,humidity,windy\nsunny,hot,high,TRUE\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def explained(model: str, given: str, data: str = "weather_nominal") -> list[list[str]]:
    assert typed("train", data, "-m", model, "-o", "it.mlcli", "--force").exit_code == 0
    shown = typed("explain", "it.mlcli", "-", given=given)
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
    assert not [line for line in lines if line[:2] == ["temperature", "="]]
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
    voters = lines.index(["Nearest", "neighbours"]) + 3
    assert [line[::2] for line in lines[voters : voters + 2]] == [["1", "10"], ["2", "20"]]


def test_of_many_rows_the_first_are_explained_and_the_others_counted(folder: Path) -> None:
    lines = explained("knn", DAY + "sunny,hot,high,TRUE\n" * 24)
    assert sum(line[:1] == ["Row"] for line in lines) == 20
    assert lines[-1] == ["5", "more", "rows", "left", "out"]


def shown(*words: str) -> list[list[str]]:
    result = typed("explain", "it.mlcli", *words)
    assert result.exit_code == 0, result.output
    return [line.split() for line in result.stdout.splitlines()]


def findings_of(*words: str) -> dict[str, Any]:
    """By title, the findings about one row."""
    (one,) = document(typed("explain", "it.mlcli", *words, "--json"))
    return {finding["title"]: finding["rows"] for finding in one["findings"] if "rows" in finding}


def trained(data: str, model: str) -> None:
    assert typed("train", data, "-m", model, "-o", "it.mlcli", "--force").exit_code == 0


def test_the_path_through_a_tree_has_the_counts_and_gains_of_quinlan(folder: Path) -> None:
    trained("weather_nominal", "{use: decision-tree, params: {algorithm: id3}}")
    path = findings_of(*WORDS)["Path through the tree"]
    assert [line[:4] for line in path] == [
        ["all rows", 14, 9, 5],
        ["outlook = sunny", 5, 2, 3],
        ["humidity = high", 3, 0, 3],
    ]
    assert [line[4] for line in path] == [pytest.approx(0.2467, abs=5e-5), pytest.approx(0.971, abs=5e-4), None]


LINEAR = ("linear-regression", "ridge", "lasso", "elastic-net", "least-absolute")


@pytest.mark.parametrize("method", LINEAR)
def test_the_terms_of_a_line_add_up_to_its_answer(folder: Path, method: str) -> None:
    trained("cpu", method)
    (terms,) = (rows for title, rows in findings_of("cpu", "--row", "3").items() if "prediction" in title)
    answers = typed("predict", "it.mlcli", "cpu").stdout.splitlines()
    assert sum(line[2] for line in terms[:-1]) == pytest.approx(terms[-1][2])
    assert terms[-1][2] == pytest.approx(float(answers[3].split(",")[-1]))


@pytest.mark.parametrize("method", ["lda", "logistic-regression", "log-linear"])
def test_scores_term_by_term_make_the_probabilities(folder: Path, method: str) -> None:
    trained("iris", method)
    scores = np.array(findings_of("iris", "--row", "100")["Contributions to the scores"][-1][2:])
    shares = np.exp(scores - scores.max())
    answers = typed("predict", "it.mlcli", "iris", "--probabilities").stdout.splitlines()[100].split(",")
    assert shares / shares.sum() == pytest.approx(np.array(answers[-3:], float), abs=1e-9)


SCORED = ("linear-svm", "perceptron", "pocket", "linear-classifier", "kernel-perceptron")


@pytest.mark.parametrize("method", SCORED)
def test_the_largest_sum_is_the_class(folder: Path, method: str) -> None:
    trained("iris", method)
    (rows,) = (rows for title, rows in findings_of("iris", "--row", "120").items() if "feature" not in title)
    predicted = typed("predict", "it.mlcli", "iris").stdout.splitlines()[120].split(",")[-1]
    assert ("setosa", "versicolor", "virginica")[int(np.argmax(rows[-1][2:]))] == predicted


def test_support_vectors_share_in_f_and_the_distance_of_a_row_on_the_margin_is_the_margin(folder: Path) -> None:
    Path("and.csv").write_text("a,b,and\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n")
    trained("and.csv", "{use: svm, params: {kernel: linear, C: null}, steps: []}")
    found = findings_of("a=1", "b=1")
    assert found["Contribution of each training row"][-1][2] == pytest.approx(1.0)
    assert found["Signed distance of the row"][0][1:] == [pytest.approx(1.0), pytest.approx(8**-0.5)]
    assert {line[0] for line in found["Contribution of each training row"][1:-1]} == {
        "training row 2",
        "training row 3",
        "training row 4",
    }


@pytest.mark.parametrize("method", ["kernel-ridge", "svm-regression"])
def test_what_training_rows_add_is_the_value(folder: Path, method: str) -> None:
    trained("cpu", method)
    rows = findings_of("cpu", "--row", "5")["Contribution of each training row"]
    answer = typed("predict", "it.mlcli", "cpu").stdout.splitlines()[5].split(",")[-1]
    assert rows[-1][2] == pytest.approx(float(answer))


def test_the_table_of_viterbi_ends_in_the_probability_of_the_answer(folder: Path) -> None:
    text = "word,sequence,tag\nsun,1,dry\nrain,1,wet\nrain,1,wet\nsun,2,dry\nrain,2,dry\nrain,2,wet\n"
    Path("days.csv").write_text(text)
    Path("days.yaml").write_text("roles: {target: tag, sequence: sequence}\n")
    trained("days.csv", "{use: hmm, params: {alpha: 0, unknown: alpha}}")
    table = findings_of("days.csv", "--row", "2")["Viterbi, row by row"]
    assert [line[0] for line in table] == ["sun", "rain", "rain"]
    assert [line[-1] for line in table] == ["dry", "wet", "wet"]
    # start→dry 1, dry emits sun 2/3 and rain 1/3; dry→wet 2/3, dry→dry 1/3; wet→wet 1, wet emits rain.
    assert table[-1][2] == pytest.approx(math.log(2 / 3 * 2 / 3))
    assert table[-1][1] == pytest.approx(math.log(2 / 3 * (1 / 3) ** 4))


def test_a_column_that_a_line_does_not_need_changes_nothing_when_hidden_and_the_others_their_term(
    folder: Path,
) -> None:
    rows = [(x, z) for x in range(12) for z in range(2)]
    Path("it.csv").write_text("x,z,y\n" + "".join(f"{x},{z},{3 * x}\n" for x, z in rows))
    trained("it.csv", "linear-regression")
    changed = {line[0]: line[2:] for line in findings_of("x=7", "z=1")["Effect of removing each feature on y"]}
    assert changed["z"] == [pytest.approx(21), pytest.approx(0, abs=1e-9)]
    assert changed["x"] == [pytest.approx(16.5), pytest.approx(4.5)]


def test_any_method_tells_what_hiding_columns_changes(folder: Path) -> None:
    trained("weather_nominal", "one-r")
    changed = findings_of(*WORDS)["Effect of removing each feature on p(no)"]
    assert changed[0][0] == "outlook"
    assert [line[3] for line in changed[1:]] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_level_that_was_not_there_in_training_is_warned_of(folder: Path) -> None:
    trained("weather_nominal", "naive-bayes")
    said = typed("explain", "it.mlcli", "outlook=suny", *WORDS[1:]).stderr
    assert said.startswith("Warning: column 'outlook': 'suny' was not there in training")


def test_chosen_rows_keep_their_numbers(folder: Path) -> None:
    trained("iris", "knn")
    lines = shown("iris", "--row", "3", "--row", "150")
    assert [line[1] for line in lines if line[:1] == ["Row"]] == ["3:", "150:"]


def test_a_row_that_cannot_be_answered_is_named_by_its_place_in_the_file(folder: Path) -> None:
    trained("iris", "knn")
    names = "sepal_length,sepal_width,petal_length,petal_width"
    (folder / "gap.csv").write_text(f"{names}\n5,3,1,1\n5,,1,1\n")
    refused = typed("explain", "it.mlcli", "gap.csv", "--row", "2")
    assert refused.exit_code == 4
    assert "gap.csv, row 2: the model has no answer for the row" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["iris", "--row", "151"], "there is no row 151"),
        (["sepal_length=1", "petal_width"], "'petal_width' is not column=value"),
        (["sepal_length=1", "sepal_length=2"], "column 'sepal_length' is given twice"),
        (["sepal_length=1"], "lacks 3 of the 4 needed columns"),
    ],
)
def test_what_is_no_row_is_refused(folder: Path, words: list[str], said: str) -> None:
    trained("iris", "one-r")
    refused = typed("explain", "it.mlcli", *words)
    assert refused.exit_code in (2, 4)
    assert said in refused.stderr


def test_clusters_are_explained_by_distances_and_rules_by_what_a_row_has(folder: Path) -> None:
    Path("it.csv").write_text("x\n0\n2\n10\n14\n")
    trained("it.csv", "{use: k-means, params: {clusters: 2}, steps: []}")
    distances = findings_of("it.csv", "--row", "4")["Distances to the centres"]
    assert sorted(line[1] for line in distances) == pytest.approx([2, 13])  # centres at 1 and 12
    words = ("train", "weather_nominal", "--task", "association", "-m", "fp-growth", "-o", "it.mlcli", "--force")
    assert typed(*words).exit_code == 0
    (met,) = findings_of("weather_nominal", "--row", "3").values()
    assert [line[2:] for line in met] == [[1.0, "yes"]] * 10


def test_a_method_that_cannot_tell_says_so(folder: Path) -> None:
    trained("iris", "divisive")
    refused = typed("explain", "it.mlcli", "iris")
    assert refused.exit_code == 2
    assert "divisive cannot show how it comes to an answer" in refused.stderr


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_what_no_number_holds_is_refused_with_its_likely_reason(folder: Path, command: str) -> None:
    """The exponential of 1e5 is no double, whether it is answered or explained; the file itself is sound."""
    rows = "".join(f"{place},{math.exp(place / 10)!r}\n" for place in range(40))
    Path("grown.csv").write_text("x,y\n" + rows)
    assert typed("train", "grown.csv", "-m", "target-transform", "-o", "t.mlcli").exit_code == 0
    shown = typed(command, "t.mlcli", "-", given="x\n1\n1e6\n")
    assert shown.exit_code == 7
    assert "inf" not in shown.stdout
    assert "numbers are too far from those of training, or it is damaged" in shown.stderr
    assert "correct such rows, or leave them out" in shown.stderr
    assert command == "explain" or "for 1 of 2 rows, first for row 2 of them" in shown.stderr


@pytest.mark.parametrize("words", [("explain",), ("explain", "--row", "2")])
def test_a_file_without_rows_has_nothing_to_explain(folder: Path, words: tuple[str, ...]) -> None:
    trained("weather_nominal", "naive-bayes")
    Path("none.csv").write_text(DAY.splitlines()[0] + "\n")
    found = typed(words[0], "it.mlcli", "none.csv", *words[1:])
    assert (found.exit_code, found.stderr) == (4, "Error: none.csv: has column names but no rows\n")


def test_the_local_outlier_factor_of_a_training_row_follows_from_its_neighbours(folder: Path) -> None:
    # Worked examples, section 10: rows 0 1 2 3 10 with k = 2 have the factors 1 1 1 1 5.
    Path("five.csv").write_text("x\n0\n1\n2\n3\n10\n")
    trained("five.csv", "{use: lof, params: {neighbours: 2}, steps: []}")
    (one,) = document(typed("explain", "it.mlcli", "five.csv", "--row", "5", "--json"))
    assert one["answer"] == "score = 5"
    near = next(finding for finding in one["findings"] if finding["title"] == "Nearest neighbours")
    assert near["header"] == ["training row", "distance", "kth distance", "reachability", "density"]
    assert near["rows"] == [[4, 7, 2, 7, pytest.approx(2 / 3)], [3, 8, 1, 8, pytest.approx(2 / 3)]]
    assert near["note"].startswith("Without training row 5, which equals it.")
    mean = sum(line[4] for line in near["rows"]) / 2
    assert mean * (7 + 8) / 2 == pytest.approx(5)


@pytest.mark.parametrize("model", ["collective", "{use: prediction-error, params: {window: 2}}"])
def test_a_row_of_a_sequence_is_explained_with_the_score_that_it_is_given(folder: Path, model: str) -> None:
    cells = [7 * i % 5 + 30 * (i == 20) for i in range(1, 41)]
    Path("walk.csv").write_text("v,w\n" + "".join(f"{cell},{cell % 3}\n" for cell in cells))
    trained("walk.csv", model)
    given = float(typed("predict", "it.mlcli", "walk.csv").stdout.splitlines()[20].split(",")[1])
    (one,) = document(typed("explain", "it.mlcli", "walk.csv", "--row", "20", "--json"))
    assert float(one["answer"].removeprefix("score = ")) == pytest.approx(given, rel=1e-3)


def test_the_place_of_a_row_along_components_is_a_sum_over_its_cells(folder: Path) -> None:
    # Worked examples, section 7: the haematology table, centred; component 1 of A1 is −6.3155.
    cells = Path(__file__).parent.parent.joinpath("golden", "haematology.csv").read_text().splitlines()
    Path("blood.csv").write_text("\n".join(line.partition(",")[2] for line in cells) + "\n")
    trained("blood.csv", "{use: pca, params: {components: 2}, steps: []}")
    (head, *_) = shown("blood.csv", "--row", "1")
    assert " ".join(head) == "Row 1: component_1 = -6.316, component_2 = -0.9102"
    found = findings_of("blood.csv", "--row", "1")
    places = found["Contributions to the components"]
    assert places[-1][2] == pytest.approx(-6.3155, abs=5e-5)
    assert sum(line[2] for line in places[:-1]) == pytest.approx(places[-1][2])
    restored = found["Reconstruction"]
    assert sum((line[1] - line[2]) ** 2 for line in restored[:-1]) == pytest.approx(restored[-1][3])


def test_the_score_of_an_autoencoder_is_its_error_of_reconstruction(folder: Path) -> None:
    trained("iris", "{use: autoencoder, params: {epochs: 5}}")
    score = float(typed("predict", "it.mlcli", "iris").stdout.splitlines()[42].split(",")[2])
    assert findings_of("iris", "--row", "42")["Reconstruction"][-1][3] == pytest.approx(score)


def test_the_score_of_an_isolation_forest_follows_from_the_path(folder: Path) -> None:
    trained("iris", "isolation-forest")
    score = float(typed("predict", "it.mlcli", "iris").stdout.splitlines()[42].split(",")[2])
    (_, path), (_, usual), (_, found) = findings_of("iris", "--row", "42")["Isolation of the row"]
    assert found == pytest.approx(score) == pytest.approx(2 ** (-path / usual))


@pytest.mark.parametrize("method", ["one-class-svm", "svdd"])
def test_support_vectors_add_up_to_the_score_of_a_detector(folder: Path, method: str) -> None:
    trained("iris", method)
    score = float(typed("predict", "it.mlcli", "iris").stdout.splitlines()[42].split(",")[2])
    terms = findings_of("iris", "--row", "42")["Contribution of each training row"]
    assert sum(line[2] for line in terms[:-1]) == pytest.approx(score, abs=1e-9)
    assert terms[-1][2] == pytest.approx(score, abs=1e-9)


ROW = ("x=0.2", "z=0.1")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 300))
    churn = np.where(rng.random(300) < 1 / (1 + np.exp(1.5 - 1.5 * x)), "yes", "no")
    path = tmp_path_factory.mktemp("data") / "churn.csv"
    pd.DataFrame({"x": x, "z": z, "churn": churn}).to_csv(path, index=False)
    return path


def shell(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "model",
    [
        "{use: logistic-regression, decide: {threshold: 0.1, positive: yes}}",
        "{use: naive-bayes, decide: {threshold: 0.1, positive: yes}}",
        "{use: selected-model, params: {models: [{use: decision-rule, params: {threshold: 0.1, positive: yes}}]}}",
        "{use: logistic-regression, decide: {by: expected-cost, cost: {yes: {no: 30}}}}",
    ],
)
def test_the_class_that_predict_answers_is_explained(table: Path, tmp_path: Path, model: str) -> None:
    saved, row = tmp_path / "model.mlcli", tmp_path / "row.csv"
    row.write_text("x,z\n0.2,0.1\n")
    shell("train", str(table), "-m", model, "-o", str(saved))
    predicted = document(typed("predict", str(saved), str(row), "--json", "--probabilities"))[0]
    assert predicted["prediction"] == "yes"
    assert float(predicted["p(yes)"]) < 0.5
    explained = shell("explain", str(saved), *ROW)
    assert "Row 1: yes, with p(yes)" in explained
    assert "Effect of removing each feature on p(yes)" in explained
    assert "How it is decided" in explained
    assert ("the class whose expected cost is least" if "cost" in model else "at least 0.1") in explained


def test_the_base_of_a_rule_explains_its_probabilities(table: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "model.mlcli")
    rule = "{use: logistic-regression, decide: {threshold: 0.1, positive: yes}}"
    shell("train", str(table), "-m", rule, "-o", saved)
    assert "Contributions to the scores" in shell("explain", saved, *ROW)


def test_a_detector_says_whether_it_flags_the_row(table: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "model.mlcli")
    shell(
        "train",
        str(table),
        "--task",
        "anomaly",
        "-m",
        "z-score",
        "-p",
        "decide={threshold: 3}",
        "--drop",
        "churn",
        "-o",
        saved,
    )
    assert "\nflagged; flagged: rows" in shell("explain", saved, "x=9", "z=0")
    usual = shell("explain", saved, *ROW)
    assert "not flagged; flagged: rows that score at least 3" in usual


@pytest.mark.parametrize("model", ["logistic-regression", "linear-svm", "perceptron", "linear-classifier"])
@pytest.mark.parametrize(("positive", "other"), [("yes", "no"), ("no", "yes")])
def test_coefficients_point_to_the_positive_class(table: Path, model: str, positive: str, other: str) -> None:
    output = shell("train", str(table), "-m", model, "--positive", positive)
    assert f"{positive} against {other}" in output
    assert f"{other} against {positive}" not in output
