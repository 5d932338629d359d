"""Small files for the tests of the data room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset
from mlcli.data.load import load

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes ``my.csv`` and, if given, its sidecar; the path of the CSV file."""

    def written(text: str | bytes, sidecar: str | None = None, name: str = "my.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        if sidecar is not None:
            path.with_suffix(".yaml").write_text(sidecar, encoding="utf-8")
        return path

    return written


@pytest.fixture
def loaded(write: Write) -> Callable[..., Dataset]:
    """Writes and loads at once."""

    def made(text: str | bytes, sidecar: str | None = None, **options: str) -> Dataset:
        return load(str(write(text, sidecar)), **options)  # type: ignore[arg-type]

    return made


@pytest.fixture
def refused(write: Write) -> Callable[..., list[str]]:
    """Writes, fails to load, and gives each problem as "place: what", without the folder."""

    def made(text: str | bytes, sidecar: str | None = None, **options: str) -> list[str]:
        path = write(text, sidecar)
        with pytest.raises(DataError) as caught:
            load(str(path), **options)  # type: ignore[arg-type]
        return [
            f"{problem.where}: {problem.what}".replace(f"{path.parent}/", "") for problem in caught.value.problems
        ]

    return made
