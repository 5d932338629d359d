"""These tests are collected where Chromium is installed; `.ci/run` installs it."""

from __future__ import annotations

from tests.browser.chromium import found

collect_ignore_glob = [] if found() else ["test_*.py"]
