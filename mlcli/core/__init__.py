"""What every other room rests on: parameters, registry, kinds of task, tables, answers and model bases.

The tolerances by which computed numbers count as equal stand here.
"""

ROUNDING = 1e-12
"""The share by which sums of weights, counts or shares may differ because floats round."""
CLOSE = 1e-9
"""The share by which results of longer computations, such as scores, gains or distances, may differ."""
DECIMALS = 12
"""Shares of classes, and ratings, that agree to so many decimals are ties: 0.1 + 0.2 is 0.3."""
CLOSE_DECIMALS = 9
"""The same for results of longer computations, such as centres of clusters."""
