"""``reuse: false``: a column that a node has asked for is not drawn below it, as in the course notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.models.forests.extra_trees import ExtraTrees
from mlcli.models.forests.random_forest import RandomForest
from tests.cli.shell import typed
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers
from tests.rows import table_of, valued


@pytest.mark.parametrize("forest", [RandomForest, ExtraTrees])
@pytest.mark.parametrize("dataset", ["wine", "cpu"])
def test_no_way_from_root_to_leaf_asks_for_a_column_twice(forest: Any, dataset: str) -> None:
    tree = fitted(forest(trees=20, reuse=False), in_numbers(dataset)).trees_
    repeated = fitted(forest(trees=20), in_numbers(dataset)).trees_
    assert not any(has_repeated_column(tree, node) for node in np.flatnonzero(tree.leaves))
    assert any(has_repeated_column(repeated, node) for node in np.flatnonzero(repeated.leaves))


def has_repeated_column(tree: Any, leaf: Any) -> bool:
    """Whether two questions on the way to a leaf are about one column."""
    parent, asked, node = tree.parent, [], leaf
    while node not in tree.roots:
        node = parent[node]
        asked.append(int(tree.feature[node]))
    return len(asked) > len(set(asked))


def test_one_column_is_asked_for_once() -> None:
    """By hand: of 0, 1, 5, 7 the cut between 1 and 5 gains most, and means of both sides remain."""
    data = valued(table_of({"x": [1, 2, 3, 4]}), [0, 1, 5, 7])
    model = fitted(RandomForest(trees=1, bootstrap=False, reuse=False), data)
    assert model.predict_values(data.table) == pytest.approx([0.5, 0.5, 6.0, 6.0])


def test_reuse_is_an_option_of_the_command_line(tmp_path: Path) -> None:
    words = ("eval", "iris", "-m", "random-forest", "-p", "reuse=false", "-p", "trees=5")
    assert typed(*words, "--store", str(tmp_path / "s.db")).exit_code == 0
