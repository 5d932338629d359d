"""The metrics of an experiment: each must be able to judge some dataset of it, and each dataset needs one."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.experiment.spec.cells import Experiment
from mlcli.experiment.spec.datasets import Ground
from mlcli.experiment.spec.faults import Faults
from mlcli.metrics.registry import metric_named
from mlcli.tasks.table import KINDS

Judged = tuple[type[Answers], Sequence[str]]
"""A kind of answers, with the classes that may be named; none are checked where there are none."""


def check_metrics(experiment: Experiment, grounds: Sequence[Ground], faults: Faults) -> None:
    """Keep a fault for each metric that fits no dataset, and for each dataset that no metric fits."""
    judged = [_judged(ground) for ground in grounds] or [(kind.answers, ()) for kind in KINDS]
    known = True
    for name in experiment.metrics:
        refusals = [refusal for one in judged if (refusal := _refusal(name, one)) is not None]
        if len(refusals) == len(judged):
            known = False
            with faults.kept(experiment.metrics_where.get(name, "")):
                raise _most_helpful(refusals)
    for ground in grounds if known and experiment.metrics else ():
        with faults.kept(ground.spec.where):
            _refuse_unjudged(ground, experiment.metrics)


def _judged(ground: Ground) -> Judged:
    target = ground.dataset.schema.the("target")
    return ground.kind.answers, target.levels if target else ()


def _refusal(name: str, judged: Judged) -> UsageError | None:
    try:
        metric_named(name, *judged)
    except UsageError as error:
        return error
    return None


def _most_helpful(refusals: Sequence[UsageError]) -> UsageError:
    """One that knows a similar name, if there is one."""
    return next((one for one in refusals if one.problems[0].hint.startswith("did you mean")), refusals[0])


def _refuse_unjudged(ground: Ground, metrics: Sequence[str]) -> None:
    if all(_refusal(name, _judged(ground)) for name in metrics):
        what = f"no metric of this experiment can judge {ground.name}, which is {ground.kind.name}"
        raise UsageError(what, hint=f"add one of {', '.join(ground.kind.metrics)}")
