"""Bayesian methods: one file each."""
