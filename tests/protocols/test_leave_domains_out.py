"""Leaving domains out: what is judged is of the new domain only, and its classes reach nobody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.rows import SplitInfo
from mlcli.protocols.leave_out import LeaveDomainsOut
from tests.support.shell import typed

DOMAIN = np.repeat([0, 1, 2], [40, 30, 11]).astype(np.int32)
CLASSES = (np.arange(81) % 3).astype(np.int32)


def strata(domain: Any = DOMAIN) -> SplitInfo:
    """81 rows of three clinics."""
    return SplitInfo(81, CLASSES, domain=domain, domains=("north", "south", "west"))


def test_others_are_learned_from_and_every_row_of_the_domain_is_judged_once() -> None:
    made = LeaveDomainsOut(folds=3).splits(strata(), np.random.default_rng(1))
    assert len(made) == 9
    for place, split in enumerate(made):
        inside = place // 3 == DOMAIN
        assert np.array_equal(split.train, np.flatnonzero(~inside))
        assert np.array_equal(np.sort(np.concatenate([split.test, split.hidden])), np.flatnonzero(inside))
    for name in range(3):
        judged = np.concatenate([split.test for split in made[3 * name : 3 * name + 3]])
        assert np.array_equal(np.sort(judged), np.flatnonzero(name == DOMAIN))


def test_each_fold_has_its_share_of_each_class() -> None:
    for split in LeaveDomainsOut(target="north").splits(strata(), np.random.default_rng(1)):
        assert np.ptp(np.bincount(CLASSES[split.test])) <= 1


@pytest.mark.parametrize(
    ("params", "given", "why"),
    [
        ({}, strata(None), "no column has the role domain"),
        ({}, strata(np.zeros(81, np.int32)), "there is only north"),
        ({"target": "norht"}, strata(), "there is no domain 'norht'"),
        ({"folds": 12}, strata(), "domain west has fewer than 12 rows"),
    ],
)
def test_rows_that_cannot_be_split_so_are_refused(params: dict[str, Any], given: SplitInfo, why: str) -> None:
    (problem,) = LeaveDomainsOut(**params).problems_with_rows(given)
    assert why in problem.what


def test_adapting_stands_beside_not_adapting_in_one_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lines = [
        f"{4 * kind + rng.normal():.3f},{rng.normal():.3f},{'ab'[kind]},old" for kind in (0, 1) for _ in range(40)
    ]
    lines += [
        f"{4 * kind + 4 + rng.normal():.3f},{rng.normal():.3f},{'ab'[kind]},new"
        for kind in (0, 1)
        for _ in range(40)
    ]
    (tmp_path / "shift.csv").write_text("\n".join(["size,noise,kind,site", *lines]) + "\n")
    (tmp_path / "shift.yaml").write_text("target: kind\nroles: {domain: [site]}\n")
    spec = tmp_path / "e.yaml"
    spec.write_text(
        "data: [shift.csv]\nmetrics: [accuracy]\nprotocol: {use: leave-domains-out, target: new}\n"
        "models: [naive-bayes, {use: naive-bayes, steps: [coral], as: moved}]\n"
    )
    text = typed("run", str(spec), "--store", str(tmp_path / "runs.db")).stdout
    accuracy = {
        line.split()[0]: line.split()[1].strip("*")
        for line in text.splitlines()
        if re.match(r"(moved|naive-bayes) +\*?0", line)
    }
    assert float(accuracy["moved"]) > 0.9 > 0.7 > float(accuracy["naive-bayes"])
