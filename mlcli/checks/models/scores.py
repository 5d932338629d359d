"""Scores beside those of others: the baseline, a strong rival, one column alone; and from split to split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import without
from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.models.tuning import tuning_repairs
from mlcli.core.findings import Issue, Repair
from mlcli.experiment.results import each
from mlcli.metrics.interval_rules import fold_stability
from mlcli.scoring.model_results import judged_answers


def no_better_than_baseline(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that predicts no better than the baseline, or not significantly."""
    gain = diagnosed.gain_over(diagnosed.baseline)
    if gain is None or diagnosed.model.is_baseline or diagnosed.cell.model.saved is not None:
        return
    if gain.better > 0 and gain.sure:
        return
    name, metric = diagnosed.baseline.cell.label, diagnosed.metric.name
    how = "is no better than" if gain.better <= 0 else "may be no better than"
    what = f"{diagnosed.cell.label} {how} the baseline {name} by {metric}"
    auc = diagnosed.model.summaries.get("auc")
    if auc is not None and auc.low is not None and auc.low > 0.5:
        why = f"{gain.evidence}; auc is {auc.mean:.3f}, surely above 0.5"
        other = Repair("option", "--metric auc --metric balanced-accuracy")
        yield Issue("advice", f"{what}, and knows something all the same", why, (other,))
        return
    panel = Repair("option", f"mlcli eval {diagnosed.reference}  # the panel: does any method find something?")
    more = Repair("file", "add columns that tell something of the target, or more rows")
    yield Issue("grave" if gain.better <= 0 else "warning", what, gain.evidence, (panel, more))


def worse_than_rival(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that a strong and simple method surely beats."""
    rival = diagnosed.rival
    gain = diagnosed.gain_over(rival) if rival else None
    if rival is None or gain is None or gain.better >= 0 or not gain.sure:
        return
    label, use = rival.cell.label, rival.cell.model.use
    yield Issue(
        "warning",
        f"{diagnosed.cell.label} is worse than {label}, which is simple",
        gain.evidence,
        (Repair("option", f"-m {use}"), *tuning_repairs(diagnosed)),
    )


def slower_than_rival(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that takes far longer than a simple method and is not better."""
    rival = diagnosed.rival
    gain = diagnosed.gain_over(rival) if rival else None
    if rival is None or gain is None or (gain.better > 0 and gain.sure):
        return
    own, other = (
        float(sum(each(result.splits, "fit_seconds")) + sum(each(result.splits, "predict_seconds")))
        for result in (diagnosed.model, rival)
    )
    if own > 1.0 and own > 20 * other:
        use = rival.cell.model.use
        yield Issue(
            "advice",
            f"{diagnosed.cell.label} takes {own / other:.0f} x as long as {use}, and is not surely better",
            f"{own:.1f} s beside {other:.2f} s",
            (Repair("option", f"-m {use}"),),
        )


def unstable_splits(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Scores that differ more from split to split than chance makes them."""
    answers, params = judged_answers(diagnosed.model.cell_result), diagnosed.cell.protocol.params
    scores = diagnosed.scores(diagnosed.model)
    if len(scores) < max(5, len(answers)) or diagnosed.model.pooled:
        return
    why = ""
    if diagnosed.metric.name == "accuracy":
        stability = fold_stability(scores.tolist(), [len(split) for split in answers])
        why = stability.why if stability.verdict != "consistent" else ""
    else:
        median = float(np.median(scores))
        away = np.abs(scores - median)
        # apart: 4 robust standard deviations, and half of the median, away
        apart = np.flatnonzero(away > np.maximum(4 * 1.4826 * np.median(away), 0.5 * abs(median)))
        if len(apart):
            worst = int(apart[away[apart].argmax()])
            why = f"split {worst + 1} has {scores[worst]:.4g} where the median is {median:.4g}"
    if why:
        yield Issue(
            "advice",
            f"{diagnosed.metric.name} is not steady from split to split",
            why,
            (
                *([Repair("option", "--repeats 5")] if "repeats" in params else []),
                Repair("file", "look at the rows of that split: another source, a slip of the pen, a rare case"),
            ),
        )


def one_column_is_enough(diagnosed: Diagnosed) -> Iterator[Issue]:
    """One column that alone predicts as well as the whole model."""
    name = {"classification": "accuracy", "regression": "r2"}.get(diagnosed.cell.kind, "")
    summary = diagnosed.model.summaries.get(name)
    target, alone = diagnosed.dataset.schema.the("target"), diagnosed.right_alone
    if summary is None or summary.mean is None or target is None or len(alone) < 2:
        return
    if diagnosed.cell.model.use == "one-r":
        return
    best = max(alone, key=alone.__getitem__)
    if alone[best] >= summary.mean:
        yield Issue(
            "advice",
            f"column '{best}' alone is as good as the whole model",
            f"{name} {alone[best]:.4g} by its nearest values, {summary.mean:.4g} by {diagnosed.cell.label}",
            (
                Repair("option", "-m one-r")
                if target.coded
                else without([name for name in alone if name != best]),
                Repair("option", f"mlcli audit {diagnosed.reference}  # is it a leak?"),
            ),
            (best,),
        )
