"""The common unit of a set of scores: 0/1, fifths, thirds, rounded decimals.

Sums of values on a lattice tie exactly; on whole numbers those ties are found
with plain ``==``, which binary fractions such as 0.1 do not allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING_NOISE", "Lattice", "denominator_of", "find_lattice"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_INTEGER = 10**9  # beyond it single atoms weigh less than 1e-9
LARGEST_DENOMINATOR = 10**5
ROUNDING_NOISE = 2e-12  # of the largest value
FIRST_PROBE = 8  # values that rule out most multipliers
PROBE = 48  # values whose denominators are worked out one by one
FINEST = 1e-6  # the smallest decimal unit
DECIMALS = (1, 10, 100, 1000, 10**4, 10**5, 10**6)


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Whole numbers and the unit that turns them back into the values.

    Parameters
    ----------
    integers : ndarray of int, shape (n_values,)
        ``values / unit``, without a common divisor.
    unit : float
        Distance of neighbouring lattice points, in the unit of the values.
    """

    integers: IntArray
    unit: float

    def points(self) -> FloatArray:
        """Give the values themselves, without their noise.

        Returns
        -------
        ndarray of float, shape (n_values,)
            3 tenths are 0.3, which 3 × 0.1 is not.
        """
        parts = np.rint(1.0 / self.unit)
        if abs(parts * self.unit - 1.0) <= ROUNDING_NOISE:
            return np.asarray(self.integers / parts)
        return np.asarray(self.integers * self.unit, dtype=np.float64)


def find_lattice(values: FloatArray, *, noise: float | None = None) -> Lattice | None:
    """Find the coarsest lattice through zero that holds all values.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Finite values, up to rounding noise.
    noise : float, optional
        Largest rounding noise of a value; by default 2e-12 of the largest value.

    Returns
    -------
    Lattice or None
        None when no unit above a billionth of the largest value fits.

    Notes
    -----
    Decimals are tried first, then the least common multiple of the
    denominators of some values, as they are and relative to the smallest one;
    whatever is proposed is checked on all values.

    Examples
    --------
    >>> import numpy as np
    >>> find_lattice(np.array([0.1, 0.2, -0.3])).integers.tolist()
    [1, 2, -3]
    >>> find_lattice(np.array([1 / 3, -0.4])).integers.tolist()
    [5, -6]
    >>> find_lattice(np.array([np.sqrt(2), np.sqrt(3), np.pi])) is None
    True
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest == 0.0:
        return Lattice(np.zeros(values.size, dtype=np.int64), 1.0)
    magnitude = np.abs(values)
    smallest = float(np.min(magnitude[magnitude > 0.0]))
    noise = ROUNDING_NOISE * largest if noise is None else noise
    for reference in (1.0, smallest):
        if not FINEST <= largest / reference <= LARGEST_INTEGER:
            continue
        scaled = values / reference
        multiplier = _decimal_multiplier(scaled, noise / reference)
        if multiplier is None:
            multiplier = _common_denominator(scaled, noise / reference)
        if multiplier is not None:
            integers = np.rint(scaled * multiplier).astype(np.int64)
            divisor = int(np.gcd.reduce(integers))
            return Lattice(integers // divisor, reference * divisor / multiplier)
    return None


def denominator_of(value: float, noise: float) -> int | None:
    """Return the denominator of the simplest fraction within noise of a value.

    Parameters
    ----------
    value : float
    noise : float
        Largest difference that is rounding.

    Returns
    -------
    int or None
        None above a hundred thousand.

    Examples
    --------
    >>> denominator_of(0.4166666666666667, 1e-15)
    12
    """
    tolerance = max(noise, 4e-16 * abs(value))
    before, current = (1, 0), (int(np.floor(value)), 1)
    rest = value - current[0]
    while abs(value - current[0] / current[1]) > tolerance:
        rest = 1.0 / rest
        whole = int(rest)
        rest -= whole
        before, current = (
            current,
            (whole * current[0] + before[0], whole * current[1] + before[1]),
        )
        if current[1] > LARGEST_DENOMINATOR:
            break
    numerator, denominator = current
    if denominator > LARGEST_DENOMINATOR:
        return None
    return denominator // gcd(numerator, denominator)


def _fits(values: FloatArray, multiplier: int, noise: float) -> NDArray[np.bool_]:
    """Return which values times `multiplier` are whole, up to noise."""
    product = values * multiplier
    # A fit within 2 % of the step is a coincidence once per value, not for all.
    allowed = min(0.01, multiplier * noise + 1e-12)
    return np.asarray(np.abs(product - np.rint(product)) <= allowed)


def _decimal_multiplier(values: FloatArray, noise: float) -> int | None:
    largest = float(np.max(np.abs(values)))
    scale = np.array(DECIMALS, dtype=np.float64)
    scale = scale[scale * largest <= LARGEST_INTEGER]
    product = np.multiply.outer(scale, values[:FIRST_PROBE])
    allowed = np.minimum(0.01, scale * noise + 1e-12)
    fits = np.all(np.abs(product - np.rint(product)) <= allowed[:, None], axis=1)
    for multiplier in scale[fits].tolist():
        if _fits(values, int(multiplier), noise).all():
            return int(multiplier)
    return None


def _common_denominator(values: FloatArray, noise: float) -> int | None:
    largest = float(np.max(np.abs(values)))
    multiplier = 1
    while True:  # the denominators of misfits are new ones, and soon too many
        misfits = values[~_fits(values, multiplier, noise)]
        if misfits.size == 0:
            return multiplier
        for value in misfits[:PROBE].tolist():
            denominator = denominator_of(value, noise)
            if denominator is None:
                return None
            multiplier = lcm(multiplier, denominator)
            if largest * multiplier > LARGEST_INTEGER:
                return None
