"""Lay out the pages of the site under build/pages, as they lie in the repository, and run the examples of methods.

Each method, step and protocol gets what its example prints, and the first picture that there is of it; an example
that fails stops the site from being built. `make site` then makes it with mkdocs.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner, Result

from mlcli.cli._verbs import app

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
FOLDERS = ("docs", "benchmarks", "experiments", "datasets")
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
PICTURES_FROM = ("train", "eval")
"""What a method has learned comes before how well it does."""


def main() -> None:
    """The pages, each with what its examples print."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for name in COPIED:
        copy(ROOT / name)
    failed = [failure for folder in GENERATED for failure in run_examples(folder)]
    sys.exit("\n".join(failed) or None)


def copy(source: Path) -> None:
    """The pages of a folder, and what they link to, at the same place below `PAGES`."""
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        if path.is_file() and path.name.endswith(KEPT) and ".mlcli" not in path.parts:
            place = PAGES / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def run_examples(folder: str) -> Iterator[str]:
    """Show on the pages of a folder what their examples print and draw; every example that fails is told."""
    for page in sorted((PAGES / "docs" / folder).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if found := EXAMPLES.search(text):
            examples = found[1].splitlines()
            done = {example: typed(*shlex.split(example)[1:]) for example in examples}
            yield from (f"{one}: {result.output}" for one, result in done.items() if result.exit_code != 0)
            shown = "".join(
                f"\n```console\n$ {one}\n{result.stdout.strip()}\n```\n" for one, result in done.items()
            )
            shown = f"## Try it\n{shown}{picture(examples[0], page)}"
            page.write_text(text[: found.start()] + shown + text[found.end() :], encoding="utf-8")


def picture(example: str, page: Path) -> str:
    """The first picture that an example draws, beside its page; none where it draws none."""
    _, _, data, *options = shlex.split(example)
    place = page.with_suffix("")
    for verb in PICTURES_FROM:
        typed(verb, data, *options, "--pictures", str(place))
        if drawn := sorted(place.glob("*.svg")):
            return f"\n![{drawn[0].stem}]({place.name}/{drawn[0].name})\n"
    return ""


def typed(*words: str) -> Result:
    """What a command line gives."""
    return CliRunner(env=WIDE).invoke(app, words, prog_name="mlcli")


if __name__ == "__main__":
    main()
