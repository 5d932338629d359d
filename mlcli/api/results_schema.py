"""The JSON Schema of what ``--json`` writes, made from the same dataclasses."""

from __future__ import annotations

from typing import Any

from mlcli.checks.audit import AuditsRecord
from mlcli.checks.diagnosis import DiagnosisRecord
from mlcli.checks.installation import HealthRecord
from mlcli.core.findings import Finding
from mlcli.core.serialise import schema_of
from mlcli.data.profile import Profile
from mlcli.report.views.catalogue import CatalogueRecord, MentionsRecord, PagesRecord
from mlcli.report.views.trained_model import ExplainedAnswer, SavedModelRecord, TrainedRecord
from mlcli.scoring.comparison import ComparisonRecord
from mlcli.scoring.curves import SweepRecord
from mlcli.scoring.files import DriftRecord, JoinRecord, ShippedDatasets
from mlcli.scoring.records import ExperimentRecord, PlanRecord
from mlcli.scoring.runs import (
    HousekeepingRecord,
    RemovedRecord,
    RerunRecord,
    RunsRecord,
    ShardsRecord,
    VerificationRecord,
)

DOCUMENTS: dict[str, Any] = {
    "eval, run, report of a run, runs show": ExperimentRecord,
    "run --shard": ShardsRecord,
    "run --dry-run": PlanRecord,
    "compare": ComparisonRecord,
    "curve": SweepRecord,
    "train": TrainedRecord,
    "report of a saved model": SavedModelRecord,
    "explain": tuple[ExplainedAnswer, ...],
    "data": ShippedDatasets,
    "data of a dataset": Profile,
    "data --plot": Finding,
    "data of two files": DriftRecord,
    "join": JoinRecord,
    "audit": AuditsRecord,
    "audit -m": DiagnosisRecord,
    "doctor": HealthRecord,
    "models": CatalogueRecord,
    "models of an id": PagesRecord,
    "models of a word": MentionsRecord,
    "runs list": RunsRecord,
    "runs remove": RemovedRecord,
    "runs gc, merge, export, import": HousekeepingRecord,
    "runs verify": VerificationRecord,
    "runs rerun": RerunRecord,
}
"""The type of each document, by the commands that write it."""


def results_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of all documents."""
    return schema_of(DOCUMENTS, "what --json of mlcli writes")
