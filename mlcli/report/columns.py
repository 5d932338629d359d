"""Predictions as columns of text, ready to be written as CSV; one function for each kind of task."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mlcli.core.abilities import GivesEvidence, methods_with
from mlcli.core.errors import DataError
from mlcli.core.model import refuse_impossible, refuse_no_probabilities
from mlcli.core.moments import entropy, refuse_unanswerable
from mlcli.core.pipeline import final_for, sample_rows
from mlcli.core.processes import one_blas_thread
from mlcli.core.schema import Column
from mlcli.core.serialise import rng_for
from mlcli.core.tables import MISSING_CODE, Array, Table
from mlcli.data.source import as_numbers
from mlcli.engines.principal_components import component_names
from mlcli.tasks.anomaly import ScoredRows, main_reasons
from mlcli.tasks.association import items_in_words
from mlcli.tasks.ranking import places
from mlcli.tasks.sequence_labelling import in_order, lengths
from mlcli.tasks.sequence_windows import numbered_by_appearance, order_of_texts, sequence_windows
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.data.new_rows import AlignedRows
    from mlcli.experiment.saved.saved_model import SavedModel
    from mlcli.tasks.anomaly import Detector
    from mlcli.tasks.association import Associator
    from mlcli.tasks.clustering import ClusterModel
    from mlcli.tasks.density import DensityEstimator
    from mlcli.tasks.projection import Projector
    from mlcli.tasks.ranking import Ranker
    from mlcli.tasks.recommendation import Recommender
    from mlcli.tasks.sequence_labelling import Tagger
    from mlcli.tasks.supervised import Classifier, Regressor

Columns = dict[str, list[str]]
PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class PredictionRequest:
    """New rows, as the fitted model sees them, and what is requested."""

    table: Table
    probabilities: bool
    beside: Mapping[str, Sequence[str]]
    """Cells as text, by role, such as the group, the sequence or the user of each row."""
    absent_features: Collection[str]
    """Columns of the model that the file lacks; their cells are empty."""
    evidence: bool = False
    """Whether the logarithm of p(x) is requested."""
    confidence: bool = False
    """Whether the confidence in a class is requested."""
    log_stretch: float = 0.0
    """What the steps add to the logarithm of a density."""

    def refuse_probabilities(self, why: str) -> None:
        """Raise an error if probabilities were requested."""
        if self.probabilities:
            raise DataError(why, hint="leave out --probabilities")


def predictions_of(
    saved: SavedModel,
    rows: AlignedRows,
    *,
    probabilities: bool = False,
    evidence: bool = False,
    confidence: bool = False,
) -> Columns:
    """The predictions of a saved model for new rows, by the function that the table of kinds names."""
    target = {} if saved.target is None else {"target": saved.target}
    model = final_for(saved.pipeline, np.arange(len(rows)))
    beside = rows.texts({**saved.by_role, **target})
    if evidence and saved.kind not in ("classification", "sequence-labelling", "density"):
        what = f"answers of {saved.kind} do not say how probable rows are"
        raise DataError(what, hint="leave out --log-density")
    if confidence and saved.kind != "classification":
        raise DataError(f"answers of {saved.kind} are no classes to be sure of", hint="leave out --confidence")
    with one_blas_thread():
        prepared = saved.pipeline.prepared(rows.table)
        stretch = sum(step.log_stretch() for step in saved.pipeline.all_steps()) if evidence else 0.0
        absent = rows.absent_features
        request = PredictionRequest(prepared, probabilities, beside, absent, evidence, confidence, stretch)
        columns: Columns = named(kind_named(saved.kind).columns_at)(model, request)
    return columns


def label_columns(model: Classifier, request: PredictionRequest) -> Columns:
    """The class of each row, and the probabilities, the confidence and p(x) where they are requested."""
    table = request.table
    probabilities = model.predict_proba(table)
    if np.isnan(table.numbers).any() or (table.codes == MISSING_CODE).any():
        refuse_unanswerable(~np.isfinite(probabilities))
    refuse_no_probabilities(model, probabilities, (len(table), len(model.classes_)))
    columns = {PREDICTION: [model.classes_[code] for code in model.decide(probabilities)]}
    if request.probabilities:
        columns |= _share_columns(probabilities, model.classes_)
    if request.confidence:
        ranked = np.sort(probabilities, axis=1)[:, ::-1]
        margin = ranked[:, 0] - (ranked[:, 1] if probabilities.shape[1] > 1 else 0.0)
        columns["confidence"] = _numbers_as_text(ranked[:, 0])
        columns["margin"] = _numbers_as_text(margin)
        columns["entropy"] = _numbers_as_text(entropy(probabilities) / np.log(2))  # in bits
    if request.evidence:
        evidence = model.log_evidence(table) if isinstance(model, GivesEvidence) else None
        columns |= _evidence_column(evidence, request)
    return columns


def _evidence_column(log_evidence: Array | None, request: PredictionRequest) -> Columns:
    """The logarithm of p(x); a row that is impossible has -inf."""
    if log_evidence is None:
        methods = ", ".join(methods_with(GivesEvidence))
        what = "the model does not say how probable rows are"
        raise DataError(what, hint=f"leave out --log-density; methods that do: {methods}")
    if np.isnan(log_evidence).any():
        row = int(np.isnan(log_evidence).argmax()) + 1
        what = f"row {row}: how probable it is cannot be said of what is not known"
        raise DataError(what, hint="fill its target with a level of training, or leave out --log-density")
    return {"log p(x)": [repr(float(value)) for value in log_evidence + request.log_stretch]}


def _share_columns(shares: Array, classes: Sequence[str]) -> Columns:
    return {f"p({label})": _numbers_as_text(shares[:, index]) for index, label in enumerate(classes)}


def value_columns(model: Regressor | Recommender, request: PredictionRequest) -> Columns:
    """A number for each row."""
    request.refuse_probabilities("the model predicts numbers, which have no probabilities")
    values = model.predict_values(request.table)
    refuse_impossible(model, values, (len(request.table),))
    return {PREDICTION: _numbers_as_text(values)}


def rating_columns(model: Recommender, request: PredictionRequest) -> Columns:
    """The user, the item and the rating of each row; without items, the list of each user, best first."""
    user, item = request.table.columns
    users = {user.name: list(request.beside["user"])}
    if item.name not in request.absent_features:
        return users | {item.name: list(request.beside["item"])} | value_columns(model, request)
    request.refuse_probabilities("lists have no probabilities")
    names = np.array([*item.levels, ""])  # the code of nothing is -1
    lists = names[model.top_items(request.table)].T.tolist()
    return users | {f"{item.name} {place}": items for place, items in enumerate(lists, 1)}


def cluster_columns(model: ClusterModel, request: PredictionRequest) -> Columns:
    """The cluster of each row."""
    names = model.cluster_names()
    columns = {"cluster": [names[cluster] for cluster in model.cluster_of(request.table)]}
    return columns | _cluster_shares(model, request, "clusters have no probabilities")


def _cluster_shares(model: ClusterModel, request: PredictionRequest, why: str) -> Columns:
    """The probabilities of the clusters; an error if they were requested and the model has none."""
    shares = model.responsibilities(request.table)
    if shares is None:
        request.refuse_probabilities(why)
        return {}
    return _share_columns(shares, model.cluster_names())


def density_columns(model: DensityEstimator, request: PredictionRequest) -> Columns:
    """The logarithm of the density at each row."""
    columns = {"log_density": _numbers_as_text(model.log_density_in_file(request.table))}
    return columns | _cluster_shares(model, request, "a density is no probability")


def component_columns(model: Projector, request: PredictionRequest) -> Columns:
    """Each row in the new columns."""
    request.refuse_probabilities("components have no probabilities")
    components = model.project(request.table)
    names = component_names(components.shape[1])
    refuse_unanswerable(~np.isfinite(components))
    return {name: _numbers_as_text(column) for name, column in zip(names, components.T, strict=True)}


def tag_columns(model: Tagger, request: PredictionRequest) -> Columns:
    """A tag per row, in the order of the file, with the probabilities of the tags where they are requested."""
    cells = request.beside["sequence"]
    missing = [row + 1 for row, cell in enumerate(cells) if not cell.strip()]
    if missing:
        what = f"row {missing[0]}: the sequence is missing (in {len(missing)} rows)"
        raise DataError(what, hint="every row needs the sequence that it belongs to")
    order = None
    if "order" in request.beside:
        order = as_numbers(request.beside["order"])
        if order is None or np.isnan(order).any():
            what = "the order of rows in their sequences is not in numbers"
            raise DataError(what, hint="correct or fill its cells")
    sequence = numbered_by_appearance(cells)
    rows = in_order(sequence, order)
    ordered, back = request.table.take(rows), np.argsort(rows)
    tags = model.tag(ordered, sequence[rows])[back]
    columns = {PREDICTION: [model.classes_[tag] for tag in tags]}
    if request.probabilities:
        columns |= _share_columns(model.tag_shares(ordered, sequence[rows])[back], model.classes_)
    if not request.evidence:
        return columns
    code_of = {label: code for code, label in enumerate(model.classes_)}
    targets = request.beside.get("target", [""] * len(rows))
    codes = np.array([code_of.get(label, MISSING_CODE) for label in targets], np.int32)
    evidence = model.log_evidence_of(ordered, sequence[rows], codes[rows])
    return columns | _evidence_column(None if evidence is None else evidence[back], request)


def score_columns(model: Detector, request: PredictionRequest) -> Columns:
    """The anomaly score of each row, whether it is flagged, and the columns that contribute most."""
    request.refuse_probabilities("scores of oddness are no probabilities")
    beside = {role: request.beside.get(role) for role in ("sequence", "order")}
    sequence = None if beside["sequence"] is None else numbered_by_appearance(beside["sequence"])
    order = None if beside["order"] is None else order_of_texts(beside["order"])
    scored = ScoredRows.of(model, request.table, lambda: sequence_windows(len(request.table), sequence, order))
    columns = {"score": _numbers_as_text(scored.score)}
    if model.threshold_ is None:
        return columns
    flagged = scored.score >= model.threshold_
    names, reasons, shares = scored.top_reasons(int(flagged.sum()))
    because: list[str] = []
    for row_reasons, row_shares in zip(reasons, shares, strict=True):
        main = main_reasons(names, row_reasons, row_shares)
        texts = (
            f"{column} {'higher' if share > 0 else 'lower'} ({100 * abs(share):.0f} %)" for column, share in main
        )
        because.append(", ".join(texts))
    return columns | {"flagged": ["yes" if is_flagged else "no" for is_flagged in flagged], "because": because}


def place_columns(model: Ranker, request: PredictionRequest) -> Columns:
    """The score of each row, and its rank in its group; rows that tie share the better rank."""
    request.refuse_probabilities("an order has no probabilities")
    scores = model.score_rows(request.table)
    ranks = places(scores, numbered_by_appearance(request.beside["group"]))
    return {"score": _numbers_as_text(scores), "rank": list(map(str, ranks))}


def rule_columns(model: Associator, request: PredictionRequest) -> Columns:
    """For each row the most confident rule that applies and whose items the row lacks, with its confidence."""
    request.refuse_probabilities("rules have no probabilities")
    fires, holds = model.applied(request.table)
    rules, names = model.rules(), model.item_names()
    order = sorted(range(len(rules)), key=lambda index: -rules[index].confidence)
    chosen = [next((rules[index] for index in order if new[index]), None) for new in fires & ~holds]
    return {
        PREDICTION: [items_in_words(rule.then, names) if rule else "" for rule in chosen],
        "because": [items_in_words(rule.when, names) if rule else "" for rule in chosen],
        "confidence": [repr(float(rule.confidence)) if rule else "" for rule in chosen],
    }


def _numbers_as_text(numbers: Array) -> list[str]:
    refuse_unanswerable(~np.isfinite(numbers))
    return [repr(float(number)) for number in numbers]


def sample_columns(saved: SavedModel, n: int, seed: int) -> Columns:
    """Drawn rows, or sequences, as the columns of the file in their order."""
    with one_blas_thread():
        table = sample_rows(saved.pipeline, n, rng_for("sample", saved.content, saved.pipeline.name, seed))
    columns: Columns = {}
    for column, cells in table.parts():
        in_file = saved.beside.get(column.name, column)
        columns[in_file.name] = _cells_as_text(column, cells, saved.usual)
        if column.name == "sequence" and "order" in saved.beside:
            _, sizes = lengths(np.asarray(cells, np.int32))
            numbers = [str(index + 1) for size in sizes for index in range(size)]
            columns[saved.beside["order"].name] = numbers
    index_of = {name: index for index, name in enumerate(saved.order)}
    return dict(sorted(columns.items(), key=lambda part: index_of.get(part[0], len(index_of))))


def _cells_as_text(column: Column, cells: NDArray[np.generic], usual: Table) -> list[str]:
    """Levels by their names, numbers with as many decimals as the usual values of the column have."""
    if column.coded:
        names = [*column.levels, ""]  # the code of an empty cell is -1
        return [names[code] for code in cells.astype(np.intp).tolist()]
    decimals = 0
    if column in usual.columns:
        values = np.asarray(usual.cells(column.name), np.float64)
        texts = (np.format_float_positional(value, trim="-") for value in values[~np.isnan(values)])
        decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    write = repr if decimals > 12 else f"{{:.{decimals}f}}".format
    numbers = cells.astype(np.float64).tolist()
    return ["" if math.isnan(number) else write(number + 0.0) for number in numbers]
