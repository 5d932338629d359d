"""A diagnosis: what is wrong with a model on a dataset, with its scores, as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mlcli.checks.context import AuditContext, context_as_planned, context_of
from mlcli.checks.data import AT_A_GLANCE, issues_by, splits
from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.models import columns, fitting, scores, tuning
from mlcli.checks.models.fitting import fit_scores
from mlcli.core.findings import Check, Issue, by_gravity, found_by, is_serious
from mlcli.core.processes import one_blas_thread
from mlcli.core.serialise import shown
from mlcli.report.document import Document, Element, Sentence, grid, lined_up
from mlcli.report.views.curves import curve_elements
from mlcli.report.views.issues import issues_of, summary_of
from mlcli.report.views.plan import opening
from mlcli.scoring.curves import CurveRecord, curve_record
from mlcli.scoring.records import CellRecord, cell_record

OF_ITS_DATA: tuple[Check[AuditContext], ...] = (
    *AT_A_GLANCE,
    splits.splitting,
    splits.rare_classes,
    splits.imbalance,
)
OF_MODELS: tuple[Check[Diagnosed], ...] = (
    scores.no_better_than_baseline,
    fitting.overfitting,
    fitting.underfitting,
    scores.worse_than_rival,
    tuning.tuned_to_the_edge,
    fitting.more_rows_help,
    scores.unstable_splits,
    scores.slower_than_rival,
    scores.one_column_is_enough,
    columns.unscaled_coefficients,
    columns.misleading_importances,
    columns.correlated_columns,
    columns.useless_columns,
    tuning.no_effect,
    tuning.nothing_tuned,
)
"""All checks of a model, in the order in which issues of the same gravity are listed."""


def issues_of_model(diagnosed: Diagnosed) -> list[Issue]:
    """All issues of a model and of its data, the gravest first."""
    with one_blas_thread():
        cell = diagnosed.cell
        context = (
            context_of(diagnosed.dataset, cell.protocol, cell.seed)
            if cell.planned is None
            else context_as_planned(cell.planned, cell.protocol, cell.seed)
        )
        of_data = issues_by(OF_ITS_DATA, context)
        return by_gravity([*found_by(OF_MODELS, diagnosed), *of_data])


def diagnosis_of(diagnosed: Diagnosed, issues: Sequence[Issue], everything: bool, verbose: bool) -> Document:
    """The data, the scores and the issues, with advice if ``everything``; ``verbose`` adds tables and curves."""
    shown = issues if verbose else [replace(issue, shown=()) for issue in issues]
    curve = diagnosed.learning_curve if verbose else None
    return (
        *opening([diagnosed.cell]),
        *_scores_grid(diagnosed),
        Sentence(f"{diagnosed.cell.label}: {summary_of(issues, everything)}", "strong"),
        *issues_of(shown, everything),
        *(curve_elements(curve) if curve is not None else ()),
    )


@dataclass(frozen=True)
class FitScores:
    """The score of training rows beside that of test rows."""

    training: float
    test: float
    gap: float


@dataclass(frozen=True)
class DiagnosisRecord:
    """What ``--json`` writes of a diagnosis."""

    cell: CellRecord = field(metadata=shown(merged=True))
    metric: str
    scores: FitScores | None
    learning_curve: CurveRecord | None = field(metadata=shown(optional=True))
    serious: bool
    issues: tuple[Issue, ...]


def diagnosis_record(diagnosed: Diagnosed, issues: Sequence[Issue]) -> DiagnosisRecord:
    """A model with its scores and issues."""
    fit, curve = fit_scores(diagnosed), diagnosed.learning_curve
    return DiagnosisRecord(
        cell_record(diagnosed.cell),
        diagnosed.metric.name,
        None if fit is None else FitScores(fit.training, fit.test, fit.gap),
        None if curve is None else curve_record(curve),
        any(map(is_serious, issues)),
        tuple(issues),
    )


def _scores_grid(diagnosed: Diagnosed) -> Iterator[Element]:
    """The scores of the model, its baseline and its rival."""
    models = (diagnosed.baseline, diagnosed.model, diagnosed.rival)
    results = [model for model in models if model is not None and model.done]
    name = diagnosed.metric.name
    columns = {name: [result.summaries[name].mean for result in results]}
    training = [result.training.get(name) for result in results]
    if any(value is not None for value in training):
        columns["training"] = training
    cells = ([text or "undefined" for text in lined_up(values)] for values in columns.values())
    rows = zip((result.cell.label for result in results), *cells, strict=True)
    yield grid(["model", *columns], rows, right=(1, 2))
