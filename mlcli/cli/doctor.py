"""doctor: check the installation: versions, threads, kernels, store."""

from __future__ import annotations

import typer

from mlcli.cli._options import Format, StoreToRead

EXAMPLES = ("mlcli doctor", "mlcli doctor --store runs.db")


def doctor_command(store: StoreToRead = None, format: Format = "text") -> None:
    """Check the installation: versions, threads, kernels, store.

    Every problem is shown with its repair. A store that is damaged, or that you
    named and does not exist, gives exit code 6.
    """
    from mlcli.api import View
    from mlcli.checks.installation import health_document, health_of, health_record
    from mlcli.cli._console import show_result
    from mlcli.core.errors import ExitCode
    from mlcli.experiment.store.store import DEFAULT_PLACE

    health = health_of(store, DEFAULT_PLACE)
    show_result(View(lambda: health_document(health), lambda: health_record(health)), format)
    if health.store_is_damaged:
        raise typer.Exit(ExitCode.STORE)
