"""Short ways to fit a model and ask it, for golden cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.pipeline import learn, predict_rows


def fitted(model: Any, data: Any, seed: int = 1) -> Any:
    """The model after learning from rows."""
    learn(model, data, np.random.default_rng(seed))
    return model


def asked(model: Any, data: Any) -> Any:
    """What a fitted model says of rows."""
    return predict_rows(model, data)


def answered(model: Any, data: Any) -> Any:
    """What the model says of the rows that it learned from."""
    return asked(fitted(model, data), data)


def right_by_leave_one_out(model: Any, data: Any) -> int:
    """How many rows are answered right by the model that learned from all others."""
    right = 0
    for row in range(len(data)):
        others = np.delete(np.arange(len(data)), row)
        answers = asked(fitted(model.fresh(), data.take(others)), data.take(np.array([row])))
        right += int(answers.predicted[0] == answers.truth[0])
    return right
