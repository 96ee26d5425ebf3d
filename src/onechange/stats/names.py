"""The names of all intervals and tests, the same in Python, plan and flags."""

from __future__ import annotations

import difflib

from onechange.errors import MethodError

__all__ = [
    "BINARY_NAMES",
    "BOOTSTRAP_NAMES",
    "INTERVAL_NAMES",
    "RATIO_NAMES",
    "RESAMPLING_NAMES",
    "TEST_NAMES",
    "known_name",
]

BOOTSTRAP_NAMES = (
    "percentile",
    "expanded-percentile",
    "basic",
    "bca",
    "studentized",
    "bayesian",
)
RATIO_NAMES = ("guarded-fieller", "fieller")
INTERVAL_NAMES = (
    "auto",
    "newcombe",
    "newcombe-cluster",
    "tango",
    "bonett-price",
    "agresti-min",
    "wald",
    "t",
    "guarded-t",
    "sign-flip",
    "sign-flip+guarded-t",
    *BOOTSTRAP_NAMES,
    "cr2-t",
    "guarded-cr2-t",
    "two-way",
    "fieller",
    "guarded-fieller",
    "hall",
    "wilson",
)
RESAMPLING_NAMES = ("multinomial", "poisson", "stratified")
TEST_NAMES = (
    "auto",
    "sign-flip",
    "mcnemar-midp",
    "mcnemar-exact",
    "mcnemar-asymptotic",
    "t",
    "wilcoxon",
)

# Only for scores of 0 and 1.
BINARY_NAMES = frozenset(
    {
        "newcombe",
        "newcombe-cluster",
        "tango",
        "bonett-price",
        "agresti-min",
        "wald",
        "mcnemar-midp",
        "mcnemar-exact",
        "mcnemar-asymptotic",
    }
)


def known_name(name: str, names: tuple[str, ...], kind: str) -> str:
    """Return `name` if it is one of `names`.

    Raises
    ------
    MethodError
        Otherwise, with the nearest valid name.
    """
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(names)}."
    raise MethodError(f'"{name}" is not the name of {kind}{hint}')
