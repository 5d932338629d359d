"""Tests of what several methods compute with."""
