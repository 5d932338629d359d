"""Random numbers seeded by content: the same question meets the same numbers in any order, on any worker."""

from __future__ import annotations

import hashlib
import json

import numpy as np

MAX_SEED = 2**63 - 1
"""What a store can hold."""


def digest(*parts: object) -> str:
    """A stable hash of plain JSON values; in a path there may be bytes that are no text."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rng_for(*parts: object) -> np.random.Generator:
    """A generator whose stream depends only on the content of ``parts``."""
    return np.random.Generator(np.random.PCG64(int(digest(*parts)[:32], 16)))
