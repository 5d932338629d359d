"""Compiled loops of trees, by stage: records and binning, splits, growing, walking."""
