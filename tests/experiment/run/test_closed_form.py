"""Leave-one-out at once: where a method has it, it is taken, kept and found again like any answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import Budget, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import Plan, plan
from mlcli.experiment.store.store import Store
from tests.contract.test_jobs import arrays, same

LEAVE_ONE_OUT = ProtocolSpec("leave-one-out")
FOLDS = ProtocolSpec("k-fold", {"folds": 4})


def cells(protocol: ProtocolSpec, *, shortcuts: bool = True, budget: float | None = None) -> Plan:
    filled = ModelSpec("decision-tree", {"missing": "most-frequent", "max_depth": 2}, label="filled tree")
    models = (ModelSpec("linear-regression"), ModelSpec("ridge"), filled)
    asked = Experiment(
        data=(DataSpec("cpu"),), models=models, protocol=protocol, shortcuts=shortcuts, budget=Budget(budget)
    )
    return plan(asked)


def test_a_shortcut_gives_the_numbers_of_the_plain_loop() -> None:
    short, plain = (run(cells(LEAVE_ONE_OUT, shortcuts=shortcuts), jobs=1) for shortcuts in (True, False))
    for one, two in zip(short, plain, strict=True):
        assert one.status == two.status == "done"
        assert [split.label for split in one.splits] == [split.label for split in two.splits]
        assert [split.train_rows for split in one.splits] == [split.train_rows for split in two.splits]
        for a, b in zip(arrays(one), arrays(two), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-6)
        assert not two.routes()


def test_a_split_that_the_shortcut_refuses_is_fitted(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    rows = [f"{1e9 if k == 7 else k % 5},{k % 7},{k}" for k in range(40)]
    path.write_text("\n".join(["a,b,y", *rows]))
    data = DataSpec(str(path), target="y", task="regression")
    asked = Experiment(data=(data,), models=(ModelSpec("ridge"),), protocol=LEAVE_ONE_OUT)
    (result,) = (one for one in run(plan(asked), jobs=1) if one.cell.label == "ridge")
    assert sum(result.routes().values()) == len(result.splits) - 1 == 39


def test_a_cell_that_no_shortcut_answers_is_fitted_in_the_pool_too(tmp_path: Path) -> None:
    path = tmp_path / "copies.csv"
    rows = [f"{k},{2 * k},{k % 7}" for k in range(40)]
    path.write_text("\n".join(["a,twice,y", *rows]))
    models = (ModelSpec("linear-regression"), ModelSpec("decision-tree"))
    data = (DataSpec(str(path), target="y", task="regression"),)
    asked = plan(Experiment(data=data, models=models, protocol=LEAVE_ONE_OUT))
    here, there = run(asked, jobs=1), run(asked, jobs=2, patience=0.0)
    for one, two in zip(here, there, strict=True):
        assert one.status == two.status == "done"
        assert all(same(a, b) for a, b in zip(arrays(one), arrays(two), strict=True))
    assert not any(result.routes() for result in there if result.cell.label == "linear-regression")


def test_folds_are_fitted() -> None:
    assert not any(result.routes() for result in run(cells(FOLDS), jobs=1))


def test_the_route_follows_from_content_alone() -> None:
    here, there = run(cells(LEAVE_ONE_OUT), jobs=1), run(cells(LEAVE_ONE_OUT), jobs=2, patience=0.0)
    with_budget = run(cells(LEAVE_ONE_OUT, budget=60.0), jobs=2)
    for results in (there, with_budget):
        for one, two in zip(here, results, strict=True):
            assert one.routes() == two.routes()
            assert all(same(a, b) for a, b in zip(arrays(one), arrays(two), strict=True)), one.cell.label


def test_closed_form_answers_are_kept_and_found_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        first = run(cells(LEAVE_ONE_OUT), store=store, jobs=1)
        again = run(cells(LEAVE_ONE_OUT), store=store, jobs=1)
        plainly = run(cells(LEAVE_ONE_OUT, shortcuts=False), store=store, jobs=1)
    for one, two in zip(first, again, strict=True):
        assert two.stored
        assert one.routes() == two.routes()
        assert all(same(a, b) for a, b in zip(arrays(one), arrays(two), strict=True))
    assert not any(result.stored for result in plainly), "another way of computing is another key"


def test_a_setting_without_a_shortcut_is_fitted_to_each_split() -> None:
    (tree,) = (one for one in run(cells(LEAVE_ONE_OUT), jobs=1) if one.cell.label == "filled tree")
    assert tree.routes() == {}
    assert all(split.explanation for split in tree.splits)


def test_rows_that_no_method_could_learn_from_are_refused_by_the_plain_loop(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("x,y\n" + "".join(f"{k}e101,{k * k}\n" for k in range(1, 13)))
    (cell,) = (
        one
        for one in plan(Experiment(data=(DataSpec(str(path)),), models=(ModelSpec("ridge"),)))
        if one.label == "ridge"
    )
    result = run([replace(cell, protocol=ProtocolSpec("k-fold", {"folds": 2, "repeats": 1}))], jobs=1)[0]
    assert result.status == "failed"
    assert "too far from 1" in result.why
