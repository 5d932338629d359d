"""Stored answers as a data frame: a row for each judged row, classes by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.metrics.pooling import joined
from mlcli.report.scored import Scored, judged

if TYPE_CHECKING:
    import pandas as pd

CODED = ("truth", "predicted")
"""Answers that are codes where there are classes."""


def frame_of(one: Scored) -> pd.DataFrame:
    """The answers of all splits, in the order of the splits."""
    import pandas as pd

    splits = judged(one.result)
    if not splits:
        return pd.DataFrame({"row": [], "split": []})
    answers, lengths = joined(splits), [len(split) for split in splits]
    classes = tuple(getattr(answers, "classes", ()))
    columns: dict[str, Any] = {"row": answers.rows, "split": np.repeat(np.arange(len(splits)), lengths)}
    for name, cells in answers.arrays().items():
        if "." in name or len(cells) != len(answers):
            continue
        if name == "probabilities":
            columns |= {f"p({label})": cells[:, place] for place, label in enumerate(classes)}
        elif cells.ndim == 1:
            columns[name] = np.array([*classes, None], dtype=object)[cells] if name in CODED and classes else cells
    return pd.DataFrame(columns)
