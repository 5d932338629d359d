"""Compiled tally of what the trees so far say of the rows that were out of their bags."""

from __future__ import annotations

from typing import NamedTuple

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.histograms import Ids
from mlcli.kernels.without_counting import compiled
from mlcli.tasks.classification import DECIMALS

NEARLY = 1 - 10.0**-DECIMALS
"""Votes that are this part of the most count as equal to it."""


class Votes(NamedTuple):
    """Of each training row: the sum of what trees said (n × K), how many did, and how wrong their mean is."""

    said: Array
    voters: Array
    loss: Array


@compiled
def count(rows: Ids, leaves: Codes, value: Array, slot: Rows, output: Array, by_size: Rows, votes: Votes) -> None:
    """Add what a tree says of some rows; of equal votes the class that is earlier in ``by_size`` wins."""
    classes = value.shape[1]
    for i in range(len(rows)):
        row, most, place = rows[i], 0.0, 0
        votes.voters[row] += 1.0
        for k in range(classes):
            votes.said[row, k] += value[leaves[i], k]
            most = max(most, votes.said[row, k])
        if classes == 1:
            away = votes.said[row, 0] / votes.voters[row] - output[row]
            votes.loss[row] = away * away
        else:
            while votes.said[row, by_size[place]] < most * NEARLY:
                place += 1
            votes.loss[row] = 0.0 if by_size[place] == slot[row] else 1.0
