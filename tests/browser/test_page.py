"""A page in a real browser: nothing in its console, pictures there, readable narrow and wide, light and dark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mlcli.report.document import Document, GridCell, Heading, Notes, Preformatted, Sentence, grid
from mlcli.report.formats.html import html_of
from mlcli.report.page import Page
from tests.browser.chromium import Chromium, chromium
from tests.report.test_formats import PICTURES

WIDE = grid(
    ["model", *(f"metric-{number}" for number in range(14))],
    [[GridCell("a-model-of-some-name", "strong"), *[GridCell("*0.123 ±0.045", "best")] * 14]],
    right=range(1, 15),
)
SHADED = grid(
    ["true", "a", "b"],
    [[GridCell("a"), GridCell("9 (90 %)", "best", shade=0.9), GridCell("1 (10 %)", "bad", shade=0.1)]],
    right=(1, 2),
)
DOCUMENT: Document = (
    Heading("first: classification", 1),
    Sentence("A verdict that is much longer than a telephone is wide, and must be folded.", "strong"),
    WIDE,
    Heading("Matrix"),
    SHADED,
    Preformatted(("a line that keeps its breaks " * 8,)),
    Notes((("", "a note of some length " * 12),)),
    *(element for picture in PICTURES.values() for element in (Heading(picture.title), picture)),
    Heading("second: classification", 1),
)
SMALLEST = 6.5
"""Pixels of letters in pictures."""
WIDTHS = """[document.documentElement.scrollWidth, [...document.querySelectorAll('figure svg')].map(
    picture => picture.getBoundingClientRect()).filter(box => box.width > 100 && box.height > 20).length]"""
LETTERS = """Math.min(...[...document.querySelectorAll('svg text')].map(text => {
    const to = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(to.a, to.b); }))"""
CONTRAST = """(() => {
    const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(
        part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll('p, li, th, td.best, h1, a, svg text')].map(one => {
        const style = getComputedStyle(one), ink = light(one.closest('svg') ? style.fill : style.color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); })); })()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html_of(DOCUMENT, Page()), encoding="utf-8")
    with chromium() as opened:
        opened.open(path)
        yield opened


def test_nothing_is_in_its_console_and_nothing_is_fetched(browser: Chromium) -> None:
    assert browser.problems() == []
    assert browser.value("document.title") == "mlcli"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_it_is_readable(browser: Chromium, width: int, scheme: str) -> None:
    browser.look(width, scheme)
    needed, pictures = browser.value(WIDTHS)
    assert needed <= width
    assert pictures == len(PICTURES)
    assert browser.value(LETTERS) >= SMALLEST
    assert browser.value(CONTRAST) >= 4.5


def test_it_is_dark_where_the_screen_is(browser: Chromium) -> None:
    papers = []
    for scheme in ("light", "dark"):
        browser.look(1400, scheme)
        papers.append(browser.value("getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(255, 255, 255)", "rgb(20, 23, 28)"]
