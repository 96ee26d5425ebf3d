"""Simulated powers -> where they cross the wanted one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["crossing"]

EDGE = 1e-4  # shares are held off 0 and 1, where the probit has no value


def crossing(
    places: Sequence[float], powers: Sequence[float], target: float
) -> float | None:
    """Interpolate where a rising power reaches the target.

    Parameters
    ----------
    places : sequence of float, shape (n_points,)
        Rising; on the scale on which the probit of the power is nearly straight:
        √n, or a delta.
    powers : sequence of float, shape (n_points,)
        Simulated shares.
    target : float
        Wanted power.

    Returns
    -------
    float or None
        None where no share reaches the target; the first place where all do.

    Examples
    --------
    >>> crossing([1.0, 2.0], [0.2, 0.8], 0.5)
    1.5
    """
    from scipy.special import ndtri

    if not places:
        return None
    rising = np.maximum.accumulate(np.asarray(powers, dtype=np.float64))
    if rising[-1] < target:
        return None
    at = int(np.argmax(rising >= target))
    if at == 0:
        return float(places[0])
    low, high = (float(ndtri(np.clip(rising[i], EDGE, 1 - EDGE))) for i in (at - 1, at))
    share = (float(ndtri(target)) - low) / (high - low) if high > low else 1.0
    share = min(max(share, 0.0), 1.0)
    return float(places[at - 1] + share * (places[at] - places[at - 1]))
