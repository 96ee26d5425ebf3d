"""Which named methods fit which samples, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Note
from onechange.stats.names import (
    BINARY_NAMES,
    INTERVAL_NAMES,
    RATIO_NAMES,
    TEST_NAMES,
    known_name,
)
from onechange.stats.poisson import FEWEST_UNITS
from onechange.stats.sample import PairedSample
from onechange.stats.twoway import run_law

__all__ = [
    "Misfit",
    "check_fit",
    "clustered",
    "fitting_interval",
    "misfit_note",
    "misfit_of_interval",
    "misfit_of_test",
    "resampling_notes",
    "sample_resampling",
    "statistic_misfits",
]

IntArray = NDArray[np.int64]

_OTHER_TARGET = {
    "fieller": "is for relative deltas and ratio metrics",
    "guarded-fieller": "is for relative deltas and ratio metrics",
    "wilson": "is for one arm's own share",
}
_NEEDS_CLUSTERS = {
    "newcombe-cluster": "newcombe",
    "cr2-t": "t",
    "guarded-cr2-t": "guarded-t",
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a named method does not fit a sample.

    Parameters
    ----------
    reason : str
        What the method is for or needs, as the rest of a sentence.
    way_out : str
        What to do instead.
    by_kind : bool
        True when the kind of data rules the method out; False when only the values
        at hand do, so that the next run may have it.
    """

    reason: str
    way_out: str
    by_kind: bool = True


def clustered(sample: PairedSample) -> bool:
    """Whether clusters are declared and one has more than one question."""
    n_clusters = sample.n_clusters
    return n_clusters is not None and n_clusters < sample.n_pairs


def misfit_of_interval(name: str, sample: PairedSample) -> Misfit | None:
    """Say why an interval does not fit the mean delta of a sample; None if it does.

    Parameters
    ----------
    name : str
        ``auto`` or a name from `INTERVAL_NAMES`.
    sample : PairedSample

    Returns
    -------
    Misfit or None

    Raises
    ------
    MethodError
        If there is no interval of that name.

    Examples
    --------
    >>> from onechange.stats.sample import paired_sample
    >>> sample = paired_sample(np.zeros(8), np.full(8, 0.5))
    >>> misfit_of_interval("bca", sample).reason
    'needs differences that are not all equal'
    """
    known_name(name, INTERVAL_NAMES, "an interval")
    if name in _OTHER_TARGET:
        reason = f"{_OTHER_TARGET[name]}, not for a delta of means"
        return Misfit(reason, 'choose "auto" or another name')
    if name in BINARY_NAMES and not sample.binary:
        reason = "is for scores of 0 and 1, and this metric has others"
        return Misfit(reason, 'choose "auto", "sign-flip+guarded-t" or "t"')
    if name in _NEEDS_CLUSTERS and sample.clusters is None:
        way_out = f'declare them (--cluster COLUMN) or choose "{_NEEDS_CLUSTERS[name]}"'
        return Misfit("needs clusters, and none are declared", way_out)
    if name == "hall" and clustered(sample):
        reason = "treats questions as independent, and clusters are declared"
        return Misfit(reason, 'choose "guarded-cr2-t"')
    if name == "two-way" and run_law(sample, name) is None:
        reason = "needs two or more trials of at least 10 questions in some arm"
        return Misfit(reason, 'add trials or choose "auto"')
    misfit = _resampling_misfit(name, sample)
    if misfit is not None:
        return misfit
    if name == "bca" and _constant(sample):
        way_out = 'choose "auto", "guarded-t" or "expanded-percentile"'
        reason = "needs differences that are not all equal"
        return Misfit(reason, way_out, by_kind=False)
    return None


def misfit_of_test(name: str, sample: PairedSample) -> Misfit | None:
    """Say why a test does not fit a sample; None if it does.

    Parameters
    ----------
    name : str
        ``auto`` or a name from `TEST_NAMES`.
    sample : PairedSample

    Returns
    -------
    Misfit or None

    Raises
    ------
    MethodError
        If there is no test of that name.
    """
    known_name(name, TEST_NAMES, "a test")
    if not name.startswith("mcnemar"):
        return None
    if not sample.binary:
        reason = "is for scores of 0 and 1, and this metric has others"
        return Misfit(reason, 'choose "auto" or "sign-flip"')
    if clustered(sample):
        reason = "treats questions as independent, and clusters are declared"
        way_out = 'choose "auto" or "sign-flip", which flips whole clusters'
        return Misfit(reason, way_out)
    return None


def check_fit(kind: str, name: str, misfit: Misfit | None) -> None:
    """Refuse a method that does not fit.

    Parameters
    ----------
    kind : str
        ``interval`` or ``test``.
    name : str
    misfit : Misfit or None

    Raises
    ------
    MethodError
        With the reason and the way out, unless `misfit` is None.
    """
    if misfit is not None:
        raise MethodError(f'The {kind} "{name}" {misfit.reason}; {misfit.way_out}.')


def fitting_interval(name: str, sample: PairedSample) -> str:
    """Return the name if it fits the sample, else ``auto``."""
    return name if misfit_of_interval(name, sample) is None else "auto"


def misfit_note(subject: str, kind: str, name: str, reason: str) -> Note:
    """Note that the default stands in for a method that was asked for.

    Parameters
    ----------
    subject : str
        What the method does not fit: a metric, with its statistic where not the mean.
    kind : str
        ``interval`` or ``test``.
    name : str
    reason : str
        As in `Misfit`.

    Returns
    -------
    Note
        With code ``method-does-not-fit``.
    """
    text = f'{subject} gets the default {kind}: "{name}" {reason}.'
    return Note("method-does-not-fit", text)


def statistic_misfits(
    metric: str,
    statistic: str,
    interval: str,
    test: str,
    *,
    resampling: str = "multinomial",
) -> tuple[Note, ...]:
    """Note the methods asked for that are for means, not a ratio or a quantile.

    Parameters
    ----------
    metric : str
    statistic : str
        ``ratio``, or the name of a quantile.
    interval, test, resampling : str
        The names asked for.

    Returns
    -------
    tuple of Note

    Examples
    --------
    >>> [note.text for note in statistic_misfits("latency", "p50", "hall", "auto")]
    ['latency (p50) gets the default interval: "hall" is not for quantiles.']
    """
    ratio = statistic == "ratio"
    subject = metric if ratio else f"{metric} ({statistic})"
    reason = f"is not for {'ratio metrics' if ratio else 'quantiles'}"
    notes = []
    if interval not in ("auto", *(RATIO_NAMES if ratio else ("percentile",))):
        notes.append(misfit_note(subject, "interval", interval, reason))
    if test != "auto":
        notes.append(misfit_note(subject, "test", test, reason))
    if resampling != "multinomial" and not ratio:
        notes.append(misfit_note(subject, "resampling", resampling, reason))
    return tuple(notes)


def sample_resampling(asked: str, n_pairs: int, clusters: IntArray | None) -> str:
    """Name the weights of a bootstrap: Poisson's only from 20 units on.

    Parameters
    ----------
    asked : str
        ``multinomial``, ``poisson`` or ``stratified`` (multinomial in each stratum).
    n_pairs : int
    clusters : ndarray of int, shape (n_pairs,), or None
        With clusters these are the units.
    """
    n_units = n_pairs if clusters is None else int(np.unique(clusters).size)
    return asked if asked == "poisson" and n_units >= FEWEST_UNITS else "multinomial"


def resampling_notes(sample: PairedSample, asked: str, metric: str) -> tuple[Note, ...]:
    """Note a resampling that was replaced, or strata that show no spread.

    Parameters
    ----------
    sample : PairedSample
    asked : str
        ``multinomial``, ``poisson`` or ``stratified``.
    metric : str

    Returns
    -------
    tuple of Note
        ``method-does-not-fit`` or ``small-stratum``.
    """
    if asked == "poisson" and sample.resampling != "poisson":
        text = (
            f"{metric} gets multinomial resampling: Poisson resampling needs "
            f"{FEWEST_UNITS} questions or clusters, fewer may all be left out at once."
        )
        return (Note("method-does-not-fit", text),)
    if sample.strata is None:
        return ()
    sizes = np.unique(sample.strata, return_counts=True)[1]
    single = int(np.count_nonzero(sizes == 1))
    if single == 0:
        return ()
    text = (
        f"{single} of {sizes.size} strata have a single question of {metric}, which "
        "shows no spread: the bootstrap intervals are too narrow by that much."
    )
    return (Note("small-stratum", text),)


def _resampling_misfit(name: str, sample: PairedSample) -> Misfit | None:
    if sample.strata is not None and name in ("bca", "studentized", "bayesian"):
        way_out = 'choose "percentile", "expanded-percentile" or "basic"'
        return Misfit("has no form with strata", way_out)
    if sample.resampling == "poisson" and name in ("studentized", "bayesian"):
        way_out = 'choose "percentile", "expanded-percentile", "basic" or "bca"'
        return Misfit("has no form with Poisson resampling", way_out)
    return None


def _constant(sample: PairedSample) -> bool:
    """Whether every resample of questions, or of clusters, has the same mean."""
    if sample.n_pairs == 0:
        return False
    if not clustered(sample):
        return bool(np.ptp(sample.difference) == 0.0)
    from onechange.stats.units import units

    ones = np.ones(sample.n_pairs)
    return units(sample.difference, ones, sample.clusters, None).constant
