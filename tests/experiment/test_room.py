"""The room as a reader meets it."""

from __future__ import annotations

import re
from pathlib import Path

import mlcli.experiment


def test_the_map_of_the_room_names_every_file() -> None:
    named = set(re.findall(r"\w+", mlcli.experiment.__doc__ or ""))
    files = {path.stem for path in Path(mlcli.experiment.__file__).parent.glob("*.py")}
    assert files - {"__init__"} <= named
