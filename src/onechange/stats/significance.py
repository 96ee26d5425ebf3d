"""Every test of "no difference" by its name."""

from __future__ import annotations

import math

import numpy as np

from onechange.stats.binary import binary_table, mcnemar_test
from onechange.stats.cluster import cr2_law
from onechange.stats.estimate import Note, TestResult
from onechange.stats.fitting import check_fit, clustered, misfit_of_test
from onechange.stats.sample import PairedSample
from onechange.stats.student import t_law

__all__ = ["named_test"]


def named_test(name: str, sample: PairedSample) -> TestResult:
    """Run the two-sided test called `name`; whole clusters when declared.

    Parameters
    ----------
    name : str
        One of `TEST_NAMES` but ``auto``.
    sample : PairedSample

    Returns
    -------
    TestResult
        pvalue None with note ``test-undefined`` where the test does not exist.

    Raises
    ------
    MethodError
        If the test does not fit this kind of data.
    """
    from onechange.stats.rank import wilcoxon_test
    from onechange.stats.signflip import signflip_test

    clusters = sample.clusters if clustered(sample) else None
    check_fit("test", name, misfit_of_test(name, sample))
    if name.startswith("mcnemar"):
        table = binary_table(sample.baseline, sample.variant)
        return mcnemar_test(table.only_baseline, table.only_variant, method=name)
    if name == "t":
        return _t_test(sample)
    if name == "wilcoxon":
        return wilcoxon_test(sample.difference, clusters=clusters)
    return signflip_test(sample.difference, clusters=clusters)


def _t_test(sample: PairedSample) -> TestResult:
    if clustered(sample) and sample.clusters is not None:
        law = cr2_law(sample.difference, sample.clusters)
    else:
        law = t_law(sample.difference)
    if law is None or law.standard_error == 0 or np.ptp(sample.difference) == 0:
        text = "The t test needs differences that vary, and these do not."
        note = Note("test-undefined", text)
        return TestResult(None, "t", exact=False, notes=(note,))
    statistic = law.estimate / law.standard_error
    log_p = law.log_two_sided(0.0)
    return TestResult(
        max(math.exp(log_p), 5e-324),
        "t",
        statistic=statistic,
        exact=False,
        log10_pvalue=log_p / math.log(10),
    )
