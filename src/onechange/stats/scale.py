"""Values of any size, brought to a size whose powers are ordinary numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["moderate"]

FloatArray = NDArray[np.float64]

USUAL = 2.0**60  # third powers and single precision do not overflow


def moderate(values: FloatArray) -> tuple[FloatArray, float]:
    """Divide values by a power of two when they are very large or very small.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Returns
    -------
    values : ndarray of float, shape (n,)
        The same array, when its largest absolute value is a usual one.
    scale : float
        What they were divided by, without rounding.

    Examples
    --------
    >>> import numpy as np
    >>> values, scale = moderate(np.array([3e60, -1e60]))
    >>> bool(np.abs(values).max() <= 1.0), bool(values[0] * scale == 3e60)
    (True, True)
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest == 0.0 or 1.0 / USUAL <= largest <= USUAL:
        return values, 1.0
    scale = float(np.ldexp(1.0, np.frexp(largest)[1]))
    return values / scale, scale
