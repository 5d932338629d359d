"""Pictures as SVG in a page, and as files of SVG, PNG or PDF.

matplotlib comes with the extra ``mlcli[report]``; it is imported where a picture is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from mlcli.core import findings
from mlcli.core.files import replacing
from mlcli.report.document import Document, Element, Grid, Heading, Picture
from mlcli.report.page import Page
from mlcli.report.pictures import figures
from mlcli.report.pictures.figures import COLOURS, FAINT, INK

FIGURES: dict[type[Any], Callable[[Any], Figure]] = {
    findings.Bars: figures.bars,
    findings.Boxplots: figures.boxplots,
    findings.Cloud: figures.cloud,
    findings.Confusions: figures.confusions,
    findings.Curve: figures.curve,
    findings.Histogram: figures.histogram,
    findings.Points: figures.points,
    findings.Regions: figures.regions,
    Grid: figures.shaded,
    findings.Dendrogram: figures.dendrogram,
    findings.Graph: figures.graph,
    findings.Tree: figures.tree,
    findings.CriticalDifference: figures.critical_difference,
}
"""What draws each kind of picture, and a table that is shaded."""

VARIABLES = {INK: "currentColor", FAINT: f"var(--faint, {FAINT})"} | {
    colour: f"var(--c{index}, {colour})" for index, colour in enumerate(COLOURS)
}
"""What stands for a colour in a page, which has others where it is dark; in a notebook it is itself."""
STYLE: Any = {
    "font.size": 9, "svg.fonttype": "none", "text.color": INK, "axes.edgecolor": FAINT,
    "axes.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.8, "xtick.color": INK, "ytick.color": INK, "legend.frameon": False,
    "legend.fontsize": 8, "lines.linewidth": 1.6,
}  # fmt: skip
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
LONGEST_NAME = 60
PIXELS = 96 / 72
"""Of a page, in a point."""
SMALLEST = 0.72
"""How far a picture may shrink before it is scrolled: its letters must stay readable."""
DOTS = 160
"""Per inch, of PNG."""


def svg_of(picture: Any, name: str) -> str:
    """A picture as an SVG element; its ids begin with a name that no other picture of the page has."""
    out = StringIO()
    _write(picture, out, "svg", name)
    _, start, rest = out.getvalue().partition("<svg")
    return _with_own_ids(_with_colour_variables(_without_head(start + rest)), name)


def save(picture: Any, path: Path) -> None:
    """A picture as a file, of the format that its suffix names."""
    out: BytesIO = BytesIO()
    _write(picture, out, path.suffix[1:], path.stem)
    with replacing(path) as beside:
        beside.write_bytes(out.getvalue())


def save_all(document: Document, folder: Path, suffix: str) -> list[Path]:
    """Every picture and every shaded table as a file, numbered, and named by the titles above it."""
    titles: dict[int, str] = {}
    paths: list[Path] = []
    for element in document:
        if isinstance(element, Heading):
            titles = {level: text for level, text in titles.items() if level < element.level}
            titles[element.level] = element.text
        elif isinstance(element, Picture) or _is_shaded(element):
            words = " ".join(title.partition(":")[0] if level == 1 else title for level, title in titles.items())
            name = NOT_IN_NAMES.sub("-", words.lower())[:LONGEST_NAME].strip("-")
            paths.append(folder / f"{len(paths) + 1:02d}-{name or 'picture'}.{suffix}")
            save(element, paths[-1])
    return paths


def _is_shaded(element: Element) -> bool:
    return isinstance(element, Grid) and any(cell.shade is not None for row in element.rows for cell in row)


def _write(picture: Any, out: Any, suffix: str, name: str) -> None:
    import matplotlib as mpl

    dates: dict[str, None] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix, {})
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = FIGURES[type(picture)](_with_shown_text(picture))
        figure.savefig(out, format=suffix, transparent=suffix == "svg", dpi=DOTS, metadata=dates)


def _with_shown_text(value: Any) -> Any:
    """The same picture, or part of one, without control characters, which XML does not allow."""
    if isinstance(value, str):
        return value if value.isprintable() else "\n".join(map(Page().shown, value.split("\n")))
    if isinstance(value, tuple):
        return tuple(map(_with_shown_text, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: _with_shown_text(getattr(value, field.name)) for field in fields(value)}
        )
    return value


def _without_head(svg: str) -> str:
    """Without what a page says by itself: size, font, style and metadata."""
    head, _, rest = svg.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box
    rest = re.sub(r"<metadata>.*?</metadata>|<style type[^>]*>.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(r"<!--.*?-->|<defs>\s*</defs>", "", rest, flags=re.DOTALL)
    rest = re.sub(r'font: ([\d.]+px) [^;"]*', r"font-size: \1", rest)
    rest = re.sub(r'font-family: [^;"]*;? ?', "", rest)
    wide = float(box[0].split()[2]) * PIXELS
    return f'<svg {box[0]} style="width:{wide:.0f}px;min-width:{SMALLEST * wide:.0f}px">{rest}'


def _with_colour_variables(svg: str) -> str:
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    return svg


def _with_own_ids(svg: str, name: str) -> str:
    """Only ids that are referred to, all of them beginning with a name."""
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda text: f' id="{name}-{text[1]}"' if text[1] in used else "", svg)
    return re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
