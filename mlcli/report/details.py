"""What stands below the table of models: each kind of answers has its own picture of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module

from mlcli.metrics.pooling import joined
from mlcli.report.document import Block
from mlcli.report.scored import Scored, judged

PICTURES = {
    "RatingAnswers": "ratings:lists_in",
    "RuleAnswers": "rules:rules_in",
    "RankAnswers": "rankings:orders_of",
    "ScoreAnswers": "anomalies:scores_of",
    "TagAnswers": "tags:worst_tags_of",
}
"""By the class of the answers, the module of this room and its function: from a title and answers to blocks."""

OF_CELLS = {"ClusterAnswers": "clusters:groups_of"}
"""The same for those whose splits cannot be taken together: from a title and a cell to blocks."""
OF_TABLES = {"ClusterAnswers": "clusters:elbows_of"}
"""The same for what several models show together: from the cells of a table and their names to blocks."""


def picture_of_all(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Block]:
    """What the cells of a table show together, if their kind has a picture of it."""
    done = [one for one in group if one.done]
    if done and (draw := _drawing(OF_TABLES, done[0])):
        yield from draw(done, names)


def picture_of(title: str, scored: Scored) -> Iterator[Block]:
    """The picture of a cell's answers, if its kind has one."""
    if draw := _drawing(OF_CELLS, scored):
        yield from draw(title, scored)
    elif draw := _drawing(PICTURES, scored):
        yield from draw(title, joined(judged(scored.result)))


def _drawing(pictures: Mapping[str, str], scored: Scored) -> Callable[..., Iterator[Block]] | None:
    """The function that draws the answers of a cell, imported now."""
    answers = judged(scored.result)
    place = pictures.get(type(answers[0]).__name__) if answers else None
    if place is None:
        return None
    module, _, name = place.partition(":")
    return getattr(import_module(f"mlcli.report.{module}"), name)  # type: ignore[no-any-return]
