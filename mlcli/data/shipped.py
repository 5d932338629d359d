"""The datasets that come with mlcli: where they lie, and what each is in one line; no CSV is read here."""

from __future__ import annotations

from pathlib import Path

from mlcli.core.errors import DataError
from mlcli.core.strict_yaml import read


def datasets_folder() -> Path:
    """The folder of the shipped datasets: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def shipped_paths() -> dict[str, Path]:
    """The CSV file of each shipped dataset, by name."""
    return {path.stem: path for path in sorted(datasets_folder().glob("*.csv"))}


def shipped() -> dict[str, str]:
    """The shipped datasets with one line each, from their sidecars."""
    return {name: _summary(path.with_suffix(".yaml")) for name, path in shipped_paths().items()}


def shipped_path(name: str) -> Path | None:
    """The CSV file of a shipped dataset; hyphens, underscores and capitals do not matter."""
    plain = {_plain(known): path for known, path in shipped_paths().items()}
    return plain.get(_plain(name))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _summary(sidecar: Path) -> str:
    return str(read(sidecar, DataError).value.get("summary", "")) if sidecar.is_file() else ""
