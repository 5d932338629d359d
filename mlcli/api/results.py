"""Results of experiments: as documents, plain values and data frames; they show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.files import replacing
from mlcli.core.registry import MODELS
from mlcli.core.serialise import plain
from mlcli.experiment.results import each
from mlcli.experiment.spec.labels import settings_of
from mlcli.metrics.pooling import joined
from mlcli.report.document import Document
from mlcli.report.formats._registry import CSV, JSON, known_format, renderer_of
from mlcli.report.page import Page
from mlcli.report.views.plan import protocol_words, steps_of
from mlcli.report.views.results import Details, gates_as_elements, results_of
from mlcli.report.views.score_rows import scores_as_table
from mlcli.scoring.gates import ExperimentOutcome, Gate
from mlcli.scoring.model_results import ModelResult, judged_answers

if TYPE_CHECKING:
    import pandas as pd

    from mlcli.report.views.full_report import Provenance
    from mlcli.scoring.records import ExperimentRecord

WIDTH = 100
"""Columns of a report that is printed."""
TEXTS = ("dataset", "kind", "model", "parameters", "steps", "protocol", "status", "why")
"""The columns of the data frame that are no numbers."""
RUN = "run"
CODED = ("truth", "predicted")
"""Answers that are codes where there are classes."""
SUFFIXES = {".html": "html", ".md": "markdown", ".tex": "latex", ".txt": "text", ".json": JSON}
"""By suffix, the format of a report that is saved."""


class Report:
    """A document that shows itself: as text where it is printed, as HTML in a notebook."""

    @property
    def document(self) -> Document:
        """What is shown, before anyone decides how."""
        raise TypeError(f"{type(self).__name__} does not say what it shows")

    @property
    def record(self) -> object:
        """The same as ``--json`` prints it: a dataclass."""
        raise TypeError(f"{type(self).__name__} has no record")

    @property
    def rows(self) -> Document:
        """What ``--format csv`` prints: the document, or one table in its place."""
        return self.document

    def to(self, format: str) -> str:
        """The result in a format of ``--format``, such as markdown or json."""
        if known_format(format) == JSON:
            import json

            return json.dumps(plain(self.record), indent=2, ensure_ascii=False)
        return renderer_of(format)(self.rows if format == CSV else self.document, Page())

    def write(self, path: str | Path) -> None:
        """Write the report; the suffix says how: html, md, tex, txt or json."""
        path = Path(path)
        if path.suffix not in SUFFIXES:
            raise UsageError(f"no report ends in '{path.suffix}'", hint=f"one of {', '.join(SUFFIXES)}")
        text = self.to(SUFFIXES[path.suffix])
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return renderer_of("text")(self.document, Page(WIDTH))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        """For a notebook, which shows the text where there is no jinja2."""
        from mlcli.report.formats.html import fragment_of

        return None if find_spec("jinja2") is None else fragment_of(self.document, Page())


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
        made = [*self.provenance, *[unknown] * (len(self.outcomes) - len(self.provenance))]
        return tuple(
            element
            for outcome, by in zip(self.outcomes, made, strict=True)
            for element in (
                *report_of(outcome.cells, by, self.details.similarity),
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
        """What a model said of every judged row, with the truth beside it; row numbers count from 0."""
        fitting = [one for one in self.scored if model in (one.cell.label, one.cell.model.use)]
        fitting = [one for one in fitting if dataset in (None, one.cell.dataset.name)]
        if len(fitting) != 1:
            known = ", ".join(f"{one.cell.dataset.name}: {one.cell.label}" for one in self.scored)
            many = f"{len(fitting)} cells are of the model '{model}'"
            what = many if fitting else f"there is no model '{model}'"
            raise UsageError(what, hint=f"name one of these: {known}")
        return answers_of(fitting[0])

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
    numbers = [name for name in frame.columns if name not in TEXTS]
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    return frame


def answers_of(model_result: ModelResult) -> pd.DataFrame:
    """The answers of all splits, in the order of the splits."""
    import pandas as pd

    splits = judged_answers(model_result.cell_result)
    if not splits:
        return pd.DataFrame({"row": [], "split": []})
    answers, lengths = joined(splits), [len(split) for split in splits]
    classes = tuple(getattr(answers, "classes", ()))
    columns: dict[str, Any] = {"row": answers.rows, "split": np.repeat(np.arange(len(splits)), lengths)}
    for name, cells in answers.arrays().items():
        if "." in name or len(cells) != len(answers):
            continue
        if name == "probabilities":
            columns |= {f"p({label})": cells[:, index] for index, label in enumerate(classes)}
        elif cells.ndim == 1:
            columns[name] = np.array([*classes, None], dtype=object)[cells] if name in CODED and classes else cells
    return pd.DataFrame(columns)


def results(store: str | Path = Path(".mlcli") / "runs.db", run: int | None = None) -> pd.DataFrame:
    """The cells of every finished run in a store, or of one: a row each, with the number of its run."""
    import pandas as pd

    from mlcli.experiment.store.store import Store
    from mlcli.scoring.model_results import score_result

    with Store.read(Path(store)) as opened:
        numbers = opened.runs.finished() if run is None else [run]
        runs = [opened.runs.one(number) for number in numbers]
    tables = []
    for about, cells in runs:
        table = table_of([score_result(result, about.metrics) for result in cells])
        for index, known in enumerate(("id", "title", "started")):
            table.insert(index, RUN if known == "id" else known, getattr(about, known))
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
