"""Single items on the weather table: the counts of SOURCES.md, section 1.2, and a lift of 1."""

from __future__ import annotations

import pytest

from mlcli.metrics.registry import metric_named
from mlcli.models.association.single_items import SingleItems
from tests.golden.asking import asked, fitted
from tests.support.baskets import drawn, halves, shipped


def test_it_expects_the_most_frequent_items_of_the_weather() -> None:
    model = fitted(SingleItems(min_support=0.5), shipped("weather_nominal"))
    names = model.item_names()
    found = {names[rule.then[0]]: rule.support for rule in model.rules()}
    counts = {"play=yes": 9, "windy=FALSE": 8, "humidity=high": 7, "humidity=normal": 7}
    assert found == pytest.approx({name: count / 14 for name, count in counts.items()})
    assert list(found) == list(counts)


def test_its_lift_is_1_on_any_rows() -> None:
    train, test = halves(drawn())
    answers = asked(fitted(SingleItems(), train), test)
    assert metric_named("lift", type(answers)).compute(answers) == pytest.approx(1.0, abs=1e-12)
    assert set(answers.when) == {"(always)"}
