"""What there is to say of a kind of task: each field is a column of the table of kinds."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mlcli.core.names import module_of
from mlcli.core.schema import Schema

if TYPE_CHECKING:
    from mlcli.core.task import AnyTask

ROLES = (
    *("target", "feature", "id", "group", "sensitive", "weight", "count", "context", "ignore"),
    *("order", "part", "domain", "sequence", "user", "item"),
)
"""What a column may be to models; the last ones matter to some kinds of task or protocols only."""
SINGLE_ROLES = ("target", "group", "weight", "count", "sequence", "order", "part", "domain", "user", "item")
"""Those that only one column can have."""


def named(place: str) -> Any:
    """What is called "module:name", imported now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def never(schema: Schema) -> bool:
    """No schema tells."""
    return False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of task. What ends in ``_at`` is named "module:name" and imported on use: listing stays instant."""

    name: str
    summary: str
    recognise: Callable[[Schema], bool] = never
    """Whether a schema looks like this kind; of most kinds only the user, a sidecar or a model tells."""
    target: Literal["needed", "judges", "none"]
    """Whether a model learns the target, the target only judges what was learned without it, or there is none:
    what would be the target is a column like the others."""
    target_kinds: tuple[str, ...]
    """The column kinds a target of this kind may have; the first is what ``--task`` turns a column into."""
    classes: tuple[str, str, str]
    """In its file: the rows that a model learns from, the model base that learns and is asked, the answers."""
    protocols: tuple[str, ...]
    """Legal protocols, beside those that were made for this kind and say so; the first is the default."""
    scores: tuple[str, ...]
    """The files of ``mlcli/metrics/scores`` that judge its answers."""
    metrics: tuple[str, ...]
    """Default metrics; the first decides what is best."""
    parts: tuple[str, ...] = ("test",)
    """The parts of a split that are judged."""
    metrics_with_labels: tuple[str, ...] = ()
    """Default metrics that join where the target judges and there is one."""
    protocol_without_labels: str = ""
    """The default protocol where labels judge and there are none, if it is another one."""
    has_positive_class: bool = False
    """Whether one level of the target, the last of two, is what is looked for."""
    marked_by: tuple[str, ...] = ()
    """Roles of columns that only this kind has a use for: rows that have all of them look like it."""
    long_form: tuple[str, ...] = ()
    """The roles of the unit and of the thing in it, where a file may hold a row for each thing of a unit."""
    absent_means_no: bool = False
    """Whether a feature that new rows lack says that the thing is not there."""
    optional_roles: tuple[str, ...] = ()
    """The roles of columns that rows whose truth is not known may lack: the answers are others then."""
    counts: tuple[str, ...] = ()
    """The roles whose levels say how large a dataset is; where there are none, its features do."""
    roles: tuple[str, ...] = ()
    """The roles of columns that no model sees, but that its rows need to be asked about."""
    baselines: tuple[str, ...]
    """What every table shows beside the models; the first is the one to beat."""
    yardsticks: tuple[str, ...] = ()
    """Further baselines that stand beside models that are named, to be looked at, where they are quick."""
    panel: tuple[str, ...]
    """The methods that a bare ``mlcli eval`` runs, beside the baseline."""
    columns_at: str
    """What turns predictions into columns of text: from a fitted model and a ``Request`` to the columns."""
    picture_at: str = ""
    """What draws answers below the table: from a title and the answers of all splits to blocks."""
    picture_of_table_at: str = ""
    """What draws all cells of a table together: from the cells and their names to blocks."""
    picture_of_curve_at: str = ""
    """What a validation curve shows besides: from its cells and their names to blocks."""
    picture_of_report_at: str = ""
    """What a whole report draws besides: from the cells of a table and their names to blocks."""
    described_at: str = ""
    """What shows the rows that a kept model has learned from: from what was trained to findings."""
    json_at: str = ""
    """What a cell adds to its entry in the JSON document: from the cell to keys and plain values."""

    def _at(self, name: str) -> str:
        """Where a class of its file is."""
        return f"mlcli.tasks.{module_of(self.name)}:{name}"

    @cached_property
    def rows(self) -> Any:
        """The class of the rows."""
        return named(self._at(self.classes[0]))

    @cached_property
    def base(self) -> Any:
        """The model base."""
        return named(self.base_at)

    @property
    def task(self) -> AnyTask:
        """How models of this kind learn and answer."""
        task: AnyTask = self.rows.task
        return task

    @cached_property
    def answers(self) -> Any:
        """The class of the answers."""
        return named(self.answers_at)

    @property
    def base_name(self) -> str:
        """The name of the model base, as it stands in the class line of a method."""
        return self.classes[1]

    @property
    def base_at(self) -> str:
        """Where the model base is."""
        return self._at(self.base_name)

    @property
    def answers_at(self) -> str:
        """Where the class of the answers is."""
        return self._at(self.classes[2])

    @property
    def baseline(self) -> str:
        """The baseline to beat."""
        return self.baselines[0]

    @property
    def recognised_by_target(self) -> bool:
        """Whether a target makes a dataset look like this kind; else it is stated, or implied by the models."""
        return self.target == "needed" and self.recognise is not never

    @property
    def uses_target(self) -> bool:
        """Whether the target has a part in it: it is learned, or judges by metrics of its own."""
        return self.target == "needed" or bool(self.metrics_with_labels)

    @property
    def protocol_for_few_rows(self) -> str:
        """The protocol that the fewest rows can serve."""
        return next(use for use in ("whole", "leave-one-out", *self.protocols) if use in self.protocols)
