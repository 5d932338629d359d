"""The checks: each a function whose name is its code and whose first line says what it looks for."""

from __future__ import annotations

from mlcli.checks.trial import Trial
from mlcli.core.issues import Check

OF_MODELS: tuple[Check[Trial], ...] = ()
"""What is looked for in a model that was judged, in the order in which issues of one gravity are listed."""
