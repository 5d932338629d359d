"""Every format renders every block and loses no word of it; strict readers take CSV and Markdown apart again."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from html import unescape

import pytest

from mlcli.core.errors import UsageError
from mlcli.core.findings import (
    Bars,
    Boxplots,
    Cloud,
    Confusions,
    CriticalDifference,
    Curve,
    Dendrogram,
    Graph,
    Histogram,
    Points,
    Regions,
    Tree,
)
from mlcli.report.document import (
    Content,
    Document,
    Grid,
    GridCell,
    Heading,
    Legend,
    Notes,
    Picture,
    Preformatted,
    Sentence,
    grid,
)
from mlcli.report.figures import FIGURES
from mlcli.report.formats import RENDERED, known_format, renderer_of
from mlcli.report.formats.html import fragment_of
from mlcli.report.formats.latex import COMMANDS
from mlcli.report.page import Page
from tests.support.shell import document, typed

ROWS: list[list[Content]] = [["zero-r", GridCell("0.5|0.6", "best")], ["a, b", GridCell("", heights=(0.0, 1.0))]]
DOCUMENT: Document = (
    Heading("iris: *all* of_it", 1),
    Sentence("- no list", "weak"),
    Sentence("clearly", "strong"),
    grid(["model", "score"], ROWS, right=[1]),
    Heading("tree"),
    Preformatted(("x <= 3", "|   y: red")),
    Notes((("!", "no spread"), ("", "a remark"))),
)
PLANE = (0.0, 1.0), (0.0, 1.0)
PICTURES: dict[str, Picture] = {
    "weight": Bars("bars", ("column", "weight"), ("x", "y"), (1.0, 2.0)),
    "loss": Curve("curve", "round", (1.0, 2.0), (("loss", (3.0, 1.0)),)),
    "length": Histogram("histogram", "length", (0.0, 1.0, 2.0), (("all", (3.0, 4.0)),)),
    "petals": Points("points", "petals", "sepals", (("a", ((1.0, 2.0), (2.0, 3.0))), ("b", ((1.5, 1.0),)))),
    "wide": Boxplots("boxes", "width", (("wide", (1.0, 2.0, 3.0, 4.0, 5.0)),), (0,)),
    "deep": Cloud("cloud", ("far", "high", "deep"), (("a", ((1.0, 2.0, 3.0),)), ("b", ((1.5, 1.0, 2.0),)))),
    "across": Regions("regions", "across", "up", *PLANE, ((0.0, 1.0), (1.0, 1.0)), ("a", "b"), (("a", ()),)),
    "height of h": Regions("numbers", "height of h", "up", *PLANE, ((0.0, 0.5), (0.7, 1.0)), (), ()),
    "a-class": Confusions("many", ("a-class", "b"), ((3.0, 1.0), (0.0, 2.0))),
    "the first": Dendrogram("merges", ("the first", "b"), ((0, 1),), (1.0,)),
    "a node": Graph("graph", ("a node", "b"), ((0, 1),), True),
    "critical difference 0.9": CriticalDifference("ranks", ("a", "b"), (1.25, 1.75), 0.9, ((0, 1),)),
    "x <= 1": Tree("tree", (0, 1, 1), ("", "x <= 1", "x > 1"), ("a", "a", "b"), (0.5, 1.0, 1.0), (4.0, 2.0, 2.0)),
}
"""Each by words that stand in it."""


def rendered(format: str, shown: Document = DOCUMENT) -> str:
    return renderer_of(format)(shown, Page())


def read(format: str, document: Document) -> str:
    """What a reader sees, who knows the signs of a format."""
    shown = rendered(format, document)
    if format == "html":
        return unescape(re.sub(r"<[^>]+>", "", shown))
    if format == "latex":
        for sign, command in sorted(COMMANDS.items(), key=lambda item: -len(item[1])):
            shown = shown.replace(command, sign)
    return re.sub(r"\\(.)", r"\1", shown) if format == "markdown" else shown


def cells_of_markdown(line: str) -> Sequence[str]:
    """The cells of a row as a reader of GitHub's tables finds them."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("format", RENDERED)
def test_every_word_is_there_in_the_order_of_the_document(format: str) -> None:
    rest = read(format, DOCUMENT)
    if format == "csv":  # names of columns stand first
        header, _, rest = rest.partition("\n")
        rest = rest.replace("clearly", "clearly model")
        assert header == "section,text,model,score"
    for word in (
        "all",
        "no list",
        "clearly",
        "model",
        "zero-r",
        "0.5|0.6",
        "tree",
        "x <= 3",
        "y: red",
        "no spread",
    ):
        _, found, rest = rest.partition(word)
        assert found, f"{word} is not there, or not in its place"
    assert "a remark" in rest


@pytest.mark.parametrize("mark", PICTURES)
@pytest.mark.parametrize("format", RENDERED)
def test_every_picture_is_drawn(format: str, mark: str) -> None:
    assert mark in read(format, (PICTURES[mark],))


@pytest.mark.parametrize("mark", PICTURES)
def test_a_notebook_has_every_picture_in_its_own_colours(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = fragment_of((PICTURES[mark],), Page())
    assert mark in unescape(shown)
    assert "<svg" in shown
    assert not re.findall(r"var\(--\w+\)", shown)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # Python's own sign that there is no such module
    assert "<svg" not in fragment_of((PICTURES[mark],), Page())


def test_every_kind_of_picture_is_here_and_has_a_figure() -> None:
    pictures = {type(picture) for picture in PICTURES.values()}
    assert pictures == set(Picture.__subclasses__()) == set(FIGURES) - {Grid}


@pytest.mark.parametrize("format", RENDERED)
def test_no_control_character_gets_through(format: str) -> None:
    shown = read(format, (Sentence("a\x1b[31m"), grid(["b\x07"], [["c\nd"]]), Preformatted(("e\x1b",))))
    assert not set(shown) & {"\x1b", "\x07"}
    assert "c\\nd" in shown


def test_csv_is_one_table_with_the_columns_of_all_tables() -> None:
    two = (*DOCUMENT, grid(["model", ""], [["lda", "x"]]))
    rows = list(csv.DictReader(rendered("csv", two).splitlines(), strict=True))
    title = "iris: *all* of_it"
    assert [(row["section"], row["model"], row["score"], row["column 2"]) for row in rows if row["model"]] == [
        (title, "zero-r", "0.5|0.6", ""),
        (title, "a, b", "▁█", ""),
        (f"{title}: tree", "lda", "", "x"),
    ]
    assert [row["text"] for row in rows if row["text"]] == [
        *("- no list", "clearly", "x <= 3", "|   y: red", "! no spread", "a remark")
    ]


def test_scores_are_numbers_in_csv() -> None:
    scores = grid(
        ["model", "auc"], [["a", GridCell("0.9", "best", mark="*", reach="0.1")], ["b", "undefined"]], right=[1]
    )
    legend = Legend((("*", "best of its column"), ("±", "half-width of the 95 % confidence interval")))
    shown = read("csv", (scores, legend)).splitlines()
    assert shown == [
        *("text,model,auc,auc ±", ",a,0.9,0.1", ",b,undefined,", "± half-width of the 95 % confidence interval,,,")
    ]


def test_markdown_has_tables_whose_rows_are_as_long_as_their_header() -> None:
    lines = [line for line in rendered("markdown").splitlines() if line.startswith("|") and "y: red" not in line]
    assert [cells_of_markdown(line) for line in lines] == [
        ["model", "score"],
        ["---", "---:"],
        ["zero-r", "**0.5|0.6**"],
        ["a, b", "▁█"],
    ]


def test_latex_has_rules_of_booktabs_and_the_best_in_bold() -> None:
    shown = rendered("latex", (grid(["a_b", "±"], [["5 %", GridCell("*-0.5 ≤ Λᵢ", "best")]], right=[1]),))
    assert shown.splitlines()[2:] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a\_b & $\pm$ \\",
        r"\midrule",
        r"5 \% & \textbf{*$-$0.5 $\leq$ $\Lambda$$_{i}$} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_latex_draws_no_dash_in_the_place_of_two_hyphens() -> None:
    assert rendered("latex", (Sentence("say --tune"),)).splitlines()[-1] == "say -{}-tune"


def test_markdown_takes_no_text_for_markup() -> None:
    lines = rendered("markdown").splitlines()
    assert lines[0] == r"# iris: \*all\* of\_it"
    assert r"\- no list" in lines
    assert "**clearly**" in lines


def test_an_unknown_format_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="there is no format 'cvs'") as refused:
        known_format("cvs")
    assert "csv" in str(refused.value)


@pytest.mark.parametrize(
    "words", [("models",), ("models", "knn"), ("data",), ("data", "iris"), ("eval", "iris", "-m", "zero-r")]
)
def test_commands_print_in_every_format(words: tuple[str, ...]) -> None:
    printed = {typed(*words, "--format", format).stdout for format in RENDERED}
    assert len(printed) == len(RENDERED)
    assert document(typed(*words, "--format", "json")).keys() == document(typed(*words, "--json")).keys()
    refused = typed(*words, "--format", "nosuch")
    assert (refused.exit_code, refused.stdout) == (2, "")
