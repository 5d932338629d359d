"""docs/metrics.md says what the registry says."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from mlcli.metrics.registry import AVERAGES, OF_ONE_CLASS, metric_named, names_for
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.metrics.making import number, value_answers

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| [^|]+ \| ([^|]+) \| (high|low|zero) \| [^|]*\|$", re.MULTILINE)
RANGES = {
    "0 to 1": (0, 1),
    "0 to 2": (0, 2),
    "-1 to 1": (-1, 1),
    "0 up": (0, None),
    "up to 1": (None, 1),
    "any": (None, None),
}
DOCUMENTED = {name: (RANGES[said], better) for name, said, better in ROW.findall(PAGE)}
METRICS_OF_BOTH = [(kind, name) for kind in (LabelAnswers, ValueAnswers) for name in names_for(kind)]


@pytest.mark.parametrize(("kind", "name"), METRICS_OF_BOTH)
def test_every_metric_stands_in_the_docs_with_its_range_and_direction(kind: Any, name: str) -> None:
    stem, _, average = name.rpartition("-")
    documented = DOCUMENTED[stem if average in AVERAGES else name]
    metric = metric_named(name, kind)
    assert ((metric.low, metric.high), metric.better) == documented


def test_the_docs_name_no_metric_that_does_not_exist() -> None:
    assert set(DOCUMENTED) <= {name for _, name in METRICS_OF_BOTH}


def test_rates_and_averages_of_the_docs_are_those_of_the_registry() -> None:
    rates = set(OF_ONE_CLASS) - {"auc"}
    assert {name for _, name in METRICS_OF_BOTH} >= {f"{rate}-{average}" for rate in rates for average in AVERAGES}


def test_means_and_shares_of_rows_are_listed_with_their_intervals() -> None:
    for form, heading in (("share of rows", "shares of rows"), ("mean of rows", "means of rows")):
        line = next(line for line in PAGE.splitlines() if line.startswith(f"| {heading}: "))
        named = set(re.findall(r"`([a-z0-9-]+)`", line))
        assert named == {name for kind, name in METRICS_OF_BOTH if metric_named(name, kind).aggregation == form}


@pytest.mark.usefixtures("registry_restored")
def test_the_example_of_the_docs_adds_a_metric() -> None:
    example = PAGE.partition("```python\n")[2].partition("```")[0]
    exec(compile(example, "docs/metrics.md", "exec"), {"__name__": "docs"})
    assert number("mean-log-ratio", value_answers([1, 2], [math.e, 2])) == pytest.approx(0.5)
