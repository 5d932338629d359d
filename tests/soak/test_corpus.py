"""What was ever found by soaking stays repaired, and a few attempts of each subject find nothing new."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.soak.run import SUBJECTS
from tests.soak.text_files import CsvFiles

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "corpus"
ATTEMPTS = {
    "CSV files": 12,
    "sidecars": 12,
    "experiment files": 6,
    "damaged model files": 40,
    "hostile model files": 60,
    "damaged stores": 1,
}


@pytest.mark.parametrize("file", sorted(CORPUS.glob("*.csv")), ids=lambda file: file.stem)
def test_a_table_that_was_found_is_read_or_refused(file: Path) -> None:
    CsvFiles().hold(file)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_some_attempts_break_nothing(tmp_path: Path, name: str) -> None:
    SUBJECTS[name].prepare(tmp_path)
    for number in range(ATTEMPTS[name]):
        SUBJECTS[name].attempt(tmp_path, Random(f"{name} {number}"))
