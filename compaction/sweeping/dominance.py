"""Sums of weights over points of a plane, many at once: of all in [start, end) with y >= limit.

A wavelet matrix over the y of the points, which are sorted by x: a sum takes as many steps as y
has bits, whatever the number of points, and all sums of an array take them together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Dominance:
    """Points with whole y of at least 0, in the order of their x, each with some weights.

    `weights` has a row a point and a column for each sum that is asked for; for no point at all it
    is of the shape (0, columns).
    """

    def __init__(self, ys: Any, weights: Any) -> None:
        values: Ints = np.asarray(ys, dtype=np.int64)
        weighing: Ints = np.atleast_2d(np.asarray(weights, dtype=np.int64))
        self._total = _sums(weighing)
        # Only the order of the y matters, so that they take no more bits than there are points.
        self._known, values = np.unique(values, return_inverse=True)
        self._bits = max(1, len(self._known).bit_length())
        self._zeros: list[Ints] = []
        self._below: list[Ints] = []
        for bit in reversed(range(self._bits)):
            ones = (values >> bit) & 1
            self._zeros.append(_sums(1 - ones))
            order = np.argsort(ones, kind="stable")
            values, weighing = values[order], weighing[order]
            self._below.append(_sums(weighing))

    def sums(self, start: Ints, end: Ints, limit: Ints) -> Ints:
        """For each triple, a row: the weights of the points [start, end) with y >= limit."""
        whole = self._total[end] - self._total[start]
        below = np.zeros_like(whole)
        rank = np.searchsorted(self._known, limit, side="left")
        some = np.flatnonzero(end > start)
        if not len(some):
            return below
        left, right, rank = start[some], end[some], rank[some]
        part = np.zeros_like(whole[some])
        for level, bit in enumerate(reversed(range(self._bits))):
            zeros, weights = self._zeros[level], self._below[level]
            left0, right0 = zeros[left], zeros[right]
            one = ((rank >> bit) & 1).astype(bool)
            where = np.flatnonzero(one)
            part[where] += weights[right0[where]] - weights[left0[where]]
            count = zeros[-1]
            left = np.where(one, count + left - left0, left0)
            right = np.where(one, count + right - right0, right0)
        below[some] = part
        return whole - below


def _sums(values: Ints) -> Ints:
    out: Ints = np.zeros((len(values) + 1, *values.shape[1:]), dtype=np.int64)
    np.cumsum(values, axis=0, out=out[1:])
    return out
