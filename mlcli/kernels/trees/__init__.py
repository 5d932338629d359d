"""Compiled loops of trees, by stage: binning, sums, splits, growing, walking."""
