"""Trees: columns into bins, growing by compiled loops or by recursion, one structure, one walker, findings."""
