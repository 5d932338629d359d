"""Results of experiments: as documents, plain values and data frames; they show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.api import Report
from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS
from mlcli.experiment.results import each
from mlcli.experiment.spec.cells import settings_of
from mlcli.metrics.base import joined
from mlcli.report.document import Document
from mlcli.report.formats import renderer_of
from mlcli.report.page import Page
from mlcli.report.views.plan import protocol_words, steps_of
from mlcli.report.views.results import Details, gates_as_elements, results_of
from mlcli.report.views.score_table import scores_as_table
from mlcli.scoring.gates import ExperimentOutcome, Gate
from mlcli.scoring.model_results import ModelResult, judged_answers

if TYPE_CHECKING:
    import pandas as pd

    from mlcli.report.views.full_report import Provenance
    from mlcli.scoring.records import ExperimentRecord


@dataclass(frozen=True, eq=False, repr=False)
class Results(Report):
    """The results of experiments."""

    outcomes: tuple[ExperimentOutcome, ...]
    details: Details = Details()
    """What is shown beside the tables of scores."""
    provenance: tuple[Provenance, ...] = ()
    """How each outcome was made, for the full report."""

    @property
    def document(self) -> Document:
        """For each experiment its tables with notes and verdicts, then what was expected and whether it holds."""
        return tuple(
            element
            for outcome in self.outcomes
            for element in (*results_of(outcome.cells, self.details), *gates_as_elements(outcome.gates))
        )

    @property
    def report(self) -> Document:
        """The full report: the document with pictures, and how the results were made."""
        from mlcli.report.views.full_report import Provenance, report_of

        unknown = Provenance("mlcli.eval or mlcli.run in Python")
        provenances = [*self.provenance, *[unknown] * (len(self.outcomes) - len(self.provenance))]
        return tuple(
            element
            for outcome, provenance in zip(self.outcomes, provenances, strict=True)
            for element in (
                *report_of(outcome.cells, provenance, self.details.similarity),
                *gates_as_elements(outcome.gates),
            )
        )

    @property
    def record(self) -> ExperimentRecord:
        """The results as ``--json`` prints them."""
        from mlcli.scoring.records import experiment_record

        details = self.details
        return experiment_record(
            self.scored,
            curves=details.curves,
            fair=details.fair,
            similarity=details.similarity,
            gates=self.gates,
        )

    @property
    def rows(self) -> Document:
        """A table with a row for each model and metric, as ``--format csv`` prints it."""
        return scores_as_table(self.scored)

    @property
    def scored(self) -> list[ModelResult]:
        """Every model result, in order."""
        return [result for outcome in self.outcomes for result in outcome.cells]

    @property
    def gates(self) -> list[Gate]:
        """What was expected of models, and whether it holds."""
        return [gate for outcome in self.outcomes for gate in outcome.gates]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each cell: what was run, how it ended, and each metric with the ends of its interval."""
        return table_of(self.scored)

    def answers(self, model: str, dataset: str | None = None) -> pd.DataFrame:
        """The predictions of a model for every test row, beside the true values; row numbers count from 0."""
        matches = [
            result
            for result in self.scored
            if model in (result.cell.label, result.cell.model.use) and dataset in (None, result.cell.dataset.name)
        ]
        if len(matches) != 1:
            names = ", ".join(f"{result.cell.dataset.name}: {result.cell.label}" for result in self.scored)
            several = f"{len(matches)} cells are of the model '{model}'"
            what = several if matches else f"there is no model '{model}'"
            raise UsageError(what, hint=f"name one of these: {names}")
        return answers_of(matches[0])

    def to(self, format: str) -> str:
        """The results in a format of ``--format``; as HTML the full report."""
        return renderer_of(format)(self.report, Page()) if format == "html" else super().to(format)


def table_of(results: Sequence[ModelResult]) -> pd.DataFrame:
    """The data frame of some models, a row for each with all its metrics."""
    import pandas as pd

    metrics = list(dict.fromkeys(metric.name for result in results for metric in result.metrics))
    rows: list[dict[str, str | float | None]] = []
    for result in results:
        cell, splits = result.cell, result.splits
        row: dict[str, str | float | None] = {
            "dataset": cell.dataset.name,
            "kind": cell.kind,
            "model": cell.label,
            "parameters": "" if cell.model.saved else settings_of(cell.model, MODELS),
            "steps": steps_of(cell),
            "protocol": protocol_words(cell),
            "seed": cell.seed,
            "rows": cell.labelled_rows,
            "splits": len(splits),
            "status": result.status,
            "why": "; ".join(result.why.splitlines()),
        }
        for name in metrics:
            summary = result.summaries.get(name)
            row[name] = None if summary is None else summary.mean
            row[f"{name}-low"] = None if summary is None else summary.low
            row[f"{name}-high"] = None if summary is None else summary.high
        row["fit-seconds"] = sum(each(splits, "fit_seconds"))
        row["predict-seconds"] = sum(each(splits, "predict_seconds"))
        rows.append(row)
    frame = pd.DataFrame(rows)
    texts = ("dataset", "kind", "model", "parameters", "steps", "protocol", "status", "why")
    numbers = [name for name in frame.columns if name not in texts]
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    return frame


def answers_of(model_result: ModelResult) -> pd.DataFrame:
    """The predictions for the test rows of all splits, in the order of the splits."""
    import pandas as pd

    splits = judged_answers(model_result.cell_result)
    if not splits:
        return pd.DataFrame({"row": [], "split": []})
    answers, lengths = joined(splits), [len(split) for split in splits]
    classes = tuple(getattr(answers, "classes", ()))
    columns: dict[str, np.ndarray[Any, Any]] = {
        "row": answers.rows,
        "split": np.repeat(np.arange(len(splits)), lengths),
    }
    for name, cells in answers.arrays().items():
        if "." in name or len(cells) != len(answers):
            continue
        if name == "probabilities":
            columns |= {f"p({label})": cells[:, index] for index, label in enumerate(classes)}
        elif cells.ndim == 1:
            is_coded = classes and name in ("truth", "predicted")
            columns[name] = np.array([*classes, None], dtype=object)[cells] if is_coded else cells
    return pd.DataFrame(columns)


def results(store: str | Path = Path(".mlcli") / "runs.db", run: int | None = None) -> pd.DataFrame:
    """The cells of every finished run in a store, or of one: a row each, with the number of its run."""
    import pandas as pd

    from mlcli.experiment.store.store import Store
    from mlcli.scoring.model_results import score_result

    tables = []
    with Store.read(Path(store)) as opened:
        for number in opened.runs.finished() if run is None else [run]:
            facts, cells = opened.runs.one(number)
            table = table_of([score_result(result, facts.metrics) for result in cells])
            for index, column in enumerate(("run", "title", "started")):
                table.insert(index, column, facts.id if column == "run" else getattr(facts, column))
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
