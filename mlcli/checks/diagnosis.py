"""What is wrong with a model on a dataset: by every check of it, and by those of the data that concern scores."""

from __future__ import annotations

from mlcli.checks.audit import audited, issues_in
from mlcli.checks.audited import Audited
from mlcli.checks.data import splits
from mlcli.checks.table import AT_A_GLANCE, OF_MODELS
from mlcli.checks.trial import Trial
from mlcli.core.issues import Check, Issue, by_gravity, found_by
from mlcli.core.threads import one_blas_thread

OF_ITS_DATA: tuple[Check[Audited], ...] = (*AT_A_GLANCE, splits.splitting, splits.rare_classes, splits.imbalance)


def issues_of_trial(trial: Trial) -> list[Issue]:
    """Everything that is found, the gravest first."""
    with one_blas_thread():
        cell = trial.cell
        of_data = issues_in(audited(trial.dataset, cell.protocol, cell.seed), OF_ITS_DATA)
        return by_gravity([*found_by(OF_MODELS, trial), *of_data])
