"""From Python: frames give what files give, results are frames, models are asked with frames."""

from __future__ import annotations

import io
import pkgutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mlcli
from mlcli.api.experiments import estimator_as_mapping
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from mlcli.data.source import source_of_frame
from mlcli.sklearn import BaggingClassifier, DecisionTreeClassifier
from tests.cli.test_start import HEAVY
from tests.support.shell import document, typed

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.MlcliWarning")


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(shipped_paths()[name], keep_default_na=False, na_values=[""])


def test_importing_loads_nothing_heavy_and_gives_every_name() -> None:
    assert all(hasattr(mlcli, name) for name in mlcli.__all__)
    code = "import sys, mlcli; print(*sys.modules); dir(mlcli)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("mlcli")} == {"mlcli"}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluate'"):
        _ = mlcli.evaluate


@pytest.mark.parametrize("name", ["iris", "penguins", "arrests"])
def test_a_frame_is_read_as_the_file_of_its_cells(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.csv"
    path.write_bytes(shipped_paths()[name].read_bytes())
    of_file, of_frame = load(str(path)), load(source_of_frame(read(name)))
    assert of_frame.content == of_file.content
    assert of_frame.path is None


def test_levels_of_a_categorical_column_keep_their_order() -> None:
    sizes = pd.Categorical(["small", "large", None], categories=["small", "middle", "large"], ordered=True)
    (field,) = load(source_of_frame(pd.DataFrame({"size": sizes})), task="clustering").schema
    assert (field.column.kind, field.column.levels) == ("ordinal", ("small", "middle", "large"))


def test_text_that_looks_like_numbers_stays_text_and_whole_numbers_with_gaps_stay_whole() -> None:
    frame = pd.DataFrame({"code": ["1", "2", "2"], "count": [1.0, np.nan, 3.0]})
    code, count = load(source_of_frame(frame), task="clustering").schema
    assert (code.column.kind, code.column.levels) == ("nominal", ("1", "2"))
    assert count.column.kind == "numeric"
    assert b"\n2,3\n" in source_of_frame(frame).content.piece(0, 100)


def test_whole_numbers_that_a_gap_has_rounded_are_warned_of() -> None:
    """Python's own integers: 2^53 + 1 is no float; as text, as integers, and below 2^53 nothing is lost."""
    large = 2**53 + 1
    assert int(float(large)) != large
    text = f"code,small,measure\n{large},7,1.5e17\n,,0.5\n{large + 2},{2**53 - 1},\n"
    with pytest.warns(mlcli.MlcliWarning, match=r"^code: whole numbers beyond 2\^53 are floats"):
        source_of_frame(pd.read_csv(io.StringIO(text)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("string", "Int64"):
            kept = source_of_frame(pd.read_csv(io.StringIO(text), dtype={"code": kind}))
            assert str(large).encode() in kept.content.piece(0, 100)


def test_infinite_numbers_and_what_is_no_frame_are_refused() -> None:
    with pytest.raises(mlcli.MlcliError, match="not every number is finite in x"):
        mlcli.eval(pd.DataFrame({"x": [1.0, np.inf], "y": [0, 1]}))
    with pytest.raises(mlcli.MlcliError, match=r"pandas\.DataFrame"):
        mlcli.eval({"x": [1, 2]})  # type: ignore[arg-type]
    with pytest.raises(mlcli.MlcliError, match=r"pandas\.DataFrame"):
        mlcli.train("iris", "zero-r").predict(read("iris").to_numpy())  # type: ignore[arg-type]


def test_eval_of_a_frame_scores_what_the_shell_scores() -> None:
    asked: list[Any] = [{"use": "knn", "params": {"k": 3}}, "naive-bayes"]
    found = mlcli.eval(read("iris"), asked, target="species", metrics=["accuracy"], jobs=1)
    words = ("-m", "{use: knn, params: {k: 3}}", "-m", "naive-bayes", "--metric", "accuracy", "--json")
    cells = document(typed("eval", "iris", *words))["cells"]
    assert found.table["accuracy"].tolist() == [cell["metrics"]["accuracy"]["mean"] for cell in cells]
    assert found.table["accuracy-low"].tolist() == [cell["metrics"]["accuracy"]["low"] for cell in cells]
    wrong = found.answers("naive-bayes").query("truth != predicted")
    assert len(wrong) == round(150 * (1 - found.table["accuracy"].iloc[-1]))
    with pytest.raises(mlcli.MlcliError, match="there is no model 'svm'"):
        found.answers("svm")


def test_columns_are_left_out_and_a_class_is_looked_for_as_in_the_shell() -> None:
    frame = read("iris")
    asked: dict[str, Any] = {"drop": "petal_width", "positive": "virginica"}
    found = mlcli.eval(frame, "naive-bayes", metrics="f1", **asked, target="species", jobs=1)
    words = ("-m", "naive-bayes", "--drop", "petal_width", "--positive", "virginica", "--metric", "f1", "--json")
    (*_, cell) = document(typed("eval", "iris", *words))["cells"]
    assert found.table["f1[virginica]"].iloc[-1] == cell["metrics"]["f1[virginica]"]["mean"]
    assert "petal_width" not in str(mlcli.train(frame, "naive-bayes", target="species", **asked))


def test_results_show_themselves_as_text_in_a_notebook_and_as_files(tmp_path: Path) -> None:
    found = mlcli.eval("iris", "naive-bayes", jobs=1)
    assert "By accuracy: naive-bayes with 0.953" in str(found) == repr(found)
    shown = found._repr_html_() or ""
    assert shown.count("<table>") == shown.count("</table>") >= 2
    assert "<h2>iris: classification of species</h2>" in shown
    assert "| model" in found.to("markdown")
    found.write(tmp_path / "report.html")
    assert "How it was made" in (tmp_path / "report.html").read_text()
    found.write(tmp_path / "report.json")
    assert '"cells"' in (tmp_path / "report.json").read_text()
    with pytest.raises(mlcli.MlcliError, match=r"no report ends in '\.doc'"):
        found.write("report.doc")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(mlcli.MlcliError) as caught:
        mlcli.eval("iris", ["knnn", {"use": "knn", "params": {"k": 0}}], protocol="10-fold", average="mean")
    assert [part in str(caught.value) for part in ("'knnn'", "at least 1", "'10-fold'", "average is one of")] == [
        True
    ] * 4


def test_runs_in_a_store_are_a_frame(tmp_path: Path) -> None:
    spec = {"data": ["weather_nominal"], "models": ["one-r"], "metrics": ["accuracy"], "seed": 3}
    first = mlcli.run(spec, store=tmp_path / "runs.db", jobs=1)
    mlcli.run(spec, store=str(tmp_path / "runs.db"), jobs=1)
    kept = mlcli.results(tmp_path / "runs.db")
    assert kept["run"].tolist() == [1, 1, 2, 2]
    assert kept["accuracy"].tolist() == [*first.table["accuracy"]] * 2
    assert mlcli.results(tmp_path / "runs.db", run=2)["seed"].tolist() == [3, 3]
    with pytest.raises(mlcli.MlcliError, match="no key 'modles'"):
        mlcli.run({"data": ["iris"], "modles": ["knn"]})


def test_a_file_is_run_with_its_store_beside_it(tmp_path: Path) -> None:
    (tmp_path / "weather.yaml").write_text("data: [weather_nominal]\nmodels: [one-r]\n")
    mlcli.run(tmp_path / "weather.yaml", jobs=1)
    assert len(mlcli.results(tmp_path / ".mlcli" / "runs.db")) == 2


def test_a_kept_model_is_asked_with_frames_and_keeps_their_index(tmp_path: Path) -> None:
    frame = read("iris")
    model = mlcli.train(frame[::2], "lda", target="species")
    model.save(tmp_path / "lda.mlcli")
    asked = frame[1::10].drop(columns="species")
    answers = mlcli.load(tmp_path / "lda.mlcli").predict(asked, probabilities=True)
    assert answers.index.equals(asked.index)
    assert np.mean(answers["prediction"] == frame["species"][1::10]) > 0.9
    assert np.allclose(answers.filter(like="p(").sum(axis=1), 1)
    pd.testing.assert_frame_equal(answers, model.predict(asked, probabilities=True))
    assert "lda on frame" in str(model)
    assert "lda" in (mlcli.load(tmp_path / "lda.mlcli")._repr_html_() or "")


@pytest.mark.parametrize(("first", "other"), [(0, 1), ("007", "010"), ("yes", "no"), (0.5, 1.5)])
def test_classes_are_answered_as_the_frame_has_them(first: Any, other: Any) -> None:
    frame = pd.DataFrame({"x": range(20), "y": [first, other] * 10})
    model = mlcli.train(frame, {"use": "knn", "params": {"k": 1}}, target="y", task="classification")
    answers = model.predict(frame)
    pd.testing.assert_series_equal(answers["prediction"], frame["y"], check_names=False)


def test_levels_that_were_not_there_in_training_are_warned_of() -> None:
    model = mlcli.train(read("weather_nominal"), "naive-bayes")
    odd = read("weather_nominal").head(1).assign(outlook="foggy")
    with pytest.warns(mlcli.MlcliWarning, match="'foggy' was not there in training"):
        assert len(model.predict(odd)) == 1


def test_estimators_are_judged_as_they_are_made() -> None:
    behind = make_pipeline(StandardScaler(), SVC(C=3))
    nested = BaggingClassifier(base=DecisionTreeClassifier(max_depth=2), bags=3)
    inside = AdaBoostClassifier(estimator=SVC(kernel="linear"))
    assert estimator_as_mapping(behind) == {
        "use": "sklearn.svm.SVC",
        "params": {"C": 3},
        "steps": [{"use": "sklearn.preprocessing.StandardScaler", "params": {}}],
    }
    assert estimator_as_mapping(inside)["params"] == {
        "estimator": {"use": "sklearn.svm.SVC", "params": {"kernel": "linear"}}
    }
    trained = mlcli.train("iris", behind)
    assert np.array_equal(trained.predict("iris")["prediction"], behind.fit(*iris()).predict(iris()[0]))
    assert "bagging on iris" in str(mlcli.train("iris", nested))
    with pytest.raises(mlcli.MlcliError, match="kernel holds a function, which no experiment can write down"):
        mlcli.eval("iris", SVC(kernel=lambda a, b: a @ b.T))


def iris() -> tuple[Any, Any]:
    frame = read("iris")
    return frame.drop(columns="species").to_numpy(), frame["species"].to_numpy()


def test_no_module_hides_a_public_function() -> None:
    """A submodule is set as an attribute of its package when it is imported."""
    modules = {module.name for module in pkgutil.iter_modules(mlcli.__path__)}
    assert modules.isdisjoint(mlcli.__all__)
