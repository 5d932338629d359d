"""Point 32: a cell with a budget is tried again when its child was killed; stdout is for results alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlcli.experiment.run.batch import run
from mlcli.experiment.store.store import Store
from tests.cli.shell import in_shell
from tests.experiment import toy
from tests.experiment.conftest import fits, plugin

__all__ = ["fits", "plugin"]


def test_a_child_that_was_killed_once_is_tried_again(fits: Path, tmp_path: Path) -> None:
    cells = [toy.troubled("killed once", budget=60.0), toy.cell("decision-tree", budget=60.0)]
    with Store.open(tmp_path / "runs.db") as store:
        results = run(cells, store=store, jobs=2)
    assert [result.status for result in results] == ["done", "done"]
    in_one_go = run([toy.troubled("killed once"), toy.cell("decision-tree")], jobs=1)
    assert toy.digest(results) == toy.digest(in_one_go)


def test_a_child_that_is_killed_twice_has_died(fits: Path) -> None:
    (result,) = run([toy.troubled("killed", "always", budget=60.0)], jobs=1)
    assert (result.status, result.splits) == ("died", ())
    assert len(fits.read_text().splitlines()) == 2


SPEC = """\
data: [iris]
models: [{use: troubled, params: {how: prints, when: always}}]
protocol: {use: holdout}
"""


@pytest.mark.parametrize("more", ["", "budget: 60s\n"])
def test_what_a_method_prints_is_no_part_of_the_result(fits: Path, tmp_path: Path, more: str) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC + more)
    done = in_shell("run", "spec.yaml", "--json", "--jobs", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "a remark of a method" in done.stderr
    assert "a remark of compiled code" in done.stderr


def test_what_a_method_prints_in_this_process_is_no_part_of_the_result(fits: Path, tmp_path: Path) -> None:
    words = ("-m", "troubled", "-p", "how=prints", "-p", "when=always", "-o", "m.mlcli", "--json")
    done = in_shell("train", "iris", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
