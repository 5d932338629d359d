"""What classification and regression share."""

from __future__ import annotations

from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

SupervisedRows = LabelledRows | ValuedRows
"""Rows whose target a model learns: classes or values, both with ``outputs`` to take means of."""
