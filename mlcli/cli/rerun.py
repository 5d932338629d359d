"""rerun: run the cells of a run again, and prove that the same answers come."""

from __future__ import annotations

import typer

from mlcli.cli._options import Format, Jobs, StoreToRead
from mlcli.cli.verify import RunName, stored_run
from mlcli.core.errors import ExitCode

EXAMPLES = ("mlcli rerun 1 --store runs.db", "mlcli rerun experiments/weather.yaml --jobs 4")


def rerun_command(run: RunName, store: StoreToRead = None, jobs: Jobs = None, format: Format = "text") -> None:
    """Run the cells of a run again, and prove that the same answers come.

    Nothing is taken from the store and nothing is kept. What differs is told,
    with versions of packages that have changed; the exit code is then 8. On
    another CPU answers need only be close, and it is said how close.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import Progress
    from mlcli.experiment.run.reproduction import (
        PLUGINS,
        refuse_missing_plugins,
        rerun_cells,
        versions_and_hardware,
    )
    from mlcli.experiment.store.store import store_of
    from mlcli.report.views.runs import VERSIONS, agrees, rerun_as_json, rerun_of

    about, results, kept = stored_run(run, store, VERSIONS, PLUGINS)
    with stored_run_shown(store_of(run, store)):
        refuse_missing_plugins(results, kept[PLUGINS])
        with Progress([one.cell for one in results]) as progress:
            cells = rerun_cells(results, jobs, progress)
        now = versions_and_hardware()
        show_as(format, rerun_of, rerun_as_json, about, cells, kept[VERSIONS], now)
    if not all(agrees(one, kept[VERSIONS], now) for one in cells):
        raise typer.Exit(ExitCode.UNMET)
