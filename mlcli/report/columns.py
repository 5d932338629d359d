"""Predictions as columns of text, ready to be written as CSV: how depends on what the answers hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.abilities import GivesEvidence, methods_with
from mlcli.core.errors import DataError
from mlcli.core.limits import refuse_unanswerable
from mlcli.core.moments import entropy
from mlcli.core.pipeline import final_for, sample_rows
from mlcli.core.processes import one_blas_thread
from mlcli.core.schema import Column
from mlcli.core.seeds import rng_for
from mlcli.core.tables import MISSING_CODE, Array, Table
from mlcli.core.task import refuse_impossible, refuse_no_probabilities
from mlcli.data.number_text import as_numbers
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

Columns = dict[str, list[str]]
PREDICTION = "prediction"
EVIDENCE = "log p(x)"
WITH_DENSITY = ("classification", "sequence-labelling", "density")
"""The kinds of task that may say how probable rows are; density always does."""


@dataclass(frozen=True, eq=False)
class PredictionRequest:
    """Rows whose truth is not known, as the model that answers sees them, and what is wanted of them."""

    table: Table
    probabilities: bool
    beside: Mapping[str, Sequence[str]]
    """Cells as text, by role: of what says which rows belong together, and of users."""
    absent_features: Collection[str]
    """Columns that the model knows and the file lacks; their cells are empty."""
    evidence: bool = False
    """Whether the logarithm of p(x) is wanted."""
    confidence: bool = False
    """Whether it is wanted how sure the model is of a class."""
    log_stretch: float = 0.0
    """How much higher the steps make the logarithm of a density."""

    @property
    def has_gaps(self) -> bool:
        """Whether a cell is empty, so that a model may have no answer."""
        return bool(np.isnan(self.table.numbers).any() or (self.table.codes == MISSING_CODE).any())

    def refuse_probabilities(self, why: str) -> None:
        """Refuse to tell how probable the answers are, where that was wanted."""
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
    """What a saved model says of new rows, by the function that the table of kinds names."""
    target = {} if saved.target is None else {"target": saved.target}
    model = final_for(saved.pipeline, np.arange(len(rows)))
    beside = rows.texts({**saved.by_role, **target})
    if evidence and saved.kind not in WITH_DENSITY:
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


def label_columns(model: Any, request: PredictionRequest) -> Columns:
    """The class of each row, and how probable each class is where that is wanted."""
    shares = model.predict_proba(request.table)
    if request.has_gaps:
        refuse_unanswerable(~np.isfinite(shares))
    refuse_no_probabilities(model, shares, (len(request.table), len(model.classes_)))
    columns = {PREDICTION: [model.classes_[code] for code in model.decide(shares)]}
    columns |= _share_columns(shares, model.classes_) if request.probabilities else {}
    columns |= _confidence_columns(shares) if request.confidence else {}
    if request.evidence:
        known = isinstance(model, GivesEvidence)
        columns |= _evidence_column(model.log_evidence(request.table) if known else None, request)
    return columns


def _evidence_column(log_evidence: Array | None, request: PredictionRequest) -> Columns:
    """How probable the row itself is; a row that is impossible has -inf."""
    if log_evidence is None:
        what = "the model does not say how probable rows are"
        raise DataError(
            what, hint=f"leave out --log-density; methods that do: {', '.join(methods_with(GivesEvidence))}"
        )
    if np.isnan(log_evidence).any():
        row = int(np.isnan(log_evidence).argmax()) + 1
        what = f"row {row}: how probable it is cannot be said of what is not known"
        raise DataError(what, hint="fill its target with a level of training, or leave out --log-density")
    return {EVIDENCE: [repr(float(value)) for value in log_evidence + request.log_stretch]}


def _confidence_columns(shares: Array) -> Columns:
    """The probability of the likeliest class, by how much it is ahead of the next, and the entropy in bits."""
    ranked = np.sort(shares, axis=1)[:, ::-1]
    ahead = ranked[:, 0] - (ranked[:, 1] if shares.shape[1] > 1 else 0.0)
    message = {"confidence": ranked[:, 0], "margin": ahead, "entropy": entropy(shares) / np.log(2)}
    return {name: _numbers_as_text(values) for name, values in message.items()}


def _share_columns(shares: Array, classes: Sequence[str]) -> Columns:
    return {f"p({label})": _numbers_as_text(shares[:, index]) for index, label in enumerate(classes)}


def value_columns(model: Any, request: PredictionRequest) -> Columns:
    """A number for each row."""
    request.refuse_probabilities("the model predicts numbers, which have no probabilities")
    values = model.predict_values(request.table)
    refuse_impossible(model, values, (len(request.table),))
    return {PREDICTION: _numbers_as_text(values)}


def rating_columns(model: Any, request: PredictionRequest) -> Columns:
    """The user, the item and the rating of each row; without items, what each user is recommended, best first."""
    user, item = request.table.columns
    if item.name not in request.absent_features:
        pair = {column.name: list(request.beside[role]) for role, column in (("user", user), ("item", item))}
        return pair | value_columns(model, request)
    request.refuse_probabilities("lists have no probabilities")
    names = np.array([*item.levels, ""])  # the code of nothing is -1
    lists = enumerate(names[model.top_items(request.table)].T.tolist(), 1)
    return {user.name: list(request.beside["user"])} | {
        f"{item.name} {location}": items for location, items in lists
    }


def cluster_columns(model: Any, request: PredictionRequest) -> Columns:
    """The cluster of each row."""
    names = model.cluster_names()
    columns = {"cluster": [names[cluster] for cluster in model.cluster_of(request.table)]}
    return columns | _cluster_shares(model, request, "clusters have no probabilities")


def _cluster_shares(model: Any, request: PredictionRequest, why: str) -> Columns:
    """How probable each cluster is, where the model says so; without it they may not be wanted."""
    shares = model.responsibilities(request.table)
    if shares is None:
        request.refuse_probabilities(why)
        return {}
    return _share_columns(shares, model.cluster_names())


def density_columns(model: Any, request: PredictionRequest) -> Columns:
    """The logarithm of the density at each row."""
    columns = {"log_density": _numbers_as_text(model.log_density_in_file(request.table))}
    return columns | _cluster_shares(model, request, "a density is no probability")


def component_columns(model: Any, request: PredictionRequest) -> Columns:
    """Each row in the new columns."""
    request.refuse_probabilities("components have no probabilities")
    components = model.project(request.table)
    refuse_unanswerable(~np.isfinite(components))
    names = component_names(components.shape[1])
    return {name: _numbers_as_text(column) for name, column in zip(names, components.T, strict=True)}


def tag_columns(model: Any, request: PredictionRequest) -> Columns:
    """A tag per row, in the order of the file, and how probable each tag is there where that is wanted."""
    _refuse_without_sequence(request.beside["sequence"])
    sequence = numbered_by_appearance(request.beside["sequence"])
    rows = in_order(sequence, _order_numbers(request.beside["order"]) if "order" in request.beside else None)
    ordered, place = request.table.take(rows), np.argsort(rows)
    tags = model.tag(ordered, sequence[rows])[place]
    columns = {PREDICTION: [model.classes_[tag] for tag in tags]}
    if request.probabilities:
        columns |= _share_columns(model.tag_shares(ordered, sequence[rows])[place], model.classes_)
    if not request.evidence:
        return columns
    code_of = {label: code for code, label in enumerate(model.classes_)}
    known = [code_of.get(label, MISSING_CODE) for label in request.beside.get("target", [""] * len(rows))]
    evidence = model.log_evidence_of(ordered, sequence[rows], np.array(known, np.int32)[rows])
    return columns | _evidence_column(None if evidence is None else evidence[place], request)


def _refuse_without_sequence(cells: Sequence[str]) -> None:
    nowhere = [row + 1 for row, cell in enumerate(cells) if not cell.strip()]
    if nowhere:
        what = f"row {nowhere[0]}: the sequence is missing (in {len(nowhere)} rows)"
        raise DataError(what, hint="every row needs the sequence that it belongs to")


def _order_numbers(cells: Sequence[str]) -> Array:
    indices = as_numbers(cells)
    if indices is None or np.isnan(indices).any():
        raise DataError("the order of rows in their sequences is not in numbers", hint="correct or fill its cells")
    return indices


def score_columns(model: Any, request: PredictionRequest) -> Columns:
    """How odd each row is, whether it is flagged, and the columns that make it so."""
    request.refuse_probabilities("scores of oddness are no probabilities")
    places = {role: request.beside.get(role) for role in ("sequence", "order")}
    sequence = None if places["sequence"] is None else numbered_by_appearance(places["sequence"])
    order = None if places["order"] is None else order_of_texts(places["order"])
    asked = ScoredRows.of(model, request.table, lambda: sequence_windows(len(request.table), sequence, order))
    columns = {"score": _numbers_as_text(asked.score)}
    return columns if model.threshold_ is None else columns | _flag_columns(asked, model.threshold_)


def _flag_columns(asked: ScoredRows, threshold: float) -> Columns:
    flagged = asked.score >= threshold
    names, reasons, shares = asked.top_reasons(int(flagged.sum()))
    named = (main_reasons(names, *of_row) for of_row in zip(reasons, shares, strict=True))
    because = [", ".join(_reason_text(*one) for one in of_row) for of_row in named]
    return {"flagged": ["yes" if is_flagged else "no" for is_flagged in flagged], "because": because}


def _reason_text(column: str, share: float) -> str:
    return f"{column} {'higher' if share > 0 else 'lower'} ({100 * abs(share):.0f} %)"


def place_columns(model: Any, request: PredictionRequest) -> Columns:
    """The score of each row, and its place in its group; rows that tie share the better place."""
    request.refuse_probabilities("an order has no probabilities")
    scores = model.score_rows(request.table)
    columns = {"score": _numbers_as_text(scores)}
    return columns | {
        "rank": [str(place) for place in places(scores, numbered_by_appearance(request.beside["group"]))]
    }


def rule_columns(model: Any, request: PredictionRequest) -> Columns:
    """By the surest rule that applies and expects something that the row has not got: what, why, how sure."""
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


def _numbers_as_text(answers: Array) -> list[str]:
    refuse_unanswerable(~np.isfinite(answers))
    return [repr(float(answer)) for answer in answers]


MOST_DECIMALS = 12
"""Numbers whose training values have more decimals are written with every digit."""


def sample_columns(saved: SavedModel, n: int, seed: int) -> Columns:
    """So many drawn rows, or sequences; the columns of the file in their order."""
    with one_blas_thread():
        table = sample_rows(saved.pipeline, n, rng_for("sample", saved.content, saved.pipeline.name, seed))
    matches = dict(_text_columns(saved, table))
    index_of = {name: index for index, name in enumerate(saved.order)}
    return dict(sorted(matches.items(), key=lambda part: index_of.get(part[0], len(index_of))))


def _text_columns(saved: SavedModel, table: Table) -> Iterator[tuple[str, list[str]]]:
    for column, cells in table.parts():
        beside = saved.beside.get(column.name)
        name = column.name if beside is None else beside.name
        yield name, _cells_as_text(column, cells, _decimals_of_column(saved.usual, column))
        if column.name == "sequence" and "order" in saved.beside:
            _, sizes = lengths(np.asarray(cells, np.int32))
            yield saved.beside["order"].name, [str(index + 1) for size in sizes for index in range(size)]


def _cells_as_text(column: Column, cells: NDArray[Any], decimals: int) -> list[str]:
    if column.coded:
        names = [*column.levels, ""]  # the code of an empty cell is -1
        return [names[code] for code in cells]
    write = repr if decimals > MOST_DECIMALS else f"{{:.{decimals}f}}".format
    return ["" if np.isnan(number) else write(float(number) + 0.0) for number in cells]


def _decimals_of_column(usual: Table, column: Column) -> int:
    """How many decimals the usual values of a column have; 0 for one that training rows did not have."""
    if column.coded or column not in usual.columns:
        return 0
    known: Array = np.asarray(usual.cells(column.name), np.float64)
    texts = (np.format_float_positional(value, trim="-") for value in known[~np.isnan(known)])
    return max((len(text.partition(".")[2]) for text in texts), default=0)
