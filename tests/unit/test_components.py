"""Mean squares and components of questions × trials tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats

from onechange.stats.components import (
    MeanSquare,
    component,
    f_pvalue,
    fit_table,
    residual_component,
)
from onechange.stats.icc import intraclass


def _table(seed: int, n: int = 12, k: int = 4, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=k)
    scores = scores + rng.normal(size=(n, k))
    scores[rng.random((n, k)) < missing] = np.nan
    return scores


def _long(scores: np.ndarray) -> pd.DataFrame:
    question, trial = np.nonzero(np.isfinite(scores))
    return pd.DataFrame(
        {"question": question, "trial": trial, "score": scores[question, trial]}
    )


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_mean_squares_are_those_of_the_additive_model(
    seed: int, missing: float
) -> None:
    scores = _table(seed, missing=missing)
    model = smf.ols("score ~ C(question) + C(trial)", _long(scores)).fit()
    right = sm.stats.anova_lm(model, typ=2)
    fit = fit_table(scores)
    for part, name in (
        (fit.question, "C(question)"),
        (fit.trial, "C(trial)"),
        (fit.residual, "Residual"),
    ):
        assert part.df == right.loc[name, "df"]
        assert part.value * part.df == pytest.approx(
            right.loc[name, "sum_sq"], rel=1e-9
        )
    assert f_pvalue(fit.trial, fit.residual) == pytest.approx(
        right.loc["C(trial)", "PR(>F)"], rel=1e-9
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_all_correlations_equal_pingouin(seed: int) -> None:
    import pingouin

    scores = _table(seed)
    right = pingouin.intraclass_corr(
        _long(scores), targets="question", raters="trial", ratings="score"
    )
    names = dict(zip(right["Type"], right["ICC"], strict=True))
    found = intraclass(fit_table(scores))
    for ours, *theirs in (
        ("icc_1_1", "ICC1", "ICC(1,1)"),
        ("icc_2_1", "ICC2", "ICC(A,1)"),
        ("icc_1_k", "ICC1k", "ICC(1,k)"),
        ("icc_2_k", "ICC2k", "ICC(A,k)"),
    ):
        [name] = [name for name in theirs if name in names]
        assert found[ours].value == pytest.approx(names[name], rel=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_one_way_components_are_the_mixed_models() -> None:
    scores = _table(5, n=30)
    model = smf.mixedlm("score ~ 1", _long(scores), groups="question").fit(reml=True)
    fit = fit_table(scores)
    question = component(fit.between, fit.within).variance
    assert question == pytest.approx(float(model.cov_re.iloc[0, 0]), rel=1e-4)
    assert fit.within.value == pytest.approx(model.scale, rel=1e-4)


def test_unequal_tables_are_estimated_without_bias() -> None:
    rng = np.random.default_rng(11)
    found = []
    for _ in range(600):
        scores = 0.2 * rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=5)
        scores = scores + 0.1 * rng.normal(size=(60, 5))
        scores[rng.random(scores.shape) < 0.3] = np.nan
        fit = fit_table(scores)
        parts = (
            component(fit.question, fit.residual),
            component(fit.trial, fit.residual),
        )
        found.append([part.variance for part in parts] + [fit.residual.value])
    errors = np.std(found, axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(np.mean(found, axis=0) - [0.04, 0.01, 0.01]) < 4 * errors)


def test_the_interval_of_a_component_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(12)
    held = np.zeros(3)
    n_draws = 1500
    for _ in range(n_draws):
        scores = 0.3 * rng.normal(size=(20, 1)) + 0.1 * rng.normal(size=4)
        fit = fit_table(scores + 0.2 * rng.normal(size=(20, 4)))
        parts = (
            component(fit.question, fit.residual),
            component(fit.trial, fit.residual),
            residual_component(fit.residual),
        )
        held += [
            part.low <= right <= part.high
            for part, right in zip(parts, (0.09, 0.01, 0.04), strict=True)
        ]
    assert np.all(np.abs(held / n_draws - 0.95) < 0.02)


def test_a_component_is_above_zero_exactly_where_the_f_test_says_so() -> None:
    second = MeanSquare(1.0, 20)
    critical = stats.f.ppf(0.975, 4, 20)
    for factor, above in ((0.999, False), (1.001, True)):
        found = component(MeanSquare(critical * factor, 4, 10.0), second)
        assert (found.low > 0) == above


def test_negative_estimates_are_kept_and_count_as_zero() -> None:
    found = component(MeanSquare(0.5, 3, 10.0), MeanSquare(1.0, 30))
    assert found.variance == pytest.approx(-0.05)
    assert found.sd == 0
    assert (found.low, found.sd_interval.low) == (0, 0)
    assert found.high > 0


def test_the_residual_has_the_chi_square_interval() -> None:
    found = residual_component(MeanSquare(2.0, 10))
    assert found.low == pytest.approx(20 / stats.chi2.ppf(0.975, 10))
    assert found.high == pytest.approx(20 / stats.chi2.ppf(0.025, 10))


def test_rounding_noise_is_no_variation() -> None:
    question = np.array([0.1, 0.7, 0.3])[:, None]
    fit = fit_table(question + np.array([0.0, 1e-17, 0.0, -1e-17]) + 0.2 - 0.2)
    assert (fit.within.value, fit.trial.value, fit.residual.value) == (0, 0, 0)
    assert f_pvalue(fit.trial, fit.residual) is None
    shifted = fit_table(question + np.array([0.0, 0.25, 0.5]))
    assert shifted.residual.value == 0
    assert f_pvalue(shifted.trial, shifted.residual) == 5e-324


def test_order_and_shift_change_nothing() -> None:
    scores = _table(3, missing=0.2)
    rng = np.random.default_rng(1)
    moved = scores[rng.permutation(12)][:, rng.permutation(4)] + 5
    for first, second in zip(_parts(scores), _parts(moved), strict=True):
        assert second.value == pytest.approx(first.value, rel=1e-9)
        assert second.factor == pytest.approx(first.factor)


def _parts(scores: np.ndarray) -> list[MeanSquare]:
    fit = fit_table(scores)
    return [fit.between, fit.within, fit.question, fit.trial, fit.residual]


def test_empty_rows_and_columns_do_not_count() -> None:
    scores = _table(4)
    padded = np.full((14, 6), np.nan)
    padded[1:13, 1:5] = scores
    fit = fit_table(padded)
    assert (fit.n_questions, fit.n_trials, fit.n_scores) == (12, 4, 48)
    assert fit.trial.value == pytest.approx(fit_table(scores).trial.value)


def test_trials_that_share_no_question_cannot_be_told_from_questions() -> None:
    scores = np.full((6, 4), np.nan)
    scores[:3, :2] = [[1, 2], [3, 4], [5, 7]]
    scores[3:, 2:] = [[2, 2], [1, 3], [4, 4]]
    fit = fit_table(scores)
    assert fit.trial is None
    assert fit.residual is None
    assert fit.within.df == 6


@pytest.mark.parametrize(
    "scores", [np.zeros((0, 3)), np.full((2, 2), np.nan), np.zeros((3, 0))]
)
def test_no_score_gives_nothing(scores: np.ndarray) -> None:
    fit = fit_table(scores)
    assert (fit.n_questions, fit.within, fit.trial) == (0, None, None)
    assert intraclass(fit) == {}


def test_one_question_shows_no_spread_between_questions() -> None:
    fit = fit_table(np.array([[1.0, 2.0, 4.0]]))
    assert (fit.between, fit.question, fit.trial) == (None, None, None)
    assert fit.within.df == 2


def test_one_trial_has_no_spread_within_questions() -> None:
    fit = fit_table(np.array([[1.0], [2.0], [4.0]]))
    assert fit.within is None
    assert fit.between is not None
    assert (fit.trial_weight, fit.answer_weight) == (1.0, pytest.approx(1 / 3))


def test_weights_are_those_of_the_mean_of_question_means() -> None:
    scores = np.array([[1, 2, 3], [1, np.nan, np.nan], [np.nan, 5, 6]])
    fit = fit_table(scores)
    shares = np.array([1 / 3 + 1, 1 / 3 + 1 / 2, 1 / 3 + 1 / 2]) / 3
    assert fit.trial_weight == pytest.approx(np.sum(shares**2))
    assert fit.answer_weight == pytest.approx((1 / 3 + 1 + 1 / 2) / 9)


def test_equal_answers_make_a_perfect_correlation() -> None:
    found = intraclass(fit_table(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])))
    assert found["icc_1_1"].value == 1
    assert (found["icc_1_1"].low, found["icc_1_1"].high) == (1, 1)
    nothing = intraclass(fit_table(np.ones((4, 3))))
    assert nothing == {}


def test_equal_question_means_leave_the_icc_of_the_mean_undefined() -> None:
    found = intraclass(fit_table(np.array([[0.4, 0.5, 0.6], [0.6, 0.4, 0.5]] * 8)))
    assert found["icc_1_1"].value == pytest.approx(-0.5)
    assert "icc_1_k" not in found


@pytest.mark.filterwarnings("ignore")
def test_the_interval_of_icc_2_1_is_that_of_pingouin() -> None:
    import pingouin

    scores = _table(7, n=20)
    right = pingouin.intraclass_corr(
        _long(scores), targets="question", raters="trial", ratings="score"
    ).set_index("Type")
    row = next(name for name in ("ICC2", "ICC(A,1)") if name in right.index)
    column = next(name for name in right.columns if name.startswith("CI95"))
    found = intraclass(fit_table(scores))["icc_2_1"]
    # rounded to two digits there
    assert [found.low, found.high] == pytest.approx(
        list(right.loc[row, column]), abs=0.0051
    )
