"""What stands below the table of models: each kind of answers has its own picture of them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from mlcli.metrics.pooling import joined
from mlcli.report.document import Block
from mlcli.report.scored import Scored, judged

PICTURES = {
    "ClusterAnswers": "clusters:groups_of",
    "RatingAnswers": "ratings:lists_in",
    "RankAnswers": "rankings:orders_of",
    "ScoreAnswers": "anomalies:scores_of",
    "TagAnswers": "tags:worst_tags_of",
}
"""By the class of the answers, the module of this room and its function: from a title and answers to blocks."""


def picture_of(title: str, scored: Scored) -> Iterator[Block]:
    """The picture of a cell's answers, if its kind has one."""
    answers = judged(scored.result)
    place = PICTURES.get(type(answers[0]).__name__) if answers else None
    if place is not None:
        module, _, name = place.partition(":")
        yield from getattr(import_module(f"mlcli.report.{module}"), name)(title, joined(answers))
