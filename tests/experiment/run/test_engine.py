"""From a cell to answers: splits that all models share, seeds from content, warnings and failures as facts."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import DataError, FitError
from mlcli.core.findings import Lines
from mlcli.experiment.run.evaluation import KEPT_LINES, BlockOutcome, evaluate
from mlcli.experiment.run.preparation import prepare, train
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.experiment import toy


def judged(cell: Cell) -> BlockOutcome:
    made = prepare(cell)
    return evaluate(made.block(0, len(made.splits)))


def labels(outcome: BlockOutcome, split: int) -> LabelAnswers:
    answers = outcome.results[split].answers["test"]
    assert isinstance(answers, LabelAnswers)
    return answers


def test_every_row_is_judged_once_by_a_model_that_has_not_seen_it() -> None:
    outcome = judged(toy.cell())
    judged_rows = np.concatenate([split.answers["test"].rows for split in outcome.results])
    assert sorted(judged_rows) == list(range(40))
    y = toy.dataset().table.cells("y")
    for split in range(5):
        test = labels(outcome, split)
        others = np.setdiff1d(np.arange(40), test.rows)
        assert outcome.results[split].train_rows == len(others) == 32
        assert test.probabilities is not None
        assert test.probabilities[0] == pytest.approx(np.bincount(y[others]) / 32)
        assert np.array_equal(test.truth, y[test.rows])


def test_numbers_are_predicted_in_the_same_way() -> None:
    data = toy.values()
    answers = judged(toy.cell(data=data, kind="regression")).results[0].answers["test"]
    assert isinstance(answers, ValueAnswers)
    others = np.setdiff1d(np.arange(30), answers.rows)
    assert answers.predicted == pytest.approx(np.full(6, data.table.cells("y")[others].mean()))


def test_all_models_meet_the_same_splits(plugin: Path) -> None:
    ours, theirs = judged(toy.cell()), judged(toy.cell("troubled"))
    for mine, other in zip(ours.results, theirs.results, strict=True):
        assert np.array_equal(mine.answers["test"].rows, other.answers["test"].rows)


def test_another_seed_gives_other_splits_and_other_fits(plugin: Path) -> None:
    one, other = (judged(toy.cell("troubled", seed=seed)) for seed in (1, 2))
    assert not np.array_equal(labels(one, 0).rows, labels(other, 0).rows)
    assert not np.array_equal(labels(one, 0).probabilities, labels(other, 0).probabilities)  # type: ignore[arg-type]


def test_a_fit_is_seeded_by_content_not_by_names_or_what_ran_before(plugin: Path) -> None:
    made = prepare(toy.cell("troubled"))
    alone = evaluate(made.block(3, 1))
    renamed = judged(toy.cell("troubled", data=toy.dataset(name="other"), label="mine"))
    assert np.array_equal(labels(alone, 0).probabilities, labels(renamed, 3).probabilities)  # type: ignore[arg-type]


def test_splits_of_one_cell_are_seeded_differently(plugin: Path) -> None:
    outcome = judged(toy.cell("troubled"))
    assert len({labels(outcome, split).probabilities.tobytes() for split in range(5)}) == 5  # type: ignore[union-attr]


def test_parameters_left_at_their_default_seed_like_parameters_that_are_said(plugin: Path) -> None:
    silent, said = judged(toy.cell("troubled")), judged(toy.troubled("none", params={"lines": 1}))
    assert np.array_equal(labels(silent, 0).probabilities, labels(said, 0).probabilities)  # type: ignore[arg-type]


def test_warnings_are_kept_with_their_split_each_sentence_once(plugin: Path) -> None:
    outcome = judged(toy.troubled("warns"))
    hidden = next(split for split in outcome.results if 0 in split.answers["test"].rows)
    assert hidden.warnings == ("stopped early", "RuntimeWarning: divide by zero encountered in log")
    assert sum(len(split.warnings) for split in outcome.results) == 2


def test_a_refusal_names_the_split_and_keeps_what_came_before(plugin: Path) -> None:
    outcome = judged(toy.troubled("refuses"))
    assert outcome.failure is not None
    assert outcome.failure.why == f"fold {outcome.failure.index + 1}: these rows cannot be learned"
    assert [split.index for split in outcome.results] == list(range(outcome.failure.index))


@pytest.mark.parametrize(
    ("how", "said"), [("breaks", "ZeroDivisionError: one over nothing"), ("exits", "SystemExit: 4")]
)
def test_what_a_method_did_not_foresee_is_a_bug_in_it_with_a_trace_for_its_author(
    plugin: Path, how: str, said: str
) -> None:
    failure = judged(toy.troubled(how)).failure
    assert failure is not None
    assert failure.why == f"fold {failure.index + 1}: a bug in the method, please report it: {said}"
    assert "troubled.py" in failure.trace


def test_the_explanation_of_a_split_is_kept_small(plugin: Path) -> None:
    (section,) = judged(toy.troubled("none", params={"lines": 100})).results[0].explanation
    lines = tuple(f"line {i}" for i in range(KEPT_LINES))
    assert section == Lines("Shares", lines, note=f"({100 - KEPT_LINES} more left out)")


def test_what_is_said_while_splitting_is_a_note_on_the_cell() -> None:
    made = prepare(toy.cell(data=toy.dataset(rows=12), protocol=ProtocolSpec("stratified-k-fold")))
    assert "fewer than 10 rows" in made.notes[0]
    assert "only 12 test rows" in made.notes[1]


def test_cells_of_one_dataset_share_rows_and_splits() -> None:
    experiment = Experiment((DataSpec("iris"),), (ModelSpec("zero-r"), ModelSpec("random")))
    one, other = map(prepare, plan(experiment))
    assert one.rows is other.rows
    assert one.splits is other.splits


@pytest.mark.parametrize("splits", [1, 5, 31, 32, 33, 100])
def test_blocks_cover_what_is_missing_and_end_where_they_always_end(splits: int) -> None:
    data = toy.dataset(rows=max(splits, 2) * 2)
    repeated = ProtocolSpec("repeated-holdout", {"repeats": splits})
    made = prepare(toy.cell(data=data, protocol=repeated))
    whole = made.blocks([True] * splits)
    assert [index for first, count, _ in whole for index in range(first, first + count)] == list(range(splits))
    rest = made.blocks([False] + [True] * (splits - 1))
    assert [index for first, count, _ in rest for index in range(first, first + count)] == list(range(1, splits))
    assert set(rest) - set(whole) <= {(1, whole[0].splits - 1, False)}


def test_training_learns_from_every_row() -> None:
    data = toy.dataset()
    trained = train(toy.cell(data=data))
    shares = np.bincount(data.table.cells("y")) / 40
    model: Any = trained.pipeline.model
    assert model.predict_proba(trained.rows.table)[0] == pytest.approx(shares)
    assert trained.pipeline.target_ == "y"


def test_training_that_is_refused_says_why(plugin: Path) -> None:
    with pytest.raises(FitError, match="cannot be learned"):
        train(toy.troubled("refuses", "always"))


def test_a_remembered_dataset_cannot_be_run() -> None:
    from mlcli.experiment.store.runs import dataset_from, facts_of_dataset

    remembered = dataset_from(facts_of_dataset(toy.dataset()))
    with pytest.raises(DataError, match="are not loaded"):
        prepare(replace(toy.cell(), dataset=remembered, planned=None))


def test_a_block_of_leave_one_out_does_not_hold_every_row_number_of_every_split() -> None:
    made = prepare(toy.cell(data=toy.dataset(rows=2000), protocol=ProtocolSpec("leave-one-out")))
    block = made.block(62, 62)
    assert len(pickle.dumps(block.splits)) < 100_000 < 62 * 2000 * 8
    assert [split.label for split in block.splits] == [made.splits[index].label for index in range(62, 124)]
    assert [split.label for split in block.splits[60:]] == [made.splits[122].label, made.splits[123].label]
    assert [result.index for result in evaluate(block).results] == list(range(62, 124))
