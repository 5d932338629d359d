"""What tests of clusters share with those of experiments: the method of a plug-in that misbehaves."""

from __future__ import annotations

from tests.experiment.conftest import fits, plugin

__all__ = ["fits", "plugin"]
