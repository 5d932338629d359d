"""Durations and sizes: as people write them, and as they are told."""

from __future__ import annotations

import pytest

from mlcli.core.names import bytes_in, duration, seconds_in, size


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (90, 90),
        (2.5, 2.5),
        ("90", 90),
        ("60s", 60),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("2 min", 120),
        ("1d", 86400),
    ],
)
def test_durations_are_seconds(written: object, seconds: float) -> None:
    assert seconds_in(written) == seconds


@pytest.mark.parametrize(
    ("written", "count"),
    [("4GiB", 4 * 2**30), ("500MB", 500_000_000), ("1.5 kb", 1500), ("1gib512mib", 1536 * 2**20)],
)
def test_sizes_are_bytes(written: str, count: int) -> None:
    assert bytes_in(written) == count


@pytest.mark.parametrize("written", [0, -1, True, None, "", "soon", "5 parsecs", "1h-", "nan", "inf", [3]])
def test_what_is_none_is_none(written: object) -> None:
    assert seconds_in(written) is None
    assert bytes_in(written) is None


def test_a_size_takes_a_unit() -> None:
    assert bytes_in(4) is None
    assert bytes_in("4") is None


def test_they_are_told_in_the_unit_that_suits_them() -> None:
    told = [duration(seconds) for seconds in (0.00123, 2, 59.94, 60, 3725, 86400, 100_000)]
    assert told == ["1.23 ms", "2 s", "59.9 s", "1 min", "1 h 02 min", "1 d", "1 d 03 h"]
    assert [size(count) for count in (17, 2**20, 1.5 * 2**30)] == ["17 B", "1 MiB", "1.5 GiB"]
