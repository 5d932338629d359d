"""What experiments came to, for Python: a table of scores as a data frame, and reports that show themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlcli.core.errors import UsageError
from mlcli.experiment.run.split_results import each
from mlcli.report.as_json import cell_as_json, results_as_json
from mlcli.report.document import Document
from mlcli.report.formats import JSON, known_format, renderer_of
from mlcli.report.gates import Gate, gates_as_elements
from mlcli.report.outcome import Outcome
from mlcli.report.page import Page
from mlcli.report.results import results_of
from mlcli.report.scored import Scored

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Columns of a report that is printed."""
SHOWN = ("dataset", "kind", "label", "model", "params", "protocol", "seed", "rows")
"""What a row of the data frame says of a cell beside its status and its scores."""


class Report:
    """A document that shows itself: as text where it is printed, as HTML in a notebook."""

    @property
    def document(self) -> Document:
        """What is shown, before anyone decides how."""
        raise TypeError(f"{type(self).__name__} does not say what it shows")

    def to(self, format: str) -> str:
        """The report in a format of ``--format``, such as markdown."""
        return renderer_of(known_format(format))(self.document, Page())

    def __str__(self) -> str:
        return renderer_of("text")(self.document, Page(WIDTH))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from mlcli.report.fragment import fragment_of

        return fragment_of(self.document, Page())


@dataclass(frozen=True, eq=False, repr=False)
class Results(Report):
    """What an experiment came to."""

    outcomes: tuple[Outcome, ...]

    @property
    def document(self) -> Document:
        """Per dataset the table, what to know of it, the matrices, the verdict; then what was expected."""
        return (*results_of(self.scored), *gates_as_elements(self.gates))

    @property
    def scored(self) -> list[Scored]:
        """Every cell with its scores, in order."""
        return [one for outcome in self.outcomes for one in outcome.found]

    @property
    def gates(self) -> list[Gate]:
        """What was expected of models, and whether it held."""
        return [gate for outcome in self.outcomes for gate in outcome.gates]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each cell: what was run, how it ended, and each metric with the ends of its interval."""
        return table_of(self.scored)

    def answers(self, model: str, dataset: str | None = None) -> pd.DataFrame:
        """What a model said of every judged row, with the truth beside it; row numbers count from 0."""
        from mlcli.api.answers import frame_of

        fitting = [one for one in self.scored if model in (one.result.cell.label, one.result.cell.model.use)]
        fitting = [one for one in fitting if dataset in (None, one.result.cell.dataset.name)]
        if len(fitting) != 1:
            known = ", ".join(f"{one.result.cell.dataset.name}: {one.result.cell.label}" for one in self.scored)
            what = (
                f"{len(fitting)} cells are of the model '{model}'" if fitting else f"there is no model '{model}'"
            )
            raise UsageError(what, hint=f"name one of these: {known}")
        return frame_of(fitting[0])

    def to(self, format: str) -> str:
        """The report in a format of ``--format``, such as markdown."""
        if known_format(format) != JSON:
            return super().to(format)
        import json

        return json.dumps(results_as_json(self.scored), indent=2, ensure_ascii=False)


def table_of(found: Sequence[Scored]) -> pd.DataFrame:
    """The data frame of some cells."""
    import pandas as pd

    return pd.DataFrame([_row(one) for one in found])


def results(store: str | Path = Path(".mlcli") / "runs.db", run: int | None = None) -> pd.DataFrame:
    """The cells of every finished run in a store, or of one: a row each, with the number of its run."""
    import pandas as pd

    from mlcli.experiment.store.store import Store
    from mlcli.report.scored import scored

    with Store.read(Path(store)) as opened:
        numbers = [one.id for one in opened.runs.all() if one.finished] if run is None else [run]
        runs = [opened.runs.one(number) for number in numbers]
    rows = [
        {"run": about.id, "title": about.title, "started": about.started, **_row(scored(result, about.metrics))}
        for about, cells in runs
        for result in cells
    ]
    return pd.DataFrame(rows)


def _row(one: Scored) -> dict[str, Any]:
    result, described = one.result, cell_as_json(one.result.cell)
    return {
        **{name: described[name] for name in SHOWN},
        "status": result.status,
        "why": result.why or result.cell.skipped,
        "splits": len(result.splits),
        **{name: value for metric, summary in one.summaries.items() for name, value in _ends(metric, summary)},
        "fit_seconds": sum(each(result.splits, "fit_seconds")),
        "predict_seconds": sum(each(result.splits, "predict_seconds")),
    }


def _ends(metric: str, summary: Any) -> list[tuple[str, float | None]]:
    return [(metric, summary.mean), (f"{metric}_low", summary.low), (f"{metric}_high", summary.high)]
