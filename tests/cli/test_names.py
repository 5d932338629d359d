"""Names: whatever is misspelt is answered with the nearest name that would work."""

from __future__ import annotations

import pytest

from tests.cli.shell import typed


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["evla", "iris"], "eval"),
        (["eval", "iris", "--protcol", "k-fold"], "--protocol"),
        (["eval", "irsi"], "iris"),
        (["eval", "iris", "-m", "naive-bays"], "naive-bayes"),
        (["eval", "iris", "-m", "knn", "-p", "distanc=euclidean"], "distance"),
        (["eval", "iris", "-m", "knn", "-p", "distance=euclidian"], "euclidean"),
        (["eval", "iris", "--protocol", "stratified-kfold"], "stratified-k-fold"),
        (["eval", "iris", "--metric", "f1-marco"], "f1-macro"),
        (["eval", "iris", "--task", "clasification"], "classification"),
        (["eval", "iris", "--target", "specie"], "species"),
        (["models", "decision-three"], "decision-tree"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_misspelt_name_is_answered_with_the_nearest(words: list[str], meant: str) -> None:
    result = typed(*words)
    assert result.exit_code in (2, 4)
    assert meant in result.stderr
