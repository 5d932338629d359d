"""The threshold above which individual fairness compares rows is the user's, in the shell and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.metrics.fairness import individual_fairness
from tests.cli.shell import document, typed


def test_pairs_by_hand() -> None:
    # Similarities: 0.95 (answered alike), 0.85 (differently), 0.8 (differently).
    distances = np.array([[0.0, 0.05, 0.15], [0.05, 0.0, 0.2], [0.15, 0.2, 0.0]])
    answers = np.array([1.0, 1.0, 0.0])
    for similarity, pairs, different in ((0.9, 1, 0.0), (0.82, 2, 1 / 2), (0.5, 3, 2 / 3)):
        found = individual_fairness(distances, answers, None, np.ones(3), similarity)
        assert (found.similarity, found.pairs) == (similarity, pairs)
        assert found.decided_differently == pytest.approx(different)


def individual(*words: str) -> Any:
    result = typed(*words, "--json")
    assert result.exit_code == 0, result.output
    return next(cell for cell in document(result)["cells"] if cell["model"] == "naive-bayes")["fairness"][
        "individual"
    ]


def test_shell_and_file_agree(tmp_path: Path) -> None:
    words = ("arrests", "-m", "naive-bayes", "--protocol", "holdout")
    usual = individual("eval", *words, "--fair")
    strict = individual("eval", *words, "--similarity", "0.99")
    assert (usual["similarity"], strict["similarity"]) == (0.9, 0.99)
    assert strict["pairs"] < usual["pairs"]
    file = tmp_path / "spec.yaml"
    file.write_text("data: [arrests]\nmodels: [naive-bayes]\nprotocol: holdout\nsimilarity: 0.99\n")
    assert individual("run", str(file), "--store", str(tmp_path / "runs.db")) == strict


def test_the_text_names_the_threshold() -> None:
    words = ("eval", "arrests", "-m", "naive-bayes", "--protocol", "holdout", "--similarity", "0.95")
    assert "more than 0.95 alike" in " ".join(typed(*words).output.split())


@pytest.mark.parametrize("share", ["1", "-0.1", "2"])
def test_what_is_no_similarity_is_refused(share: str, tmp_path: Path) -> None:
    result = typed("eval", "arrests", "-m", "naive-bayes", "--similarity", share)
    assert result.exit_code == 2
    assert "--similarity is a share" in result.output
    file = tmp_path / "spec.yaml"
    file.write_text(f"data: [arrests]\nsimilarity: {share}\n")
    assert typed("run", str(file)).exit_code == 3


def test_files_that_differ_are_not_shown_together(tmp_path: Path) -> None:
    for name, share in (("one", 0.8), ("two", 0.95)):
        text = f"data: [arrests]\nmodels: [naive-bayes]\nsimilarity: {share}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    result = typed("run", str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"))
    assert result.exit_code == 2
    assert "differ in 'similarity': 0.8, 0.95" in result.output
