"""The rows of the benchmarks of methods: one file for a family, one line for a method and its best peer."""
