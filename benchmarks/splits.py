"""Leave-one-out beside fits of scikit-learn to each split; steps learn anew in each split for both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Made
from benchmarks.timing import for_a_while, markdown, median_ms
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.evaluation import closed_form_results
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import Cell, ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.datasets import cell_on

SIZES = (Made(2_000, 20), Made(20_000, 50))
SAMPLED = 10
"""How many of the splits of leave-one-out are made by the peer; their mean stands for all."""
PATIENCE = 1.0
TURNS = 5
HEADER = ("method", "peer", "protocol", "rows", "ours", "theirs", "ratio", "in how many fits", "how")
PLAIN = "a fit to each split"
LIMITS = """Folds are fitted one by one, so that only leave-one-out of complete tables is measured here."""
LEGEND = f"""Processor time of one thread, the whole of the runner included (splits, steps, answers kept). Of
leave-one-out the peer does {SAMPLED} splits spread over the rows, and their mean stands for all (marked ≈). Where
ours has no shortcut there is no row. The fits in which ours is done are fits of our own to all rows."""

Row = tuple[object, ...]


@dataclass(frozen=True)
class Method:
    """A method and its peer, ``module:class``."""

    name: str
    kind: str
    peer: str
    peer_params: dict[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[StepSpec, ...]:
        """What ours does in each split before it learns."""
        return (StepSpec("standardise"),)

    @property
    def pipeline(self) -> Any:
        """What the peer does in each split."""
        module, _, name = self.peer.partition(":")
        model = getattr(import_module(module), name)(**self.peer_params)
        return make_pipeline(StandardScaler(), model)


METHODS = (
    Method("naive-bayes", "classification", "sklearn.naive_bayes:GaussianNB"),
    Method("lda", "classification", "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"),
    Method("qda", "classification", "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis"),
    Method("linear-regression", "regression", "sklearn.linear_model:LinearRegression"),
    Method("ridge", "regression", "sklearn.linear_model:Ridge"),
    Method("knn", "classification", "sklearn.neighbors:KNeighborsClassifier"),
)


NARROWS_TO = frozenset(method.name for method in METHODS)


def table(only: Collection[str] = ()) -> str:
    """One row for each method, size and protocol."""
    warnings.simplefilter("ignore")
    wanted = [method for method in METHODS if method.name in MODELS and (not only or method.name in only)]
    rows = [row for method in wanted for size in SIZES for row in rows_of(method, size)]
    return f"{LEGEND}\n\n{markdown(HEADER, rows)}"


def rows_of(method: Method, size: Made) -> Iterator[Row]:
    """Leave-one-out, where one computation answers all splits."""
    data, _ = size.halves(method.kind, 0)
    dataset = as_dataset(data)
    one_fit = seconds_of(partial(run, [cell(method, dataset, ProtocolSpec("whole"))], jobs=1))
    asked = cell(method, dataset, ProtocolSpec("leave-one-out"))
    route = route_of(asked)
    if route != PLAIN:
        yield compared(method, size, data, asked, one_fit, route)


def route_of(asked: Cell) -> str:
    """The shortcut that answers all splits, by taking it; that warms up, too."""
    made = prepare(asked)
    found = closed_form_results(made.block(*made.everything)) if made.has_closed_form else None
    return next((result.route for result in found or () if result), PLAIN)


def compared(method: Method, size: Made, data: Any, asked: Cell, one_fit: float, route: str) -> Row:
    """One row of the table."""
    ours = partial(run, [asked], jobs=1)
    theirs, factor, mark = left_out_by_peer(method, data)
    times = for_a_while({"ours": ours, "theirs": theirs}, PATIENCE, TURNS)
    in_all = [factor * seconds for seconds in times["theirs"]]
    ratios = sorted(theirs / mine for theirs, mine in zip(in_all, times["ours"], strict=True))
    return (
        method.name,
        peer_name(method),
        asked.protocol.use,
        size.label,
        median_ms(times["ours"]),
        mark + median_ms(in_all),
        f"**{np.median(ratios):.1f}** ({ratios[0]:.1f} to {ratios[-1]:.1f})",
        f"{np.median(times['ours']) / one_fit:.1f}",
        route,
    )


def cell(method: Method, dataset: Dataset, protocol: ProtocolSpec) -> Cell:
    """One method on one dataset, with its steps."""
    return cell_on(Cell(dataset, method.kind, ModelSpec(method.name), method.steps, protocol, seed=1), dataset)


def as_dataset(data: Any) -> Dataset:
    """Made rows as a dataset with a target."""
    levels = getattr(data, "classes", ())
    target = Column("y", "nominal", levels) if levels else Column("y")
    n = len(data)
    columns = (*data.table.columns, target)
    everything = Table.of([*data.table.parts(), (target, data.y)], n)
    fields = tuple(SchemaField(column, "target" if column is target else "feature") for column in columns)
    return Dataset("made", everything, Schema(fields))


def seconds_of(thing: Callable[[], object]) -> float:
    """The least of three times."""
    times = []
    for _ in range(3):
        started = process_time()
        thing()
        times.append(process_time() - started)
    return min(times)


def peer_name(method: Method) -> str:
    """The class of the peer."""
    return f"scikit-learn {method.peer.partition(':')[2]}"


def left_out_by_peer(method: Method, data: Any) -> tuple[Callable[[], object], float, str]:
    """Some of the splits of leave-one-out, and how many times as many there are."""
    X, y = data.table.numbers, data.y
    places = np.linspace(0, len(y) - 1, SAMPLED).astype(int)
    splits = [(np.delete(np.arange(len(y)), place), [place]) for place in places]

    def some() -> None:
        for train, test in splits:
            method.pipeline.fit(X[train], y[train]).predict(X[test])

    return some, len(y) / SAMPLED, "≈ "
