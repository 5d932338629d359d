"""Scores beside those of others: the baseline, a strong rival, one column alone; and from split to split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.models.tuning import tuning_repairs
from mlcli.checks.repairs import without
from mlcli.core.issues import Issue, Repair
from mlcli.experiment.results import each
from mlcli.metrics.interval_rules import fold_stability
from mlcli.scoring.model_results import ModelResult, judged_answers

SLOWER, SECONDS = 20.0, 1.0
"""So many times as slow as the rival, and so many seconds at least, before speed is spoken of."""
FEWEST_SPLITS, MORE_REPEATS = 5, 5
FAR, LARGE = 4.0, 0.5
"""How many robust standard deviations, and which part of the median, a split lies away that stands apart."""
RANKS, CHANCE = "auc", 0.5
ONE_COLUMN = "one-r"
COMPARABLE = {"accuracy": "classification", "r2": "regression"}
"""The metrics in which one column alone is judged."""


def no_better_than_baseline(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that answers no better than the baseline, or not surely."""
    gain = diagnosed.gain_over(diagnosed.baseline)
    if gain is None or diagnosed.model.is_baseline or diagnosed.cell.model.saved is not None:
        return
    if gain.better > 0 and gain.sure:
        return
    name, metric = diagnosed.baseline.cell.label, diagnosed.metric.name
    how = "is no better than" if gain.better <= 0 else "may be no better than"
    what = f"{diagnosed.cell.label} {how} the baseline {name} by {metric}"
    ranked = diagnosed.model.summaries.get(RANKS)
    if ranked is not None and ranked.low is not None and ranked.low > CHANCE:
        why = f"{gain.evidence}; {RANKS} is {ranked.mean:.3f}, surely above {CHANCE}"
        other = Repair("option", f"--metric {RANKS} --metric balanced-accuracy")
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
    own, other = _seconds_of(diagnosed.model), _seconds_of(rival)
    if own > SECONDS and own > SLOWER * other:
        use = rival.cell.model.use
        yield Issue(
            "advice",
            f"{diagnosed.cell.label} takes {own / other:.0f} x as long as {use}, and is not surely better",
            f"{own:.1f} s beside {other:.2f} s",
            (Repair("option", f"-m {use}"),),
        )


def _seconds_of(model_result: ModelResult) -> float:
    return float(sum(each(model_result.splits, "fit_seconds")) + sum(each(model_result.splits, "predict_seconds")))


def unstable_splits(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Scores that differ more from split to split than chance makes them."""
    answers, splits = judged_answers(diagnosed.model.cell_result), diagnosed.cell.protocol
    scores = diagnosed.scores(diagnosed.model)
    if len(scores) < max(FEWEST_SPLITS, len(answers)) or diagnosed.model.pooled:
        return
    why = ""
    if diagnosed.metric.name == "accuracy":
        stability = fold_stability(scores.tolist(), [len(split) for split in answers])
        why = stability.why if stability.verdict != "consistent" else ""
    else:
        median = float(np.median(scores))
        away = np.abs(scores - median)
        apart = np.flatnonzero(away > np.maximum(FAR * 1.4826 * np.median(away), LARGE * abs(median)))
        if len(apart):
            worst = int(apart[away[apart].argmax()])
            why = f"split {worst + 1} has {scores[worst]:.4g} where the median is {median:.4g}"
    if why:
        yield Issue(
            "advice",
            f"{diagnosed.metric.name} is not steady from split to split",
            why,
            (
                *([Repair("option", f"--repeats {MORE_REPEATS}")] if "repeats" in splits.params else []),
                Repair("file", "look at the rows of that split: another source, a slip of the pen, a rare case"),
            ),
        )


def one_column_is_enough(diagnosed: Diagnosed) -> Iterator[Issue]:
    """One column by which alone rows are told as well as by the whole model."""
    name = next((name for name, kind in COMPARABLE.items() if kind == diagnosed.cell.kind), "")
    summary = diagnosed.model.summaries.get(name)
    target, alone = diagnosed.dataset.schema.the("target"), diagnosed.right_alone
    if summary is None or summary.mean is None or target is None or len(alone) < 2:
        return
    if diagnosed.cell.model.use == ONE_COLUMN:
        return
    best = max(alone, key=alone.__getitem__)
    if alone[best] >= summary.mean:
        yield Issue(
            "advice",
            f"column '{best}' alone is as good as the whole model",
            f"{name} {alone[best]:.4g} by its nearest values, {summary.mean:.4g} by {diagnosed.cell.label}",
            (
                Repair("option", f"-m {ONE_COLUMN}")
                if target.coded
                else without([name for name in alone if name != best]),
                Repair("option", f"mlcli audit {diagnosed.reference}  # is it a leak?"),
            ),
            (best,),
        )
