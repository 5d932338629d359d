"""Layout: everything is shown, whatever the width, the encoding, and what users put into names."""

import re

import pytest

from mlcli.report.document import GridCell, Heading, Preformatted, Sentence, grid, notes
from mlcli.report.formats.text import coloured, text_of
from mlcli.report.page import Page, columns_of

MODELS = (
    "zero-r",
    "logistic-regression",
    "a model with a name that nobody would ever give to a model, but somebody did",
)
METRICS = ("accuracy", "balanced-accuracy", "f1-macro", "mcc", "log-loss", "auc")
SCORES = grid(
    ["model", *METRICS],
    [
        [GridCell(name, "strong"), *(f"0.{row}{place}1 ±0.025" for place in range(6))]
        for row, name in enumerate(MODELS)
    ],
    right=range(1, 7),
)


def words(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    lines = text_of((SCORES, Sentence("word " * 50), notes("a note " * 30)), Page(width)).splitlines()
    assert max(map(columns_of, lines)) <= width


@pytest.mark.parametrize("width", [40, 80, None])
def test_every_score_is_shown_whole(width: int | None) -> None:
    text = text_of((SCORES,), Page(width))
    for row in SCORES.rows:
        for cell in row[1:]:
            assert cell.text in text


def test_long_names_are_folded_and_not_shortened() -> None:
    text = text_of((grid(["", ""], [[MODELS[2], "x" * 100]]),), Page(40))
    assert words(text.replace("x", "")) == words(MODELS[2])
    assert text.count("x") == 100


def test_a_grid_that_is_cut_repeats_its_names() -> None:
    assert text_of((SCORES,), Page(80)).count("zero-r") == 2
    assert text_of((SCORES,), Page(None)).count("zero-r") == 1


def test_a_file_gets_one_line_per_row() -> None:
    assert len(text_of((SCORES,), Page(None)).splitlines()) == 2 + 1 + len(MODELS)


def test_wide_characters_are_counted_by_the_columns_they_take() -> None:
    lines = text_of((grid(["class", "n"], [["日本語", "1"], ["abc", "2"]], right=[1]),), Page(80)).splitlines()
    assert {columns_of(line) for line in lines} == {columns_of("日本語") + 2 + 1}


def test_control_characters_are_shown_and_not_obeyed() -> None:
    text = text_of((grid(["class"], [["\x1b[31mred\x1b[0m\n\tnext"]]),), Page(80))
    assert "\x1b" not in text
    assert r"\x1b[31mred\x1b[0m\n\tnext" in text


def test_long_lines_go_on_further_in() -> None:
    tree = Preformatted(("|   |   " + "a > 1 and " * 12 + "b",))
    lines = text_of((tree,), Page(60)).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("|   |   a > 1")
    assert all(line.startswith("|   |       ") for line in lines[1:])
    assert text_of((tree,), Page(None)).splitlines() == list(tree.lines)


def test_ascii_terminals_get_ascii() -> None:
    text = text_of((Heading("größe", 1), SCORES, Preformatted(("≤ 3 → yes",))), Page(80, "ascii"))
    assert text.isascii()
    assert "0.001 +/-0.025" in text
    assert "<= 3 -> yes" in text


def test_latin_1_keeps_what_it_has() -> None:
    assert text_of((Sentence("größe ± 1 → 2"),), Page(80, "latin-1")) == "größe +/- 1 -> 2\n"


DOCUMENT = (Heading("iris", 1), SCORES, Sentence("A sentence."), notes("a note"), Preformatted(("  kept",)))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_colour_changes_no_text(width: int) -> None:
    painted = text_of(DOCUMENT, Page(width), coloured)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", painted)
    assert [line.rstrip() for line in plain.splitlines()] == text_of(DOCUMENT, Page(width)).splitlines()


def test_colour_ends_with_its_cell() -> None:
    for line in text_of(DOCUMENT, Page(80), coloured).splitlines():
        assert line.count("\x1b[0m") * 2 == line.count("\x1b[")


def test_what_looks_like_markup_is_text() -> None:
    document = (
        Heading("[/red]"),
        grid(["[bold]"], [["[/red] :smile: [link=x]"]]),
        Sentence("[/]"),
        notes("[/dim]"),
    )
    text = text_of(document, Page(80), coloured)
    for markup in ("[/red]", "[bold]", "[/red] :smile: [link=x]", "[/]", "[/dim]"):
        assert markup in text
