"""Answers change only with a revision: what is in a store would be taken for what a method answers now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.canary.canaries import CORE, found, problem_with, recorded, titles, unannounced

KNOWN = recorded()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
@pytest.mark.parametrize("title", titles())
def test_answers_change_only_with_a_revision(title: str) -> None:
    assert not problem_with(title, found(title), KNOWN)


def test_nothing_is_recorded_of_what_is_gone() -> None:
    assert KNOWN.keys() == set(titles())


def changed(title: str) -> dict[str, Any]:
    how = next(iter(KNOWN[title]["digests"]))
    return {**KNOWN[title], "digests": {**KNOWN[title]["digests"], how: "another"}}


def test_a_change_that_no_revision_announces_is_told_with_what_to_do() -> None:
    said = problem_with("model knn", changed("model knn"), KNOWN)
    assert "model knn (classification)" in said
    assert "raise `revision`" in said
    assert said.endswith("then run python -m tests.canary.write")


def test_a_new_method_and_a_new_choice_only_have_to_be_written_down() -> None:
    known = KNOWN["model knn"]
    wider = {**known, "digests": {**known["digests"], "classification, distance: new": "another"}}
    for title, now in (("model new", known), ("model knn", wider)):
        assert problem_with(title, now, KNOWN).endswith("raised: run python -m tests.canary.write")


@pytest.mark.parametrize("raised", [CORE, "model self-training", "model naive-bayes"])
def test_a_revision_may_be_that_of_core_or_of_a_nested_model(raised: str) -> None:
    now = changed("model self-training")
    before = {**KNOWN, raised: {**KNOWN[raised], "revision": 0}}
    assert unannounced("model self-training", now, KNOWN) == ["classification"]
    assert not unannounced("model self-training", now, before)
