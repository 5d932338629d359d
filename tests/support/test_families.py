"""`make test ONLY=...` runs what is about a family, wherever it stands, and nothing that is about another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.subjects import Subject
from tests.support.families import About, methods_of, shared_out

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("word", "file", "params", "kept"),
    [
        ("neighbours", "golden/test_knn.py", {}, True),
        ("knn", "golden/test_knn.py", {"k": 3}, True),
        ("neighbours", "golden/test_lda.py", {}, False),
        ("neighbours", "kernels/neighbours/test_screening.py", {}, True),
        ("neighbours", "engines/test_neighbour_search.py", {}, True),
        ("linear", "engines/test_neighbour_search.py", {}, False),
        ("neighbours", "contract/test_promises.py", {"subject": Subject("knn", "regression")}, True),
        ("neighbours", "contract/test_promises.py", {"subject": Subject("lda", "classification")}, False),
        ("neighbours", "contract/test_saved_promises.py", {"kind": "regression", "model": "knn"}, True),
        ("neighbours", "canary/test_canaries.py", {"title": "model knn"}, True),
        ("neighbours", "canary/test_canaries.py", {"title": "model lda"}, False),
    ],
)
def test_a_test_is_about_a_family_by_its_parameters_or_by_its_file(
    word: str, file: str, params: dict[str, Any], kept: bool
) -> None:
    assert About(word).has(TESTS / file, params) == kept


def test_a_family_and_a_method_are_found_and_nothing_else_is() -> None:
    assert methods_of("discriminants") == {"gaussian-bayes", "lda", "qda"}
    assert methods_of("lda") == {"lda"}
    with pytest.raises(LookupError, match=r"there is no family 'discriminant'.* did you mean 'discriminants'"):
        methods_of("discriminant")
    with pytest.raises(LookupError, match=r"families: .*, linear, "):
        methods_of("nosuch")


def test_each_worker_begins_with_methods_of_its_own() -> None:
    tests = ["svm 1", "cli 1", "knn 1", "svm 2", "cli 2", "knn 2"]
    belonging = ["svm", "", "knn", "svm", "", "knn"]
    assert shared_out(tests, belonging, 2) == ["knn 1", "knn 2", "cli 1", "svm 1", "svm 2", "cli 2"]
