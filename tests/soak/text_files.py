"""CSV files, sidecars and experiments that are spoilt: read, or refused in words, and soon."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from mlcli.core.errors import MlcliError
from mlcli.data import large_text, records
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from tests.soak.mutations import spoilt
from tests.soak.subject import BrokenPromiseError, answered, unbroken

READ_OR_REFUSED = (0, 2, 4, 5)
MOST_BYTES = 20_000
REFUSED = "refused"
SMALL_BLOCK = 500
DATASETS = ("weather_nominal", "labor", "iris", "wine", "cpu", "contact_lenses", "penguins", "zoo")


@dataclass
class CsvFiles:
    """Tables."""

    promise: str = (
        "A spoilt CSV file is read or refused in words (exit 4), in two ways alike: row by row, and by the pass "
        "that is for large files. What is read can be profiled, audited and learned from."
    )

    def prepare(self, folder: Path) -> None:
        """Nothing."""

    def attempt(self, folder: Path, rng: Random) -> None:
        """Spoil one of the shipped tables."""
        file = folder / "rows.csv"
        file.write_bytes(spoilt(_start_of(shipped_paths()[rng.choice(DATASETS)], rng), rng))
        self.hold(file)

    def hold(self, file: Path) -> None:
        """Whether the promise holds for a file."""
        plainly, by_blocks = _said_of(file, 1 << 30), _said_of(file, 0)
        if plainly != by_blocks:
            raise BrokenPromiseError(f"read in two ways: {plainly}\n\n{by_blocks}")
        if answered("data", str(file), codes=READ_OR_REFUSED).exit_code == 0:
            answered("audit", str(file), codes=READ_OR_REFUSED)
            answered("eval", str(file), "-m", "one-r", "-m", "knn", "-j", "1", codes=READ_OR_REFUSED)


@dataclass
class Sidecars:
    """What is said beside a table."""

    promise: str = "A spoilt sidecar is followed or refused in words (exit 4)."

    def prepare(self, folder: Path) -> None:
        """A table with a sidecar that says all it can."""
        (folder / "rows.csv").write_bytes(shipped_paths()["penguins"].read_bytes())

    def attempt(self, folder: Path, rng: Random) -> None:
        """Spoil a sidecar."""
        sidecar = shipped_paths()["penguins"].with_suffix(".yaml").read_bytes()
        (folder / "rows.yaml").write_bytes(spoilt(sidecar, rng))
        self.hold(folder / "rows.csv")

    def hold(self, file: Path) -> None:
        """Whether the promise holds for a table with a sidecar."""
        answered("data", str(file), codes=READ_OR_REFUSED)


@dataclass
class Experiments:
    """Experiment files."""

    promise: str = "A spoilt experiment file is planned, or refused in words (exit 3, of its datasets 4)."

    def prepare(self, folder: Path) -> None:
        """Nothing."""

    def attempt(self, folder: Path, rng: Random) -> None:
        """Spoil one of the experiments that come with mlcli."""
        shipped = sorted((Path(__file__).parents[2] / "experiments").glob("*.yaml"))
        file = folder / "experiment.yaml"
        file.write_bytes(spoilt(rng.choice(shipped).read_bytes(), rng))
        self.hold(file)

    def hold(self, file: Path) -> None:
        """Whether the promise holds for a file."""
        answered("run", str(file), "--dry-run", codes=(0, 3))


def _start_of(path: Path, rng: Random) -> bytes:
    """Some rows of a table, so that it is read in no time."""
    lines = path.read_bytes()[:MOST_BYTES].splitlines(keepends=True)
    return b"".join(lines[: rng.randint(5, 60)])


def _said_of(file: Path, large: int) -> object:
    """What is read of a file, if it is not refused; files are large from so many bytes on."""
    usual = records.LARGE, large_text.BLOCK
    records.LARGE, large_text.BLOCK = large, SMALL_BLOCK
    try:
        with unbroken("reading"):
            return _content_of(load(str(file)))
    except BrokenPromiseError as broken:
        if isinstance(broken.__cause__, MlcliError):
            return REFUSED
        raise
    finally:
        records.LARGE, large_text.BLOCK = usual


def _content_of(dataset: Dataset) -> object:
    return dataset.content, dataset.notes, [field.column.name for field in dataset.schema.fields]
