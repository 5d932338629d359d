"""The m-estimate with prior probabilities of the user's own: (n + m p) / (N + m), by hand on the weather data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.shell import document, typed

OUTLOOK = "level_priors={outlook: {overcast: 0.5, rainy: 0.2, sunny: 0.3}}"
SETTINGS = ("weather_nominal", "-m", "naive-bayes", "-p", "smoothing=m-estimate", "-p", "m=2")


def shares_of(column: str, *more: str, folder: Path) -> dict[str, list[float]]:
    """The shares of each level in the classes yes and no that ``train`` prints."""
    trained = typed("train", *SETTINGS, *more, "-o", str(folder / "m.mlcli"), "--json")
    assert trained.exit_code == 0, trained.output
    tables = [table for table in document(trained)["findings"] if table["title"].startswith(f"P({column} ")]
    return {level: numbers for level, *numbers in tables[0]["rows"]}


def test_own_priors_replace_equal_ones(tmp_path: Path) -> None:
    """5 days without play: overcast 0, rainy 2, sunny 3; 9 with: 4, 3, 2."""
    shares = shares_of("outlook", "-p", OUTLOOK, folder=tmp_path)
    assert shares["overcast"] == pytest.approx([(4 + 2 * 0.5) / 11, (0 + 2 * 0.5) / 7])
    assert shares["rainy"] == pytest.approx([(3 + 2 * 0.2) / 11, (2 + 2 * 0.2) / 7])
    assert shares["sunny"] == pytest.approx([(2 + 2 * 0.3) / 11, (3 + 2 * 0.3) / 7])


def test_columns_without_own_priors_keep_equal_ones(tmp_path: Path) -> None:
    """Windy on 3 of 9 days with play, on 3 of 5 without: (3 + 2 / 2) / (9 + 2), and so on."""
    shares = shares_of("windy", "-p", OUTLOOK, folder=tmp_path)
    assert np.array(sorted(shares.values())) == pytest.approx(np.array([[4 / 11, 4 / 7], [7 / 11, 3 / 7]]))


def test_leave_one_out_takes_them_too(tmp_path: Path) -> None:
    words = ("eval", *SETTINGS, "-p", OUTLOOK, "--protocol", "leave-one-out", "--json")
    fast = document(typed(*words, "--store", str(tmp_path / "a.db")))
    plain = document(typed(*words, "--no-shortcut", "--store", str(tmp_path / "b.db")))
    assert [cell["metrics"] for cell in fast["cells"]] == [cell["metrics"] for cell in plain["cells"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{outlook: {overcast: 0.5, rainy: 0.2, sunny: 0.4}}", "must add up to 1"),
        ("{outlook: {overcast: 0.5, rainy: 0.5}}", "has no probability for sunny"),
        ("{outlook: {overcast: 0.5, rainy: 0.2, suny: 0.3}}", "has no level 'suny'"),
        ("{outlok: {overcast: 1}}", "there is no column 'outlok' with levels"),
        ("{outlook: 0.5}", "needs a probability for each level"),
    ],
)
def test_wrong_priors_are_refused_with_their_place(given: str, message: str, tmp_path: Path) -> None:
    refused = typed("train", *SETTINGS, "-p", f"level_priors={given}", "-o", str(tmp_path / "m.mlcli"))
    assert refused.exit_code not in (0, 1)
    assert message in " ".join(refused.output.split())
