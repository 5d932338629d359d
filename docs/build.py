"""Generate the pages of methods, steps, protocols and commands into docs/; --check tests every page.

Only docs/methods/index.md is committed. It links to the source files, whose docstrings the pages are made of, so
that it also works where the pages have not been generated. Nothing outside docs/ links to a generated page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from inspect import cleandoc
from itertools import groupby
from pathlib import Path
from typing import Any

import commands

from mlcli.core.nested import can_do
from mlcli.core.params import Parameter, build, parameters
from mlcli.core.ranges import in_words
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS, Catalogue, Entry
from mlcli.tasks.table import implied_by, kinds_of

DOCS = Path(__file__).parent
ROOT = DOCS.parent
INDEX = DOCS / "methods" / "index.md"
EXAMPLE_DATA = {
    "classification": "penguins",
    "regression": "concrete",
    "clustering": "iris",
    "density": "faithful",
    "anomaly": "wdbc",
    "sequence-labelling": "cmudict_stress",
    "ranking": "travelmode",
    "projection": "wine",
    "recommendation": "insteval_1200",
    "association": "supermarket_2000",
}
HEADING = re.compile(r"^([A-Z][a-z ]+):$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")
CODE = re.compile(r"```[a-z]*\n(.*?)```|`(mlcli [^`]+)`", re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?mlcli ([a-z]+)", re.MULTILINE)
OWED = {"methods": ("Formula", "Assumes", "Cost"), "steps": ("Formula",), "protocols": ()}
ABOUT = {
    "methods": "What pages call the notes are the lecture notes from which the list of methods comes;\n"
    "under Choices a page says where its method departs from them, and why."
}
FAMILIES: dict[str, Catalogue] = {"methods": MODELS, "steps": STEPS, "protocols": PROTOCOLS}


def main() -> None:
    """Write the pages, or print what is wrong with them."""
    if "--check" in sys.argv:
        generated = dict(pages())
        texts = {path: path.read_text(encoding="utf-8") for path in hand_written()} | generated
        problems = [*stale_index(), *broken_links(texts), *unknown_commands(texts), *missing_golden_cases()]
        print("\n".join(problems) or "docs: the method index is current, links and commands exist")
        sys.exit(bool(problems))
    write_pages(DOCS)
    INDEX.write_text(index_of_sources(), encoding="utf-8")


def write_pages(folder: Path) -> None:
    """Write the generated pages below a folder that mirrors docs/."""
    for path, text in pages():
        target = folder / path.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def pages() -> Iterator[tuple[Path, str]]:
    """Each generated page with its text."""
    for folder, entries in registered().items():
        for entry in entries:
            yield DOCS / folder / f"{entry.name}.md", page(entry, folder)
        yield DOCS / folder / "index.md", index(entries, folder)
    yield commands.PAGE, commands.page()


def registered() -> dict[str, list[Entry]]:
    """The methods, steps and protocols that come with mlcli."""
    return {
        folder: [entry for entry in catalogue.entries() if entry.distribution == "mlcli"]
        for folder, catalogue in FAMILIES.items()
    }


def page(entry: Entry, folder: str) -> str:
    """The page of one registered thing, from its docstring and its declarations."""
    cls: Any = entry.load()
    summary, _, body = entry.documentation.partition("\n")
    missing = [heading for heading in OWED[folder] if f"{heading}:" not in body]
    if missing:
        sys.exit(f"{entry.module}: its docstring lacks {', '.join(missing)}")
    parts = [f"# {entry.name}", summary, facts(cls, folder), sections(body), parameter_table(parameters(cls))]
    parts += [example(entry.name, cls)] if folder == "methods" else []
    parts += [f"Source: {cls.reference}."]
    return "\n\n".join(part for part in parts if part) + "\n"


def facts(cls: Any, folder: str) -> str:
    """Kinds of task and what the default configuration takes as it is."""
    if folder != "methods":
        return ""
    accepts = build(cls, {}).accepts
    takes = [("levels", accepts.nominal), ("missing cells", accepts.missing), ("weights", accepts.weights)]
    takes += [("rows without a class", accepts.unlabelled)]
    taken = ", ".join(word for word, yes in takes if yes) or "numbers only"
    scaled = " Prefers scaled numbers." if accepts.prefers_scaled else ""
    kinds = ", ".join(kind.name for kind in kinds_of(cls))
    return f"Kinds of task: {kinds}. Takes as they are, by default: {taken}.{scaled}"


def sections(body: str) -> str:
    """Headed, indented paragraphs of a docstring as Markdown sections."""
    pieces = HEADING.split(body)
    text = [cleandoc(pieces[0])]
    for title, content in zip(pieces[1::2], pieces[2::2], strict=True):
        text.append(f"## {title}\n\n{cleandoc(content)}")
    return "\n\n".join(text).strip()


def parameter_table(declared: tuple[Parameter, ...]) -> str:
    """The declared parameters as a table."""
    if not declared:
        return "## Parameters\n\nNone."
    rows = []
    for one in declared:
        legal = one.range_text().replace("|", "·")
        rows.append(f"| `{one.name}` | {one.words()} | `{text_of(one.default)}` | {legal} | {one.help} |")
    head = (
        "## Parameters\n\n| name | type | default | legal values | what it is |\n| --- | --- | --- | --- | --- |"
    )
    return "\n".join([head, *rows, *worth_trying(declared)])


def worth_trying(declared: tuple[Parameter, ...]) -> Iterator[str]:
    """What is tried where the parameters are tuned."""
    found = [f"`{one.name}` {in_words(one.tune)}" for one in declared if one.tune]
    if found:
        yield f"\n[Tuned](../tuning.md) over: {'; '.join(found)}."


def text_of(value: Any) -> str:
    """A default as it is typed."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if value is None or isinstance(value, bool):
        return "none" if value is None else str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def example(name: str, cls: Any) -> str:
    """A command that can be typed as it stands."""
    usual = implied_by([cls])
    also = " --protocol whole" if getattr(cls, "transductive", False) else ""
    lines = []
    for kind in (one for one in kinds_of(cls) if can_do(build(cls, {}), one.base)):
        task = "" if usual in (None, kind) else f" --task {kind.name}"
        lines.append(f"mlcli eval {EXAMPLE_DATA[kind.name]} -m {name}{task}{also}")
    return "## Try it\n\n```sh\n" + "\n".join(lines) + "\n```"


def index(entries: list[Entry], folder: str) -> str:
    """A list of the pages in a folder, by family where there are families."""
    lines = [f"# {folder.capitalize()}\n", *([ABOUT[folder]] if folder in ABOUT else [])]
    lines += listing(entries, lambda entry: f"{entry.name}.md")
    return "\n".join(lines) + "\n"


def index_of_sources() -> str:
    """The committed index of methods, steps and protocols, with links to their source files."""
    lines = [
        "# Methods, steps and protocols\n",
        "Each links to its source, which opens with formula, assumptions, cost and reference. `mlcli models NAME`",
        "prints the same with all parameters; `make site` makes a page of each. Generated: do not edit.",
    ]
    for folder, entries in registered().items():
        if folder != "methods":
            lines += [f"\n## {folder.capitalize()}\n"]
        lines += listing(entries, lambda entry: f"../../{entry.module.replace('.', '/')}.py")
    return "\n".join(lines) + "\n"


def listing(entries: list[Entry], link: Callable[[Entry], str]) -> Iterator[str]:
    """A line for each entry, below the name of its family if it has one."""
    for family, members in groupby(entries, key=lambda entry: entry.family):
        if family:
            yield f"\n## {family.replace('_', ' ').capitalize()}\n"
        yield from (f"- [{entry.name}]({link(entry)}): {entry.summary.partition(': ')[2]}" for entry in members)


def stale_index() -> Iterator[str]:
    """The committed index, if it differs from what the sources say."""
    if INDEX.read_text(encoding="utf-8") != index_of_sources():
        yield f"{INDEX.relative_to(ROOT)} is not current: run `make docs`"


def hand_written() -> Iterator[Path]:
    """The committed Markdown pages."""
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    yield from (ROOT / name for name in files if (ROOT / name).exists())


def broken_links(texts: dict[Path, str]) -> Iterator[str]:
    """Relative links to nothing, and links from outside docs/ to pages that are not committed."""
    committed = set(hand_written())
    for path, text in texts.items():
        for target in LINK.findall(text):
            linked = Path(os.path.normpath(path.parent / target.strip()))
            inside = DOCS in path.parents
            if not (linked in texts and (inside or linked in committed)) and not (
                linked.exists() and linked.suffix != ".md"
            ):
                yield f"{path.relative_to(ROOT)}: no such file: {target}"


def unknown_commands(texts: dict[Path, str]) -> Iterator[str]:
    """Commands in the docs that do not exist."""
    verbs = {path.stem for path in (ROOT / "mlcli" / "cli").glob("*.py")}
    for path, text in texts.items():
        code = "\n".join(block or line for block, line in CODE.findall(text))
        for verb in COMMAND.findall(code):
            if verb not in verbs:
                yield f"{path.relative_to(ROOT)}: there is no command 'mlcli {verb}'"


def missing_golden_cases() -> Iterator[str]:
    """Methods without a golden case."""
    for name in MODELS.names():
        if not (ROOT / "tests" / "golden" / f"test_{name.replace('-', '_')}.py").exists():
            yield f"{name} has no golden case: tests/golden/test_{name.replace('-', '_')}.py"


if __name__ == "__main__":
    main()
