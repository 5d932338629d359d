"""Writes down what every method answers now: python -m tests.canary.write, once revisions are raised."""

from __future__ import annotations

import json
import sys
import warnings

from mlcli.core.errors import MlcliWarning
from tests.canary.canaries import FILE, found, problem_with, recorded, titles, unannounced


def main() -> int:
    """Write the file; refused where answers have changed and no revision has."""
    warnings.simplefilter("ignore", MlcliWarning)
    before, now = recorded(), {title: found(title) for title in titles()}
    quiet = [title for title in now if unannounced(title, now[title], before)]
    for title in quiet:
        sys.stderr.write(f"{problem_with(title, now[title], before)}\n")
    if not quiet:
        FILE.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return len(quiet)


if __name__ == "__main__":
    sys.exit(main())
