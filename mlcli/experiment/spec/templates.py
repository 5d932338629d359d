"""Files to start from: an experiment for a dataset with every choice explained, and a method with its test."""

from __future__ import annotations

import re
from pathlib import Path

from mlcli.core.errors import DataError, UsageError
from mlcli.core.names import module_of
from mlcli.core.processes import write
from mlcli.core.registry import MODELS
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import shipped_path
from mlcli.data.sidecar import yaml_key
from mlcli.experiment.spec.cells import FEW_ROWS, DataSpec, as_typed
from mlcli.experiment.spec.datasets import legal_protocols, planned_dataset, protocol_for
from mlcli.experiment.spec.suitability import why_too_slow

EXPERIMENT = """\
# {name}: {summary}.
# "mlcli run FILE --dry-run" shows what this would run, "mlcli run FILE" runs it.

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
    kind, target = planned.kind, dataset.schema.the("target")
    word = "name" if dataset.path == shipped_path(reference) else "path"
    data = [f"  - {word}: {yaml_key(reference)}"]
    for field in planned.dataset.schema.with_role("target"):
        guessed = f"  # guessed ({field.why}): change it if it is another" if field.source == "guessed" else ""
        data.append(f"    target: {yaml_key(field.column.name)}{guessed}")
    data.append(f"    task: {kind.name}")
    methods = [use for use in kind.panel if not why_too_slow(planned, use)]
    width = max(map(len, methods))
    models = [f"  - {use:<{width}}  # {MODELS.entry(use).summary.partition(': ')[2]}" for use in methods]
    try:
        protocol = protocol_for(planned, None)
    except DataError:  # too few rows for the default
        protocol = protocol_for(planned, FEW_ROWS)
    return EXPERIMENT.format(
        name=planned.name,
        summary=kind.summary,
        data="\n".join(data),
        kind=kind.name,
        baseline=kind.baseline,
        models="\n".join(models),
        other_protocols=", ".join(name for name in legal_protocols(kind) if name != protocol.use),
        protocol=as_typed({"use": protocol.use, **protocol.params}),
        metrics=", ".join((*kind.metrics, *(kind.metrics_with_labels if target and target.levels else ()))),
    )


METHOD = '''"""{title}: a row gets the class whose mean row is closest.

Formula:
    ŷ = argmin_k Σ_j |x_j − μ_kj|^power, with μ_k the mean of the training rows of class k.

Assumes:
    Classes are clouds of about equal spread around their mean; numbers on one scale.

Cost:
    One pass to fit, n × K × p to predict.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.schema import Accepts
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.tasks.supervised import Classifier, LabelledRows


@register("{name}", reference="Tibshirani et al. 2002, without shrinkage")
class {title_case}(Classifier):
    """One mean row per class."""

    power: float = param(2.0, "the power of the differences that are added up", gt=0, tune=(0.5, 4.0))
    """A parameter with its default, its help and its bounds; ``-p power=1`` and YAML are checked by them."""

    means_: Array = learned()
    """What is learned, and saved with the model."""

    accepts = Accepts(prefers_scaled=True)
    """Numbers only; what else is needed (levels coded, gaps filled) is inserted in front, and shown."""

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Average the rows of each class; a class without rows is infinitely far."""
        means = [data.table.numbers[data.y == k] for k in range(len(data.classes))]
        width = data.table.numbers.shape[1]
        self.means_ = np.array([rows.mean(axis=0) if len(rows) else np.full(width, np.inf) for rows in means])

    def predict_proba(self, table: Table) -> Array:
        """All probability on the nearest mean (n × classes)."""
        apart = np.abs(table.numbers[:, None, :] - self.means_) ** self.power
        distance = np.where(self.class_totals_ > 0, apart.sum(axis=2), np.inf)
        return np.eye(len(self.classes_))[distance.argmin(axis=1)]

    def explain(self) -> findings.Explanation:
        """The mean row of each class: what mlcli train shows."""
        header = ("class", *(column.name for column in self.columns_))
        rows = tuple((name, *map(float, mean)) for name, mean in zip(self.classes_, self.means_, strict=True))
        return (findings.Table("Mean of each class", header, rows),)
'''

TEST = '''"""What {name} promises: run it with pytest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlcli
import pytest

FILE = Path(__file__).with_name("{module}.py")


def answers(**params: Any) -> Any:
    """What it says of flowers that it has learned."""
    model = {{"use": "{name}", "params": params}}
    return mlcli.train("iris", model, plugins=[FILE]).predict("iris", probabilities=True)


def test_it_beats_the_baseline() -> None:
    found = mlcli.eval("iris", "{name}", plugins=[FILE], metrics=["accuracy"]).table.set_index("model")
    assert found["accuracy"]["{name}"] > found["accuracy"]["zero-r"] + 0.3


def test_the_same_seed_gives_the_same_answers() -> None:
    assert answers().equals(answers())


def test_its_parameters_are_checked_and_change_what_it_says() -> None:
    assert not answers(power=0.5).equals(answers())
    with pytest.raises(mlcli.MlcliError, match="power must be above 0"):
        answers(power=0)
'''


def write_model(name: str, folder: Path, *, replace: bool = False) -> tuple[Path, Path]:
    """Write the file of a method and its test; existing files are replaced only if ``replace``."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"'{name}' is no id", hint="small letters, digits and hyphens, such as nearest-mean")
    if name in MODELS:
        raise UsageError(f"there is a model '{name}' already", hint="choose another id")
    module = module_of(name)
    texts = {folder / f"{module}.py": METHOD, folder / f"test_{module}.py": TEST}
    existing = next((path for path in texts if path.exists()), None)
    if existing is not None and not replace:
        raise UsageError(
            f"{existing} exists: it was left alone", hint="choose another id, or replace it with --force"
        )
    words = name.split("-")
    fields = {"name": name, "module": module, "title": " ".join(words).capitalize()}
    fields["title_case"] = "".join(map(str.capitalize, words))
    for path, text in texts.items():
        write(path, text.format(**fields))
    first, second = texts
    return first, second
