"""What is wrong with a model on a dataset: by every check of it, and by those of the data that concern scores."""

from __future__ import annotations

from mlcli.checks.audit import audited, issues_in
from mlcli.checks.audited import Audited
from mlcli.checks.data import splits
from mlcli.checks.models import columns, fitting, scores, tuning
from mlcli.checks.table import AT_A_GLANCE
from mlcli.checks.trial import Trial
from mlcli.core.issues import Check, Issue, by_gravity, found_by
from mlcli.core.threads import one_blas_thread

OF_ITS_DATA: tuple[Check[Audited], ...] = (*AT_A_GLANCE, splits.splitting, splits.rare_classes, splits.imbalance)
OF_MODELS: tuple[Check[Trial], ...] = (
    scores.no_better_than_baseline,
    fitting.overfitting,
    fitting.underfitting,
    scores.worse_than_rival,
    tuning.tuned_to_the_edge,
    fitting.more_rows_help,
    scores.unsteady_splits,
    scores.slower_than_rival,
    scores.one_column_is_enough,
    columns.unscaled_coefficients,
    columns.misleading_importances,
    columns.correlated_columns,
    columns.useless_columns,
    tuning.nothing_tuned,
)
"""What is looked for in a model that was judged, in the order in which issues of one gravity are listed."""


def issues_of_trial(trial: Trial) -> list[Issue]:
    """Everything that is found, the gravest first."""
    with one_blas_thread():
        cell = trial.cell
        of_data = issues_in(audited(trial.dataset, cell.protocol, cell.seed), OF_ITS_DATA)
        return by_gravity([*found_by(OF_MODELS, trial), *of_data])
