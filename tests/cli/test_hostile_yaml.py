"""Experiment files that were written to waste time: refused, with a handful of problems, before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import typed

HEAD = "data: [iris]\nmodels: [zero-r]\n"
ALIASED = "x: &a {" + ", ".join(f"k{i}: {i}" for i in range(900)) + "}\ny: [" + ", ".join(["*a"] * 99) + "]\n"
FILES = {
    "99 aliases of 900 values": (HEAD + ALIASED, "there is no key 'y' here"),
    "20,000 keys": (HEAD + "".join(f"key{i}: {i}\n" for i in range(20_000)), "19,980 more keys are wrong here"),
    "a dataset 49,000 times": (
        "data: [" + ", ".join(["iris"] * 49_000) + "]\nmodels: [zero-r]\n",
        "48,958 more were not looked at",
    ),
    "20,000 models that nobody knows": (
        "data: [iris]\nmodels: [" + ", ".join(f"modelx{i}" for i in range(20_000)) + "]\n",
        "19,959 more stand here that were not looked at",
    ),
    "100,000,000 repeats": (
        HEAD + "protocol: {use: repeated-holdout, repeats: 100000000}\n",
        "repeats must be at most 10000",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_wastes_time_is_refused_in_few_words(tmp_path: Path, what: str) -> None:
    text, problem = FILES[what]
    file = tmp_path / "hostile.yaml"
    file.write_text(text)
    result = typed("run", str(file), "--dry-run")
    assert result.exit_code == 3
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) <= 120


def test_an_alias_stands_for_all_that_its_anchor_names(tmp_path: Path) -> None:
    file = tmp_path / "aliased.yaml"
    file.write_text("data: [iris]\nmodels:\n  - use: knn\n    params: &p {k: 3}\n  - use: knn\n    params: *p\n")
    refused = typed("run", str(file), "--dry-run")
    assert "knn is listed twice" in refused.stderr
