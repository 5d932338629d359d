"""Pictures drawn with characters: to scale, within the page, and nowhere else than here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mlcli
from mlcli.core.findings import (
    Bars,
    CriticalDifference,
    Curve,
    Dendrogram,
    Finding,
    Graph,
    Histogram,
    Points,
    Tree,
)
from mlcli.report.characters import drawn
from mlcli.report.document import GridCell, explained, grid
from mlcli.report.formats.text import text_of
from mlcli.report.page import Page, columns_of, height
from mlcli.scoring.plots import histogram

SCREE = Bars("Scree", ("component", "variance", "share"), ("1", "2", "3"), (4.0, 2.0, 0.01), ((0.6, 0.3, 0.0),))
SCORES = Histogram("", "score", (0.0, 1.0, 2.0, 3.0), (("good", (8.0, 1.0, 0.0)), ("bad", (0.0, 1.0, 0.0))))
LOSS = Curve("", "rounds", (1.0, 5.0, 10.0), (("training", (1.0, 0.5, 0.0)), ("held aside", (1.0, None, 0.5))))
MERGES = Dendrogram("", ("row 1", "row 2", "row 3"), ((0, 1), (2, 3)), (1.0, 3.0))
CLOSE = Dendrogram("", ("row 1", "row 2", "row 3", "row 4"), ((0, 1), (2, 4), (3, 5)), (1.0, 1.001, 3.0))
PLAY = Tree(
    "Tree",
    (0, 1, 1, 2, 2),
    ("", "outlook = overcast", "outlook ≠ overcast", "windy = TRUE", "windy = FALSE"),
    ("yes", "yes", "no", "no", "yes"),
    (9 / 14, 1.0, 0.5, 0.75, 1.0),
    (14.0, 4.0, 10.0, 4.0, 6.0),
)
PLANE = Points(
    "", "x", "y", (("a", ((0.0, 0.0), (4.0, 30.0), (float("nan"), 1.0))), ("b", ((4.0, 0.0), (0.0, 0.0))))
)
RANKS = CriticalDifference(
    "Mean ranks", ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"), (1.964, 2.0, 2.893, 3.143), 1.0, ((0, 1, 2), (1, 2))
)
EVERY: tuple[Finding, ...] = (RANKS, SCREE, SCORES, LOSS, PLANE, MERGES, CLOSE, PLAY)
BLOCK_CHARACTERS = re.compile("[▀-▟─-╿]")


def lines(picture: Finding, width: int | None = None, encoding: str = "utf-8") -> list[str]:
    return text_of(explained([picture]), Page(width, encoding)).splitlines()


def test_bars_are_as_long_as_their_values_and_none_is_invisible() -> None:
    drawn = [line.split()[-1] for line in lines(SCREE)[3:]]
    assert [len(bar) for bar in drawn] == [40, 20, 1]


def test_mean_ranks_lie_at_scale_with_a_bar_beside_those_that_are_alike() -> None:
    _, scale, *models, ruler = lines(RANKS)
    left, right = scale.index("1"), scale.index("4")
    places = [left + round((rank - 1) / 3 * (right - left)) for rank in RANKS.ranks]
    assert [line.index("o", len("C4.5+m+cf") + 7) for line in models] == places
    assert [line[right + 1 :].split() for line in models] == [["│"], ["│", "│"], ["│", "│"], []]
    assert len(ruler.split(" critical")[0].strip()) == 1 + round((right - left) / 3)
    assert ruler.endswith("critical difference 1")


def test_a_histogram_has_a_column_for_each_name_and_a_bar_for_all() -> None:
    assert [line.split() for line in lines(SCORES)[2:]] == [
        ["0", "8", "█" * 40],
        ["1", "1", "1", "█" * 10],
        ["2"],
    ]


def test_a_curve_shows_both_ends_and_what_lies_between() -> None:
    header, _, *drawn = lines(LOSS)
    assert header.split("  ")[0] == "rounds"
    assert [at for at in ("at 1", "at 10") if at in header] == ["at 1", "at 10"]
    assert drawn[0].split() == ["training", "1.000", "█▅▁", "0.000"]
    assert drawn[1].split() == ["held", "aside", "1.000", "█", "▅", "0.500"]


def test_a_long_curve_has_the_heights_of_points_at_equal_distances() -> None:
    epochs = tuple(map(float, range(1, 501)))
    _, _, line = lines(Curve("", "epoch", epochs, (("training", epochs),)))[-3:]
    name, first, shape, last = line.split()
    assert (name, first, last) == ("training", "1", "500")
    assert (len(shape), shape[0], shape[-1], sorted(shape)) == (60, "▁", "█", list(shape))


def test_a_dendrogram_is_drawn_to_scale() -> None:
    """Rows 0, 1 and 4 by single linkage: merges at heights 1 and 3, of a width of 48."""
    assert lines(MERGES) == [
        "row 1 " + "─" * 16 + "┐",
        "      " + " " * 16 + "├" + "─" * 31 + "┐",
        "row 2 " + "─" * 16 + "┘" + " " * 31 + "┤",
        "      " + " " * 48 + "│",
        "row 3 " + "─" * 48 + "┘",
    ]


def test_a_merge_is_never_drawn_on_top_of_its_part() -> None:
    """Heights 1 and 1.001 of 3: the second stands one column to the right of the first."""
    assert [line[6:24] for line in lines(CLOSE)[:3]] == [
        "─" * 16 + "┐",
        " " * 16 + "├┐",
        "─" * 16 + "┘├",
    ]


@pytest.mark.parametrize(("directed", "read"), [(True, "leads to"), (False, "is joined with")])
def test_a_graph_has_a_lane_for_each_node_that_leads_further_down(directed: bool, read: str) -> None:
    """Cloudy leads to both, both to wet, wet to none; the lane of cloudy is free again behind rain."""
    arrows = ((0, 1), (0, 2), (1, 3), (2, 3), (3, 4))
    assert lines(Graph("", ("cloudy", "sprinkler", "rain", "wet", "mud"), arrows, directed)) == [
        "cloudy     ─○",
        "sprinkler  ─●─○",
        "rain       ─●─┼─○",
        "wet        ─○─●─●",
        "mud        ─●",
        "",
        f"○ {read} each ● of its column",
    ]


def test_merges_without_height_are_drawn_side_by_side() -> None:
    flat = Dendrogram("", ("a", "b", "c"), ((0, 1), (2, 3)), (0.0, 0.0))
    assert [line[0] for line in lines(flat)[::2]] == ["a", "b", "c"]


def test_a_tree_is_indented_and_its_leaves_answer() -> None:
    assert lines(PLAY)[1:] == [
        "outlook = overcast: yes (4)",
        "outlook ≠ overcast",
        "|   windy = TRUE: no 75% (4)",
        "|   windy = FALSE: yes (6)",
    ]
    assert lines(Tree("", (0,), ("",), ("no",), (1.0,), (3.0,))) == ["no (3)"]


def test_a_large_tree_is_cut() -> None:
    stairs = Tree("", (0, *[1] * 70), ("", *map(str, range(70))), ("a",) * 71, (1.0,) * 71, (1.0,) * 71)
    assert len(lines(stairs)) == 61
    assert lines(stairs)[-1] == "… and 10 more lines"


@pytest.mark.parametrize("picture", EVERY)
@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_picture_is_wider_than_the_page(picture: Finding, width: int) -> None:
    assert max(map(columns_of, lines(picture, width))) <= width


@pytest.mark.parametrize("picture", EVERY)
def test_ascii_pages_get_pictures_of_ascii(picture: Finding) -> None:
    text = "\n".join(lines(picture, encoding="ascii"))
    assert text.isascii()
    assert "\\u" not in text


def test_points_stand_at_the_ends_of_their_plane_and_the_last_group_is_seen() -> None:
    top, *others = lines(PLANE, 30)
    assert top == "30│" + " " * 26 + "."
    assert others[14] == " 0│o" + " " * 25 + "o"
    assert others[16:] == ["   0" + " " * 25 + "4", "   upwards: y; across: x", "   . a, o b"]
    assert lines(Points("", "x", "y", (("a", ()),))) == ["no points"]


def test_heights_go_from_the_lowest_to_the_highest() -> None:
    assert "".join(map(height, (0.0, 0.001, 0.5, 1.0, np.nan))) == "▁▂▅█ "


def test_a_cell_may_be_a_small_picture() -> None:
    table = grid(["column", "distribution"], [["x", GridCell("", heights=(0.0, 1.0))]])
    assert text_of((table,), Page(None)).splitlines()[-1] == "x       ▁█"


def test_nothing_is_drawn_outside_the_report() -> None:
    home = Path(mlcli.__file__).parent
    files = (file for file in home.rglob("*.py") if file.relative_to(home).parts[0] != "report")
    assert [str(file) for file in files if BLOCK_CHARACTERS.search(file.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "numbers", [[1e30] * 5, [1e17, 1e17 + 16], [1e308, -1e308], [5e-324, 0.0], [2.0] * 3, [np.nan]]
)
def test_numbers_that_are_all_but_equal_or_huge_have_a_histogram(numbers: list[float]) -> None:
    picture = histogram("", "x", [("rows", np.array(numbers))])
    assert np.all(np.diff(picture.edges) >= 0)
    assert sum(picture.counts[0][1]) == np.isfinite(numbers).sum()
    drawn(picture, 80)
