"""rerun: run the cells of a run again, and prove that the same answers come."""

from __future__ import annotations

from pathlib import Path

import typer

from mlcli.cli._options import Format, Jobs, StoreToRead
from mlcli.cli.verify import RunName
from mlcli.core.errors import ExitCode

EXAMPLES = ("mlcli rerun 1 --store runs.db", "mlcli rerun experiments/weather.yaml --jobs 4")


def rerun_command(run: RunName, store: StoreToRead = None, jobs: Jobs = None, format: Format = "text") -> None:
    """Run the cells of a run again, and prove that the same answers come.

    Nothing is taken from the store and nothing is kept. What differs is told,
    with versions of packages that have changed; the exit code is then 8.
    """
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import Progress
    from mlcli.experiment.run.again import run_again
    from mlcli.experiment.run.fingerprint import versions
    from mlcli.experiment.store.named_runs import number_of, store_of
    from mlcli.experiment.store.store import Store
    from mlcli.report.verified import VERSIONS, again_as_json, again_of

    with Store.read(store_of(run, store)) as opened:
        about, results = opened.runs.one(number_of(run, opened))
        was = opened.runs.kept(about.id, VERSIONS)
    with Progress() as progress:
        cells = run_again(results, Path(about.source) if about.source else None, jobs, progress)
    now = versions()
    show_as(format, lambda: again_of(about, cells, was, now), lambda: again_as_json(about, cells, was, now))
    if not all(one.same for one in cells):
        raise typer.Exit(ExitCode.UNMET)
