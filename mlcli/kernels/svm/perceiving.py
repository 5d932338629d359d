"""Passes of the kernel perceptron: each row that is answered wrongly joins the sums of its class and its rival."""

from __future__ import annotations

from numba import njit

from mlcli.core.tables import Array, Codes


@njit(cache=True, nogil=True, error_model="numpy")
def perceive(K: Array, y: Codes, passes: int, scores: Array, beta: Array, timed: Array) -> tuple[int, int, int]:
    """Go through the rows until a pass has no mistake; the visits, the passes and the mistakes of the last one.

    ``scores``, ``beta`` and ``timed`` (classes × rows) begin at 0: the sums of all rows by what was learned, the
    coefficients, and these by the visit at which they were added, from which their mean over visits follows.
    """
    classes, rows = scores.shape
    visit, mistakes, done = 0, 0, 0
    for _ in range(passes):
        mistakes, done = 0, done + 1
        for row in range(rows):
            visit += 1
            own, rival = y[row], -1
            for k in range(classes):
                if k != own and (rival < 0 or scores[k, row] > scores[rival, row]):
                    rival = k
            if scores[own, row] > scores[rival, row]:
                continue
            mistakes += 1
            beta[own, row] += 1.0
            beta[rival, row] -= 1.0
            timed[own, row] += visit
            timed[rival, row] -= visit
            beside, mine, theirs = K[row], scores[own], scores[rival]
            for t in range(rows):
                mine[t] += beside[t]
                theirs[t] -= beside[t]
        if mistakes == 0:
            break
    return visit, done, mistakes
