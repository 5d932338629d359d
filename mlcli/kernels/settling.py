"""Compiled settling of a grown tree: its nodes without what only growing needs, its leaves with their values."""

from __future__ import annotations

import numpy as np

from mlcli.kernels.dealing import FEATURE, LEAF, LEFT, NONE_MISSING, SIDE, Settled
from mlcli.kernels.node_sums import Grown
from mlcli.kernels.without_counting import compiled


@compiled
def settle(grown: Grown, bits: int, classes: int, tree: Settled) -> None:
    """Fill in a tree; missing cells that training had none of go with most rows."""
    nodes, leaves, mask = grown.nodes, 0, (1 << bits) - 1
    for node in range(len(tree.left)):
        feature, left, side = nodes[node, FEATURE], nodes[node, LEFT], nodes[node, SIDE]
        tree.feature[node] = feature
        if feature == LEAF:
            tree.left[node], tree.threshold[node], tree.missing_left[node] = leaves, np.nan, False
            if bits == 0:
                tree.value[leaves, 0] = grown.mean[node]
            else:
                for k in range(tree.value.shape[1]):
                    share = (grown.totals[node, k // classes] >> bits * (k % classes)) & mask
                    tree.value[leaves, k] = float(share) / grown.weight[node]
            leaves += 1
            continue
        tree.left[node], tree.threshold[node] = left, grown.threshold[node]
        heavier = grown.weight[left] >= grown.weight[left + 1]
        tree.missing_left[node] = heavier if side == NONE_MISSING else side == 1
        tree.worth[feature] += grown.gain[node]
