"""Cochran's Q against its own special case and its refusals (values: tests/oracle)."""

from __future__ import annotations

import numpy as np
import pytest

from onechange.errors import MethodError
from onechange.stats.binary import mcnemar_test
from onechange.stats.related import cochran_q


def test_two_arms_are_mcnemar_without_correction() -> None:
    rng = np.random.default_rng(2)
    scores = (rng.random((80, 2)) < [0.4, 0.6]).astype(float)
    lost = int(np.sum((scores[:, 0] == 1) & (scores[:, 1] == 0)))
    gained = int(np.sum((scores[:, 0] == 0) & (scores[:, 1] == 1)))
    right = mcnemar_test(lost, gained, method="mcnemar-asymptotic")
    assert cochran_q(scores).pvalue == pytest.approx(right.pvalue, rel=1e-9)


def test_arms_that_always_agree_leave_the_test_undefined() -> None:
    found = cochran_q(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    assert found.pvalue is None
    assert [note.code for note in found.notes] == ["test-undefined"]


@pytest.mark.parametrize("scores", [np.ones((4, 1)), np.full((4, 2), 0.5)])
def test_what_it_is_not_for_is_refused(scores: np.ndarray) -> None:
    with pytest.raises(MethodError, match="Cochran's Q"):
        cochran_q(scores)
