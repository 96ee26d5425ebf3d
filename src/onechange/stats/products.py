"""Sums of products over many rows that do not hang on the number of threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["products"]

FloatArray = NDArray[np.float64]

ONE_THREAD = 2**18  # multiplications below which no BLAS shares out a product


def products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Compute first' · second, block by block.

    Parameters
    ----------
    first, second : ndarray of float, shape (n_rows, n_columns)
        Tall tables with the same rows.

    Returns
    -------
    ndarray of float, shape (n_columns, n_columns)
        Each block is small enough to stay in one thread, so that the last digits are
        the same on every machine load, and no thread waits for another.

    Examples
    --------
    >>> products(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    size = first.shape[1] * second.shape[1]
    rows = max(1, ONE_THREAD // max(size, 1))
    total = np.zeros((first.shape[1], second.shape[1]))
    for start in range(0, first.shape[0], rows):
        stop = start + rows
        total += first[start:stop].T @ second[start:stop]
    return total
