"""The table of Demšar 2006 (Statistical comparisons of classifiers over multiple data sets, JMLR 7, table 6)."""

from __future__ import annotations

import numpy as np

MODELS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AREAS = {
    "adult (sample)": (0.763, 0.768, 0.771, 0.798),
    "breast cancer": (0.599, 0.591, 0.590, 0.569),
    "breast cancer wisconsin": (0.954, 0.971, 0.968, 0.967),
    "cmc": (0.628, 0.661, 0.654, 0.657),
    "ionosphere": (0.882, 0.888, 0.886, 0.898),
    "iris": (0.936, 0.931, 0.916, 0.931),
    "liver disorders": (0.661, 0.668, 0.609, 0.685),
    "lung cancer": (0.583, 0.583, 0.563, 0.625),
    "lymphography": (0.775, 0.838, 0.866, 0.875),
    "mushroom": (1.000, 1.000, 1.000, 1.000),
    "primary tumor": (0.940, 0.962, 0.965, 0.962),
    "rheum": (0.619, 0.666, 0.614, 0.669),
    # Printed as 0.975 and 0.975 with the ranks 2 and 3: the third decimal hides the difference.
    "voting": (0.972, 0.981, 0.9751, 0.975),
    "wine": (0.957, 0.978, 0.946, 0.970),
}
SCORES = np.array(list(AREAS.values()))
