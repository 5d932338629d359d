"""A first experiment for a dataset: the panel of its kind of task, with every choice written out and explained."""

from __future__ import annotations

from collections.abc import Iterable

from mlcli.core.errors import DataError
from mlcli.core.registry import MODELS
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import shipped_path
from mlcli.data.write_sidecar import key
from mlcli.experiment.spec.cells import FEW_ROWS, DataSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset, legal_protocols, planned_dataset, protocol_for
from mlcli.experiment.spec.labels import as_typed
from mlcli.experiment.spec.panel import why_too_slow

TEMPLATE = """\
# {name}: {summary}.
# "mlcli plan FILE" shows what this would run, "mlcli run FILE" runs it.

data:
{data}

# The panel of {kind}. The baseline, {baseline}, joins by itself; steps that a model needs are inserted.
models:
{models}

# Others: {other_protocols}.
protocol: {protocol}

# The first metric decides what is best.
metrics: [{metrics}]

# All random choices follow from the seed: the same seed gives the same numbers.
seed: 1
"""


def first_experiment(reference: str, dataset: Dataset) -> str:
    """The text of an experiment file; ``reference`` names the dataset as it is seen from that file."""
    planned = planned_dataset(DataSpec(reference), dataset)
    kind, target, protocol = planned.kind, dataset.schema.the("target"), _protocol_that_works(planned)
    return TEMPLATE.format(
        name=planned.name,
        summary=kind.summary,
        data=_data(reference, planned),
        kind=kind.name,
        baseline=kind.baseline,
        models=_models(use for use in planned.kind.panel if not why_too_slow(planned, use)),
        other_protocols=", ".join(name for name in legal_protocols(kind) if name != protocol.use),
        protocol=as_typed({"use": protocol.use, **protocol.params}),
        metrics=", ".join((*kind.metrics, *(kind.metrics_with_labels if target and target.levels else ()))),
    )


def _data(reference: str, planned: PlannedDataset) -> str:
    """The dataset with its target and kind of task, which may be guesses to correct."""
    targets = planned.dataset.schema.with_role("target")
    word = "name" if planned.dataset.path == shipped_path(reference) else "path"
    lines = [f"  - {word}: {key(reference)}"]
    for target in targets:
        guessed = f"  # guessed ({target.why}): change it if it is another" if target.source == "guessed" else ""
        lines.append(f"    target: {key(target.column.name)}{guessed}")
    return "\n".join([*lines, f"    task: {planned.kind.name}"])


def _models(names: Iterable[str]) -> str:
    summaries = {name: MODELS.entry(name).summary.partition(": ")[2] for name in names}
    width = max(map(len, summaries))
    return "\n".join(f"  - {name:<{width}}  # {summary}" for name, summary in summaries.items())


def _protocol_that_works(planned: PlannedDataset) -> ProtocolSpec:
    """The default of the kind, or leave-one-out where there are too few rows for it."""
    try:
        return protocol_for(planned, None)
    except DataError:
        return protocol_for(planned, FEW_ROWS)
