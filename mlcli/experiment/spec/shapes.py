"""The shape of an experiment file: its keys and their types, complained of in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlcli.core.errors import Problem
from mlcli.core.names import did_you_mean
from mlcli.core.seeds import MAX_SEED
from mlcli.experiment.spec.written import Written

Text = Annotated[str, Field(min_length=1)]
Several = Annotated[list[Any], Field(min_length=1)]

PLAIN_WORDS = {
    "string_type": "takes text, was given {given}",
    "string_too_short": "takes text that is not empty",
    "int_type": "takes a whole number, was given {given}",
    "float_type": "takes a number, was given {given}",
    "bool_type": "takes true or false, was given {given}",
    "list_type": "takes a list, was given {given}",
    "too_short": "takes a list of at least one",
    "greater_than": "must be above {gt:g}, was given {given}",
    "greater_than_equal": "must be at least {ge:g}, was given {given}",
    "less_than_equal": "must be at most {le}, was given {given}",
}
"""What the error types of pydantic mean."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ExperimentShape(_Shape):
    """The keys of an experiment file; what stands in lists is read item by item afterwards."""

    data: Several = Field(description="the datasets: shipped names, paths, or mappings")
    models: Several = Field([], description="the models; left out: the panel of each dataset's kind of task")
    protocol: Any = Field(None, description="how rows are split; left out: the default of the kind of task")
    metrics: Several = Field([], description="what is measured; left out: the defaults of the kind of task")
    seed: int = Field(1, ge=0, le=MAX_SEED, description="what all random choices follow from")
    task: Text = Field("", description="the kind of task of every dataset that does not name its own")
    stages: Any = Field(False, description="at which stages of a fit models are judged, too")
    training: bool = Field(False, description="whether training rows are answered, too")
    budget: float = Field(0.0, gt=0, description="seconds that one cell may take")
    name: str = Field("", description="what the experiment is called")
    description: str = Field("", description="what it is for")


class DataShape(_Shape):
    """The keys of a dataset in an experiment file."""

    path: Text = Field("", description="a CSV file, relative to the experiment file")
    name: Text = Field("", description="a shipped dataset")
    target: Text = Field("", description="the column to predict")
    task: Text = Field("", description="the kind of task")


def legal_parts(shape: type[BaseModel], written: Written, found: list[Problem]) -> dict[str, Written]:
    """Those parts of a mapping that have the right shape; what is wrong with the others is added to ``found``."""
    parts = written.named()
    try:
        shape.model_validate({key: part.value for key, part in parts.items()})
    except ValidationError as error:
        for details in error.errors(include_url=False):
            key = str(details["loc"][0])
            found.append(_problem(details, key, parts.pop(key, written), shape))
    return parts


def _problem(details: Mapping[str, Any], key: str, part: Written, shape: type[BaseModel]) -> Problem:
    if details["type"] == "missing":
        return part.problem(f"the key '{key}' is missing", _help(shape, key))
    if details["type"] == "extra_forbidden":
        return part.problem(f"there is no key '{key}' here", did_you_mean(key, shape.model_fields, "keys"))
    words = PLAIN_WORDS[details["type"]]
    what = words.format(given=part.given, **details.get("ctx", {}))
    return part.problem(f"'{key}' {what}", _help(shape, key))


def _help(shape: type[BaseModel], key: str) -> str:
    return shape.model_fields[key].description or ""
