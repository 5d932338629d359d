"""Findings: plain data that comes back from JSON as it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mlcli.core.findings import (
    KINDS,
    Bars,
    Boxplots,
    Choices,
    Cloud,
    Confusions,
    CriticalDifference,
    Curve,
    Dendrogram,
    Finding,
    Graph,
    Histogram,
    Lines,
    Points,
    Regions,
    Table,
    Tree,
    as_json,
    from_json,
    shortened,
)

EVERY: tuple[Finding, ...] = (
    Table("T", ("a", "b"), (("x", 0.1 + 0.2), (None, 3)), note="n"),
    Lines("L", ("one", "two")),
    Choices("O", ("k", "p"), (5, "auto"), ("", "lowest"), "accuracy", 0.9, 0.01, note="n"),
    Bars("B", ("which", "long", "share"), ("a", "b"), (1.0, 2.5), (("10 %", None),)),
    Curve("C", "rounds", (1.0, 10.0), (("training", (0.5, 0.25)), ("held aside", (0.6, None)))),
    Histogram("H", "score", (0.0, 1.0, 2.0), (("good", (3.0, 0.0)), ("bad", (0.0, 1.0)))),
    Points("P", "x", "y", (("a", ((0.0, 1.0), (2.0, 3.0))), ("b", ()))),
    Cloud("S", ("x", "y", "z"), (("a", ((0.0, 1.0, 2.0),)), ("b", ()))),
    Regions("Q", "x", "y", (0.0, 1.0), (0.0, 2.0), ((0.0, 1.0), (1.0, 1.0)), ("a", "b"), (("a", ((0.5, 1.5),)),)),
    Confusions("M", ("a", "b"), ((3.0, 1.0), (0.0, 2.0))),
    Dendrogram("D", ("a", "b", "c"), ((0, 1), (2, 3)), (1.0, 2.0)),
    Graph("G", ("a", "b", "c"), ((0, 1), (0, 2)), True),
    CriticalDifference("D", ("a", "b"), (1.25, 1.75), 0.9, ((0, 1),)),
    Boxplots("X", "length", (("a", (0.0, 1.0, 2.0, 3.0, 4.5)),), (2,)),
    Tree("R", (0, 1, 1), ("", "x ≤ 1", "x > 1"), ("a", "a", "b"), (0.5, 1.0, 0.75), (4.0, 2.0, 2.0)),
)


@pytest.mark.parametrize("finding", EVERY, ids=lambda one: type(one).__name__)
def test_json_keeps_everything(finding: Finding) -> None:
    assert from_json(json.loads(json.dumps(as_json(finding)))) == finding


def test_every_kind_is_tried() -> None:
    assert {type(one) for one in EVERY} == set(KINDS.values())


def test_numbers_of_numpy_become_plain_ones() -> None:
    table = Table("T", ("n",), ((np.float64(0.5),), (np.int64(2),)))  # type: ignore[arg-type]
    assert [type(row[0]) for row in shortened(table, 5).rows] == [float, int]  # type: ignore[attr-defined]


def test_long_findings_are_cut_and_say_so() -> None:
    assert shortened(Lines("L", tuple("abcd"), note="n"), 3) == Lines(
        "L", ("a", "b", "c"), note="n (1 more left out)"
    )
    for count in (1, 2):  # a tree is cut at a depth, or one of its branches would stand for all
        tree = shortened(EVERY[-1], count)
        assert tree == Tree("R", (0,), ("",), ("a",), (0.5,), (4.0,), note="(2 more left out)")
    assert shortened(EVERY[2], 1) == EVERY[2]
