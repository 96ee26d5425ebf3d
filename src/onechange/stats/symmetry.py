"""Tests on a square table of paired categories: symmetry, and equal margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Note, TestResult

__all__ = ["bowker_test", "stuart_maxwell_test"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

FEW_CHANGES = 10


def bowker_test(counts: IntArray) -> TestResult:
    """Test whether each transition is as frequent as its reverse.

    Parameters
    ----------
    counts : ndarray of int, shape (n_categories, n_categories)
        Questions by baseline category (row) and variant category (column).

    Returns
    -------
    TestResult
        ``pvalue`` None, with note ``test-undefined``, when nothing changed.

    Raises
    ------
    MethodError
        If the table is not square or has a negative count.

    Notes
    -----
    Σ (n_ij − n_ji)²/(n_ij + n_ji) over the pairs i < j with a question in either
    cell, against chi-square with as many degrees of freedom (Bowker 1948). Pairs
    without any question are left out; two categories give McNemar's test.

    Examples
    --------
    >>> import numpy as np
    >>> round(bowker_test(np.array([[5, 8], [2, 9]])).pvalue, 4)
    0.0578
    """
    table = _square(counts)
    upper = np.triu_indices(len(table), 1)
    ahead, back = table[upper], table.T[upper]
    used = ahead + back > 0
    statistic = float(
        np.sum((ahead[used] - back[used]) ** 2 / (ahead[used] + back[used]))
    )
    return _chi_square(statistic, int(used.sum()), "bowker", table)


def stuart_maxwell_test(counts: IntArray) -> TestResult:
    """Test whether the categories are as frequent in both arms.

    Parameters
    ----------
    counts : ndarray of int, shape (n_categories, n_categories)
        Questions by baseline category (row) and variant category (column).

    Returns
    -------
    TestResult
        ``pvalue`` None, with note ``test-undefined``, when nothing changed.

    Raises
    ------
    MethodError
        If the table is not square or has a negative count.

    Notes
    -----
    d'S⁺d with d the differences of the margins and S their covariance under equal
    margins (Stuart 1955, Maxwell 1970); degrees of freedom are the rank of S, which
    falls short of the number of categories minus 1 when some never change into the
    rest.

    Examples
    --------
    >>> import numpy as np
    >>> round(stuart_maxwell_test(np.array([[5, 8], [2, 9]])).pvalue, 4)
    0.0578
    """
    table = _square(counts)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    covariance = np.diag(rows + columns) - table - table.T
    difference = rows - columns
    rank = len(table) - _n_components(table)
    if rank == 0:
        return _chi_square(0.0, 0, "stuart-maxwell", table)
    statistic = float(
        difference @ np.linalg.pinv(covariance, hermitian=True) @ difference
    )
    return _chi_square(statistic, rank, "stuart-maxwell", table)


def _square(counts: IntArray) -> FloatArray:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        raise MethodError(f"the table has shape {table.shape}; expected a square one")
    if np.any(table < 0) or not np.all(np.isfinite(table)):
        raise MethodError("the table has a negative count")
    return table


def _n_components(table: FloatArray) -> int:
    """Count the groups of categories that exchange questions with each other."""
    group = list(range(len(table)))
    for i, j in zip(*np.nonzero(table + table.T), strict=True):
        old, new = group[i], group[j]
        group = [new if g == old else g for g in group]
    return len(set(group))


def _chi_square(
    statistic: float, df: int, method: str, table: FloatArray
) -> TestResult:
    if df == 0:
        note = Note("test-undefined", "No question changed its category: no test.")
        return TestResult(pvalue=None, method=method, exact=False, notes=(note,))
    from scipy.special import chdtrc

    n_changed = int(table.sum() - np.trace(table))
    notes: tuple[Note, ...] = ()
    if n_changed < FEW_CHANGES:
        many = f"{n_changed} questions changed their category"
        who = "1 question changed its category" if n_changed == 1 else many
        text = f"Only {who}; the chi-square approximation is poor."
        notes = (Note("few-changed-answers", text),)
    return TestResult(
        pvalue=max(float(chdtrc(df, statistic)), 5e-324),
        method=method,
        statistic=statistic,
        exact=False,
        notes=notes,
    )
