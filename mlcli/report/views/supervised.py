"""Predicted numbers against true ones, tags, rankings by the size of their group, and recommendations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Confusions, Curve, Points
from mlcli.core.names import counted
from mlcli.core.tables import Array, Rows
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.confusion import counts_of
from mlcli.metrics.registry import metric_named, weighted_mean
from mlcli.metrics.scores.labels import one_against_rest
from mlcli.metrics.scores.rankings import lists_of, mae, pairs_in_order, rmse
from mlcli.metrics.scores.sequences import sequence_accuracy
from mlcli.report.document import (
    UNIT_DECIMALS,
    Content,
    Element,
    Grid,
    Heading,
    Sentence,
    fixed,
    grid,
    grid_of_numbers,
    notes,
    share,
    short,
    strong,
)
from mlcli.scoring.differences import best_in
from mlcli.scoring.model_results import Group
from mlcli.scoring.plots import boxplots, histogram, pairs
from mlcli.tasks.ranking import RankAnswers, places
from mlcli.tasks.recommendation import RatingAnswers
from mlcli.tasks.sequence_labelling import TagAnswers


def predicted_against_true(group: Group) -> Iterator[Element]:
    """A point for each prediction of the best model; of very many, for some."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    step, note = _thinning(len(answers.truth))
    line = np.linspace(answers.truth.min(), answers.truth.max(), 100)
    points = pairs(answers.truth[::step], answers.predicted[::step])
    yield Heading(f"{name}: predicted against true values")
    perfect = "perfect prediction"
    yield Points("", "true", "predicted", ((perfect, pairs(line, line)), (name, points)), (perfect,), note=note)


def residuals_of(group: Group) -> Iterator[Element]:
    """The residuals of the best model by its predictions, and their distribution."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    residuals = answers.truth - answers.predicted
    step, note = _thinning(len(residuals))
    ends = ((float(answers.predicted.min()), 0.0), (float(answers.predicted.max()), 0.0))
    groups = (("zero residual", ends), (name, pairs(answers.predicted[::step], residuals[::step])))
    yield Heading(f"{name}: residuals by predicted values")
    yield Points("", "predicted", "true minus predicted", groups, ("zero residual",), note=note)
    yield Heading(f"{name}: distribution of residuals")
    yield histogram("", "true minus predicted", [("rows", residuals)], 20)


def _thinning(rows: int) -> tuple[int, str]:
    """Every how many rows one is drawn, as more than 10,000 say no more in a picture, and a note that says so."""
    step = -(-rows // 10_000)
    return step, f"one of {step} rows is drawn" if step > 1 else ""


def worst_tags_of(title: str, answers: TagAnswers) -> Iterator[Element]:
    """The tags with the lowest F1, and how many sequences are right from end to end."""
    matrix = Confusions("", answers.classes, tuple(map(tuple, counts_of(answers).tolist())))
    rates = [(rates.f1 or 0.0, code) for code, rates in enumerate(one_against_rest(answers)) if rates.support > 0]
    rows: list[list[Content]] = []
    for f1, code in [(f1, code) for f1, code in sorted(rates) if f1 < 1.0][:5]:
        right = f"{short(matrix.counts[code][code])}/{short(sum(matrix.counts[code]))}"
        taken_for = ", ".join(f"{tag} {short(count)}" for tag, count in matrix.taken_for(code)[:3])
        rows.append([strong(answers.classes[code]), fixed(f1, 3), right, taken_for])
    if rows:
        yield Heading(f"{title}: worst tags")
        yield grid(["tag", "f1", "right", "most often taken for"], rows, right=(1, 2))
    sequences, accuracy = len(np.unique(answers.sequence)), sequence_accuracy(answers)
    if not isinstance(accuracy, Undefined):
        right = share(accuracy, 1.0)
        yield Sentence(f"{title}: {right} of {counted(sequences, 'sequence')} are right from end to end.")


def orders_of(title: str, answers: RankAnswers) -> Iterator[Element]:
    """How well groups of each size are ordered, and the worst of them."""
    yield Heading(title)
    yield _scores_by_size(answers)
    yield notes(
        "best first: the share of groups in which a most relevant row has the highest score (ties by share)"
    )
    in_order = pairs_in_order(answers)
    defined = np.flatnonzero(~np.isnan(in_order))
    order = defined[np.argsort(in_order[defined], kind="stable")]
    worst = order[in_order[order] < 1][:5]
    if not len(worst):
        return
    place = places(answers.score, answers.group)
    lines: list[list[str]] = []
    for group in worst.tolist():
        rows = np.flatnonzero(answers.group == group)
        best = rows[answers.relevance[rows] == answers.relevance[rows].max()]
        correct = fixed(float(in_order[group]), UNIT_DECIMALS)
        lines.append([answers.names[group], str(len(rows)), correct, short(place[best].min())])
    yield grid_of_numbers(["worst groups", "rows", "pairs in order", "place of the best"], lines)
    limit = in_order[worst[-1]]
    more = int((in_order[order] == limit).sum() - (in_order[worst] == limit).sum())
    if more:
        yield notes(f"{counted(more, 'more group')} as bad as the last of these")


def _scores_by_size(answers: RankAnswers) -> Grid:
    """A line for each size of groups, or for a range of sizes where there are many."""
    sizes = np.bincount(answers.group, minlength=len(answers.names))
    values_by_group: dict[str, Array] = {}
    for name in ("pairwise-accuracy", "ndcg", "kendall-tau"):
        metric = metric_named(name, RankAnswers)
        assert metric.per_unit is not None
        is_defined = isinstance(metric.compute(answers), float)
        values_by_group[name] = metric.per_unit(answers) if is_defined else np.full(len(answers.names), np.nan)
    # For each group, the share of the rows with the highest score that are most relevant.
    count = len(answers.names)
    first = places(answers.score, answers.group) == 1
    most_relevant = places(answers.relevance, answers.group) == 1
    tops = np.bincount(answers.group[first], minlength=count)
    shares = np.bincount(answers.group[first & most_relevant], minlength=count) / tops
    values_by_group["best first"] = np.where(np.isnan(pairs_in_order(answers)), np.nan, shares)
    rows: list[list[str]] = []
    for least, most in size_ranges(sizes):
        members = (sizes >= least) & (sizes <= most)
        row = [str(least) if least == most else f"{least} to {most}", str(int(members.sum()))]
        for values in values_by_group.values():
            values = values[members & ~np.isnan(values)]
            row.append(fixed(float(values.mean()), UNIT_DECIMALS) if len(values) else "-")
        rows.append(row)
    return grid_of_numbers(["rows in group", "groups", *values_by_group], rows)


def size_ranges(sizes: Rows) -> list[tuple[int, int]]:
    """The smallest and the largest size of each line: every size, or eight ranges of about as many groups."""
    most_lines = 8
    distinct = np.unique(sizes)
    if len(distinct) <= most_lines:
        return [(size, size) for size in distinct.tolist()]
    shares = np.searchsorted(np.sort(sizes), distinct, side="left") * most_lines // len(sizes)
    lines = [distinct[shares == share] for share in np.unique(shares)]
    return [(int(line[0]), int(line[-1])) for line in lines]


def best_among_the_first(group: Group) -> Iterator[Element]:
    """The hit rate of each model: how often a most relevant row is among the first k."""
    rates: dict[str, Array] = {}
    for result, name in group.items():
        answers: RankAnswers = result.answers
        place = places(answers.score, answers.group)
        most_relevant = places(answers.relevance, answers.group) == 1
        first = np.full(len(answers.names), np.inf)
        np.minimum.at(first, answers.group[most_relevant], place[most_relevant])
        counts = np.bincount(first.astype(np.intp) - 1, minlength=int(place.max(initial=0)))
        rates[name] = np.cumsum(counts[:20]) / len(first)
    longest = max(map(len, rates.values()), default=0)
    if longest < 2:
        return
    lines = tuple(
        (name, tuple(np.pad(line, (0, longest - len(line)), "edge").tolist())) for name, line in rates.items()
    )
    yield Heading("Hit rate: a most relevant row is among the first k")
    yield Curve("", "k", tuple(range(1, longest + 1)), lines)
    yield notes("the share of groups; rows of equal scores share the best place")


def lists_in(title: str, answers: RatingAnswers) -> Iterator[Element]:
    """Errors of known and of cold rows, then some users with what they were recommended."""
    # Rows of a user or item without a history have their own line: no method can do much about them.
    rows: list[list[str]] = []
    for name, chosen in (("user and item known", ~answers.cold), ("cold start", answers.cold)):
        part = answers.take(np.flatnonzero(chosen & (answers.weights > 0)))
        if len(part):
            errors = (_score_text(rmse(part)), _score_text(weighted_mean(mae(part), part.weight)))
            rows.append([name, f"{len(part):,}", *errors])
    yield Heading(title)
    yield grid_of_numbers(["test rows", "count", "rmse", "mae"], rows)
    # Three users, each with the list of one split, whose lists have most of what they like.
    lists = lists_of(answers)
    hits = np.bincount(lists, weights=answers.liked & (answers.top == answers.item[:, None]).any(axis=1))
    best = np.argsort(-hits, kind="stable")
    users = answers.user[np.unique(lists, return_index=True)[1]]
    one_for_each = best[np.sort(np.unique(users[best], return_index=True)[1])]
    examples: list[list[Content]] = []
    for chosen in one_for_each[:3]:
        in_list = np.flatnonzero(lists == chosen)
        liked = dict(zip(answers.item[in_list].tolist(), answers.liked[in_list].tolist(), strict=True))
        marks = {True: " +", False: " -", None: ""}
        top = answers.top[in_list[0]].tolist()
        items = [answers.items[item] + marks[liked.get(item)] for item in top if item >= 0]
        user = int(answers.user[in_list[0]])
        examples.append([strong(answers.users[user] if user >= 0 else "a new user"), ", ".join(items)])
    if examples:
        yield grid(["user", "recommended, best first"], examples)
        yield notes(
            "the users whose lists have most of what they like; + rated at least the mean in a test row, - rated "
            "below it; items without a mark have no rating"
        )


def _score_text(score: Score) -> str:
    return "undefined" if isinstance(score, Undefined) else fixed(score, UNIT_DECIMALS)


def predicted_by_rating(group: Group) -> Iterator[Element]:
    """The predictions of the best model for each rating; of very many ratings a point for each row."""
    if not (best := best_in(group)):
        return
    answers: RatingAnswers = best.answers
    ratings = np.unique(answers.truth)
    if len(ratings) > 12:
        yield from predicted_against_true(group)
        return
    parts = [(f"rated {rating:g}", answers.predicted[answers.truth == rating]) for rating in ratings]
    yield Heading(f"{group[best]}: predicted against true ratings")
    yield boxplots("", "predicted", parts)
