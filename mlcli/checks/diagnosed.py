"""A diagnosis as a document and as JSON: the scores of the model, then each issue with its evidence and repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from mlcli.checks.models.fitting import fit_of, learning_curve_of
from mlcli.checks.trial import Trial
from mlcli.core.issues import Issue, is_serious, issue_as_json
from mlcli.report.as_json import cell_as_json, plain
from mlcli.report.curves import curve_as_json, curve_elements
from mlcli.report.document import Document, Element, Sentence, grid
from mlcli.report.issues import issues_of, summary_of
from mlcli.report.numbers import lined_up
from mlcli.report.results import opening


def diagnosis_of(trial: Trial, issues: Sequence[Issue], everything: bool, verbose: bool) -> Document:
    """What the data are, the scores, what was found, with advice if asked for; ``verbose`` adds tables, curves."""
    shown = issues if verbose else [replace(issue, shown=()) for issue in issues]
    curve = learning_curve_of(trial) if verbose else None
    return (
        *opening([trial.cell]),
        *_scores(trial),
        Sentence(f"{trial.cell.label}: {summary_of(issues, everything)}", "strong"),
        *issues_of(shown, everything),
        *(curve_elements(curve) if curve is not None else ()),
    )


def diagnosis_as_json(trial: Trial, issues: Sequence[Issue]) -> dict[str, Any]:
    """The same as plain values."""
    fit, curve = fit_of(trial), learning_curve_of(trial)
    scores = {} if fit is None else {"training": fit.training, "judged": fit.judged, "gap": fit.gap}
    return {
        **cell_as_json(trial.cell),
        "metric": trial.metric.name,
        "scores": plain(scores),
        **({} if curve is None else {"learning_curve": curve_as_json(curve)}),
        "serious": any(map(is_serious, issues)),
        "issues": [plain(issue_as_json(issue)) for issue in issues],
    }


def _scores(trial: Trial) -> Iterator[Element]:
    """The model beside what it is compared with."""
    beside = [one for one in (trial.baseline, trial.model, trial.rival) if one is not None and one.done]
    name = trial.metric.name
    judged = [one.summaries[name].mean for one in beside]
    columns = {name: judged, "training": [one.training.get(name) for one in beside]}
    known = {
        head: of_all for head, of_all in columns.items() if head == name or any(one is not None for one in of_all)
    }
    cells = ([text or "undefined" for text in lined_up(of_all)] for of_all in known.values())
    rows = zip((one.cell.label for one in beside), *cells, strict=True)
    yield grid(["model", *known], rows, right=(1, 2))
