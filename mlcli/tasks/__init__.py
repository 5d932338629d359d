"""Kinds of task: one file each with its rows, its model base and its answers, and the table of all."""
