"""Steps are inserted from what a model accepts and what the columns are, around those that are given."""

from __future__ import annotations

from typing import Any

import pytest

from mlcli.core.configuration import missing_steps
from mlcli.core.model import Step
from mlcli.core.schema import Accepts, Column
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.ordinal import Ordinal
from mlcli.prepare.pca import PrincipalComponents
from mlcli.prepare.standardise import Standardise

NUMBER, NUMBER_WITH_GAPS = Column("n"), Column("g", missing=True)
COLOUR, COLOUR_WITH_GAPS = (
    Column("c", "nominal", ("b", "r", "y")),
    Column("d", "nominal", ("b", "r"), missing=True),
)
SIZE = Column("s", "ordinal", ("low", "mid", "high"))
OLD = Column("o", "boolean", ("no", "yes"))

NOTHING = Accepts()
ALL = Accepts(nominal=True, missing=True)
SCALED = Accepts(prefers_scaled=True)


def ids(accepts: Accepts, columns: list[Column], given: list[Step] | None = None) -> list[str]:
    return [step.id for step in missing_steps(accepts, columns, given)]


@pytest.mark.parametrize(
    ("accepts", "columns", "expected"),
    [
        (ALL, [NUMBER_WITH_GAPS, COLOUR_WITH_GAPS, SIZE], []),
        (NOTHING, [NUMBER], []),
        (NOTHING, [NUMBER_WITH_GAPS], ["impute"]),
        (NOTHING, [COLOUR], ["one-hot"]),
        (NOTHING, [OLD], ["one-hot"]),
        (NOTHING, [SIZE], ["ordinal"]),
        (NOTHING, [SIZE, COLOUR], ["ordinal", "one-hot"]),
        (NOTHING, [NUMBER, COLOUR_WITH_GAPS], ["impute", "one-hot"]),
        (Accepts(nominal=True), [COLOUR_WITH_GAPS], ["impute"]),
        (Accepts(missing=True), [NUMBER_WITH_GAPS, SIZE], ["ordinal"]),
        (SCALED, [NUMBER], ["standardise"]),
        (SCALED, [COLOUR], ["one-hot"]),
        (SCALED, [NUMBER_WITH_GAPS, SIZE, COLOUR], ["impute", "standardise", "ordinal", "one-hot"]),
        (SCALED, [], []),
    ],
)
def test_what_is_missing_is_inserted(accepts: Accepts, columns: list[Column], expected: list[str]) -> None:
    assert ids(accepts, columns) == expected


def test_numbers_are_not_scaled_when_the_user_wants_no_steps() -> None:
    assert ids(SCALED, [NUMBER], []) == []
    assert ids(SCALED, [NUMBER_WITH_GAPS, COLOUR], []) == ["impute", "one-hot"]


@pytest.mark.parametrize(
    ("given", "columns", "expected"),
    [
        ([Standardise()], [NUMBER_WITH_GAPS, COLOUR], ["impute", "standardise", "one-hot"]),
        ([Impute()], [NUMBER_WITH_GAPS, COLOUR_WITH_GAPS], ["impute", "one-hot"]),
        ([Standardise(), Impute()], [NUMBER_WITH_GAPS], ["standardise", "impute"]),
        ([OneHot()], [COLOUR, SIZE], ["one-hot"]),
        ([OneHot()], [NUMBER_WITH_GAPS, COLOUR], ["impute", "one-hot"]),
        ([Ordinal(columns=("*",))], [COLOUR, OLD, SIZE], ["ordinal"]),
        ([Ordinal()], [COLOUR, SIZE], ["ordinal", "one-hot"]),
        ([PrincipalComponents()], [NUMBER, OLD], ["one-hot", "pca"]),
        ([PrincipalComponents()], [NUMBER_WITH_GAPS, SIZE], ["impute", "ordinal", "pca"]),
        ([PrincipalComponents()], [COLOUR_WITH_GAPS], ["impute", "one-hot", "pca"]),
        ([Standardise(), PrincipalComponents()], [NUMBER, COLOUR], ["standardise", "one-hot", "pca"]),
        ([Impute(), PrincipalComponents()], [NUMBER_WITH_GAPS], ["impute", "pca"]),
        ([Impute(levels="own-value")], [Column("s", "ordinal", ("a", "b"), missing=True)], ["impute", "one-hot"]),
    ],
)
def test_given_steps_keep_their_order_and_what_they_do_is_not_done_again(
    given: list[Any], columns: list[Column], expected: list[str]
) -> None:
    steps = missing_steps(NOTHING, columns, given)
    assert [step.id for step in steps] == expected
    assert [step for step in steps if any(step is own for own in given)] == given


def test_a_step_gets_what_it_needs_before_a_model_that_takes_everything() -> None:
    steps = missing_steps(ALL, [NUMBER_WITH_GAPS, COLOUR], [PrincipalComponents()])
    assert [step.id for step in steps] == ["impute", "one-hot", "pca"]


def test_every_step_is_new_each_time() -> None:
    first, second = missing_steps(SCALED, [NUMBER], None), missing_steps(SCALED, [NUMBER], None)
    assert first[0] is not second[0]


@pytest.mark.parametrize(("own_level", "levels"), [(True, "auto"), (False, "most-frequent")])
def test_gaps_become_a_level_only_before_methods_that_learn_answers(own_level: bool, levels: str) -> None:
    often = Column("e", "nominal", ("b", "r"), missing=True, often_missing=True)
    (filling, _) = missing_steps(NOTHING, [often], None, own_level=own_level)
    assert isinstance(filling, Impute)
    assert filling.levels == levels
