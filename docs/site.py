"""Lay out the pages of the site under build/pages, as they lie in the repository, and run the examples of methods.

Each method, step and protocol gets what its example prints, and the first picture that there is of it; an example
that fails stops the site from being built. `make site` then makes it with mkdocs.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from build import write_pages
from typer.testing import CliRunner, Result

from mlcli.cli._app import app
from mlcli.core.processes import cores, pin_blas_from_the_start

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
COPIED = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs",
    "benchmarks",
    "experiments",
    "datasets",
)
GENERATED = ("methods", "steps", "protocols")
KEPT = (".md", ".yaml", ".png", ".svg", "LICENSE")
EXAMPLES = re.compile(r"## Try it\n\n```sh\n(.*?)\n```\n", re.DOTALL)
WIDE = {"COLUMNS": "100", "NO_COLOR": "1"}


def main() -> None:
    """The pages, each with what its examples print."""
    pin_blas_from_the_start()
    shutil.rmtree(PAGES, ignore_errors=True)
    for name in COPIED:
        copy(ROOT / name)
    write_pages(PAGES / "docs")
    pages = [page for folder in GENERATED for page in sorted((PAGES / "docs" / folder).glob("*.md"))]
    with ProcessPoolExecutor(cores()) as pool:
        failed = [failure for failures in pool.map(run_examples, pages) for failure in failures]
    sys.exit("\n".join(failed) or None)


def copy(source: Path) -> None:
    """The pages of a folder, and what they link to, at the same place below `PAGES`."""
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        if path.is_file() and path.name.endswith(KEPT) and ".mlcli" not in path.parts:
            place = PAGES / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def run_examples(page: Path) -> list[str]:
    """Show on a page what its examples print, and the first picture of the first; those that fail are told."""
    text = page.read_text(encoding="utf-8")
    found = EXAMPLES.search(text)
    if not found:
        return []
    first, *others = found[1].splitlines()
    drawn_to = ("--pictures", str(page.with_suffix("")))
    typed("train", *shlex.split(first)[2:], *drawn_to)
    # What a method has learned comes before how well it does.
    drawing = () if picture(page) else drawn_to
    done = {first: typed(*shlex.split(first)[1:], *drawing)}
    done |= {one: typed(*shlex.split(one)[1:]) for one in others}
    shown = "".join(f"\n```console\n$ {one}\n{result.stdout.strip()}\n```\n" for one, result in done.items())
    shown = f"## Try it\n{shown}{picture(page)}"
    page.write_text(text[: found.start()] + shown + text[found.end() :], encoding="utf-8")
    return [f"{one}: {result.output}" for one, result in done.items() if result.exit_code != 0]


def picture(page: Path) -> str:
    """The first picture that was drawn for a page; none where none was."""
    drawn = sorted(page.with_suffix("").glob("*.svg"))
    return f"\n![{drawn[0].stem}]({page.stem}/{drawn[0].name})\n" if drawn else ""


def typed(*words: str) -> Result:
    """What a command line gives."""
    return CliRunner(env=WIDE).invoke(app, words, prog_name="mlcli")


if __name__ == "__main__":
    main()
