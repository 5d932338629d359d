"""Trees, forests and boosting score as scikit-learn's do: a small form of `make bench ONLY=scores`."""

from __future__ import annotations

import math
import statistics

import pytest

from benchmarks.contests import Contest, contests
from benchmarks.scores import paired
from benchmarks.twenty import TWENTY

SEEDS = range(6)
OF_SCIKIT_LEARN = [contest for contest in contests(trees=6) if contest.label.startswith("scikit-learn")]


@pytest.mark.parametrize("name", ["travelmode", "moons", "friedman1"])
@pytest.mark.parametrize("contest", OF_SCIKIT_LEARN, ids=lambda contest: contest.method)
def test_scores_are_the_same_within_the_noise_of_the_peers_seeds(contest: Contest, name: str) -> None:
    few = TWENTY[name]().take(slice(0, 150))
    ours, theirs = paired(contest, few, SEEDS)
    standard_error = math.sqrt(2 / len(SEEDS)) * statistics.stdev(theirs)
    assert abs(statistics.mean(ours) - statistics.mean(theirs)) <= 4 * standard_error
