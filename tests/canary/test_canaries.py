"""Answers change only with a revision: what is in a store would be taken for what a method answers now."""

from __future__ import annotations

import pytest

from tests.canary.canaries import CORE, found, is_unannounced, problem_with, recorded, titles

KNOWN = recorded()


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
@pytest.mark.parametrize("title", titles())
def test_answers_change_only_with_a_revision(title: str) -> None:
    assert not problem_with(title, found(title), KNOWN)


def test_nothing_is_recorded_of_what_is_gone() -> None:
    assert KNOWN.keys() == set(titles())


def test_a_change_that_no_revision_announces_is_told_with_what_to_do() -> None:
    changed = {**KNOWN["model knn"], "digest": "another"}
    said = problem_with("model knn", changed, KNOWN)
    assert "the answers of model knn have changed: raise `revision` in its @register line" in said
    assert said.endswith("then run python -m tests.canary.write")
    assert "run python -m tests.canary.write" in problem_with("model new", changed, KNOWN)


@pytest.mark.parametrize("raised", [CORE, "model self-training", "model naive-bayes"])
def test_a_revision_may_be_that_of_core_or_of_a_nested_model(raised: str) -> None:
    before = {**KNOWN, raised: {**KNOWN[raised], "revision": 0}}
    changed = {**KNOWN["model self-training"], "digest": "another"}
    assert is_unannounced("model self-training", changed, KNOWN)
    assert not is_unannounced("model self-training", changed, before)
