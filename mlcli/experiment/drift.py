"""Whether the rows of one file are like those of another: column by column, and by a model that tells them apart.

Of numbers the Kolmogorov-Smirnov distance D = max |F_A − F_B|, with the asymptotic p; of levels Cramér's V of the
table of levels by file, with the p of χ². Empty cells are a level of their own, and each level that only B has is
one: taken together they would tell any files apart that have many levels. The
PSI is Σ (b − a) ln (b / a) over levels, or over tenths of A. The p of all columns are corrected by Holm. What no
single column shows, a model may see: a random forest learns from which file a row is, and its AUC on rows that it
has not seen is 0.5 where nothing can be told.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.configuration import missing_steps
from mlcli.core.errors import DataError, captured_warnings
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.processes import one_blas_thread
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array, Codes, Table
from mlcli.data.dataset import Dataset
from mlcli.data.new_rows import new_rows
from mlcli.data.sidecar import stem_of
from mlcli.engines.ensemble import outputs
from mlcli.engines.inner_validation import inner_folds, parts_of_folds
from mlcli.metrics.difference import holm_corrected
from mlcli.metrics.intervals import Interval
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.prepare.chi_square import chi_square
from mlcli.tasks.supervised import CLASSIFICATION, LabelAnswers, LabelledRows

MOST_ROWS = 5_000
"""Of longer files the model sees a random sample of this size."""
FILES = ("A", "B")


@dataclass(frozen=True)
class ColumnDrift:
    """How one column lies in both files."""

    name: str
    kind: str
    test: str
    distance: float
    """D of numbers, Cramér's V of levels: 0 where both files are alike, 1 where they share nothing."""
    p: float
    corrected: float
    psi: float
    in_a: str
    in_b: str


@dataclass(frozen=True)
class Drift:
    """What is known of how alike two files are."""

    names: tuple[str, str]
    rows: tuple[int, int]
    columns: tuple[ColumnDrift, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    auc: float
    interval: Interval
    seen: int
    """How many rows the model was shown."""

    @property
    def are_separable(self) -> bool:
        """Whether the model tells the files apart better than chance; without an error there is no interval."""
        return self.auc == 1.0 if self.interval.low is None else self.interval.low > 0.5


def drift_between(dataset: Dataset, reference: str) -> Drift:
    """How similar the rows of a dataset are to those of another file."""
    columns = tuple(field.column for field in dataset.schema if field.role not in ("id", "ignore"))
    names = frozenset(column.name for column in columns)
    rows = new_rows(reference, columns, earlier=dataset.sidecar, optional=names, letters=True)
    # The columns of both files, with the levels of both.
    shared = [
        Column(column.name, "nominal" if column.coded else "numeric", column.levels, missing=True)
        for column in rows.table.columns
        if column.name not in rows.absent_features
    ]
    a, b = (
        Table.of(((column, table.cells(column.name)) for column in shared), len(table))
        for table in (dataset.table, rows.table)
    )
    if not len(a) or not len(b):
        raise DataError(f"{rows.records.name} has no rows to compare", hint="two files with rows are needed")
    column_drifts = [_column_drift(column, a.cells(column.name), b.cells(column.name)) for column in a.columns]
    corrected = holm_corrected([drift.p for drift in column_drifts])
    answers, metric = _classified(a, b, dataset.content), metric_named("auc", LabelAnswers, FILES)
    auc = summarise(metric, [answers], [len(answers)])
    own_names = set(dataset.schema.names())
    return Drift(
        names=(dataset.name, stem_of(Path(rows.records.name))),
        rows=(len(a), len(b)),
        columns=tuple(replace(drift, corrected=p) for drift, p in zip(column_drifts, corrected, strict=True)),
        only_a=rows.absent_features,
        only_b=tuple(name for name in rows.records.header if name not in own_names),
        auc=float("nan") if auc.mean is None else auc.mean,
        interval=Interval(auc.low, auc.high, auc.interval),
        seen=len(answers),
    )


def _column_drift(column: Column, a: NDArray[Any], b: NDArray[Any]) -> ColumnDrift:
    """How the cells of one column differ between the files."""
    texts = []
    if column.coded:
        size = len(column.levels) + 1
        counts = np.array([np.bincount(cells.astype(np.intp) + 1, minlength=size) for cells in (a, b)])
        names = ("(empty)", *np.where(counts[0, 1:] > 0, column.levels, "(only in B)"))
        for of_file in counts.tolist():
            rows = Counter[str]()
            for name, count in zip(names, of_file, strict=True):
                rows[name] += count
            frequent = rows.most_common(2)
            texts.append(", ".join(f"{name} {100 * n / rows.total():.1f} %" for name, n in frequent if n))
        distance, p = cramers_v(counts)
        test = "chi-square"
    else:
        distance, p = kolmogorov_smirnov(a[~np.isnan(a)], b[~np.isnan(b)])
        test = "Kolmogorov-Smirnov"
        tenths = np.arange(1, 10) / 10
        edges = np.unique(np.nanquantile(a, tenths)) if (~np.isnan(a)).any() else np.empty(0)
        size = len(edges) + 2  # empty cells are a bin of their own
        bins = (np.where(np.isnan(cells), size - 1, np.searchsorted(edges, cells)) for cells in (a, b))
        counts = np.array([np.bincount(of_file, minlength=size) for of_file in bins])
        for cells in (a, b):
            present = cells[~np.isnan(cells)]
            empty = float(np.isnan(cells).mean())
            gaps = f", {100 * empty:.1f} % empty" if empty else ""
            mean = f"{present.mean():.4g} ±{present.std():.3g}{gaps}" if len(present) else "all empty"
            texts.append(mean)
    return ColumnDrift(column.name, column.kind, test, distance, p, p, psi(counts), texts[0], texts[1])


def kolmogorov_smirnov(a: Array, b: Array) -> tuple[float, float]:
    """The largest distance of two cumulative distributions, and its asymptotic p (Smirnov 1948)."""
    from scipy.special import kolmogorov

    if not len(a) or not len(b):
        return (0.0, 1.0) if len(a) == len(b) else (1.0, 0.0)
    everywhere = np.concatenate([a, b])
    shares = [np.searchsorted(np.sort(side), everywhere, side="right") / len(side) for side in (a, b)]
    d = float(np.abs(shares[0] - shares[1]).max())
    return d, float(kolmogorov(d * np.sqrt(len(a) * len(b) / (len(a) + len(b)))))


def cramers_v(counts: Codes) -> tuple[float, float]:
    """Cramér's V of a table of two rows, and the p of χ² without correction; levels without rows do not count."""
    from scipy.special import chdtrc

    present: Array = counts[:, counts.sum(axis=0) > 0].astype(np.float64)
    if present.shape[1] < 2:
        return 0.0, 1.0
    squared = chi_square(present)
    return float(np.sqrt(squared / present.sum())), float(chdtrc(present.shape[1] - 1, squared))


def psi(counts: Codes) -> float:
    """The population stability index of counts in both files; half a row is added everywhere, so none is 0."""
    raised = counts[:, counts.sum(axis=0) > 0] + 0.5
    a, b = raised / raised.sum(axis=1, keepdims=True)
    return float(((b - a) * np.log(b / a)).sum())


def _classified(a: Table, b: Table, content: str) -> LabelAnswers:
    """The predictions of a random forest for unseen rows: from which file each is."""
    rng = rng_for("likeness", content)
    tables = []
    for table in (a, b):
        is_long = len(table) > MOST_ROWS
        chosen = np.sort(rng.choice(len(table), MOST_ROWS, replace=False)) if is_long else np.arange(len(table))
        tables.append(table.take(chosen))
    y = np.repeat([0, 1], [len(table) for table in tables]).astype(np.int32)
    rows = LabelledRows(
        table=tables[0].joined(tables[1]), rows=np.arange(len(y)), target="file", y=y, classes=FILES
    )
    probabilities = np.zeros((len(rows), 2))
    parts = parts_of_folds(inner_folds(rows, 5, rng))
    with captured_warnings(), one_blas_thread():
        for train, test in parts:
            model = MODELS.load("random-forest")(trees=100)
            steps = tuple(missing_steps(model.accepts, rows.table.columns, None))
            pipeline = Pipeline(steps=steps, model=model)
            learn(pipeline, rows.take(train), rng)
            probabilities[test] = outputs(pipeline, rows.table.take(test), CLASSIFICATION)
    return LabelAnswers(
        header=rows.header(),
        truth=y,
        predicted=probabilities.argmax(axis=1).astype(np.int32),
        classes=FILES,
        probabilities=probabilities,
    )
