"""Every right value of ``trials_variance.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.components import component, fit_table
from onechange.stats.icc import intraclass
from onechange.stats.passrates import disagreement, flipping, pass_rates
from onechange.stats.projection import projected_variance
from onechange.stats.runs import noise_variance_within
from onechange.stats.student import t_law

FAMILY = json.loads(
    Path(__file__).with_name("trials_variance.json").read_text(encoding="utf-8")
)


def _scores(name: str) -> np.ndarray:
    return np.array(FAMILY["datasets"][name]["scores"], dtype=float)


def _arms(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = FAMILY["datasets"][name]
    return np.array(data["baseline"]), np.array(data["variant"])


def _answers(name: str) -> tuple[np.ndarray, np.ndarray]:
    scores = _scores(name)
    return (
        scores.sum(axis=1).astype(np.int64),
        np.full(scores.shape[0], scores.shape[1], dtype=np.int64),
    )


def _mean_squares(case: dict[str, Any]) -> dict[str, float]:
    fit = fit_table(_scores(case["data"]))
    return {
        "question": fit.question.value,
        "trial": fit.trial.value,
        "residual": fit.residual.value,
    }


def _components(case: dict[str, Any]) -> dict[str, float]:
    fit = fit_table(_scores(case["data"]))
    return {
        "question": component(fit.question, fit.residual).variance,
        "trial": component(fit.trial, fit.residual).variance,
        "residual": fit.residual.value,
    }


def _one_way(case: dict[str, Any]) -> dict[str, float]:
    fit = fit_table(_scores(case["data"]))
    return {
        "question": component(fit.between, fit.within).variance,
        "within": fit.within.value,
    }


def _icc(case: dict[str, Any]) -> float:
    model, kind = case["name"][4], case["name"][6].lower()
    return intraclass(fit_table(_scores(case["data"])))[f"icc_{model}_{kind}"].value


def _icc_limits(case: dict[str, Any]) -> list[float]:
    found = intraclass(fit_table(_scores(case["data"])))["icc_1_1"]
    return [found.low, found.high]


def _variance_of_mean(case: dict[str, Any]) -> float:
    scores = _scores(case["data"])
    fit = fit_table(scores)
    trials = case["params"].get("K", scores.shape[1])
    return projected_variance(
        component(fit.between, fit.within).variance,
        [(fit.within.value, 0.0, trials)],
        scores.shape[0],
    )


def _two_way_variance(case: dict[str, Any]) -> float:
    scores = _scores(case["data"])
    fit = fit_table(scores)
    return projected_variance(
        component(fit.question, fit.residual).variance,
        [
            (
                fit.residual.value,
                component(fit.trial, fit.residual).variance,
                scores.shape[1],
            )
        ],
        scores.shape[0],
    )


def _run_sd(case: dict[str, Any]) -> float:
    fit = fit_table(_scores(case["data"]))
    # the mean of a run varies by its own part and by that of its answers
    between = component(fit.trial, fit.residual).variance
    return float(np.sqrt(between + fit.residual.value / fit.n_questions))


def _flip_rate(case: dict[str, Any]) -> float:
    return float(np.mean(flipping(*_answers(case["data"]))))


def _disagreement(case: dict[str, Any]) -> float | None:
    return disagreement(*_answers(case["data"]))


def _pass_at(case: dict[str, Any]) -> float:
    rate = pass_rates(*_answers(case["data"]))[case["params"]["k"] - 1]
    return rate.any_right if "@" in case["name"] else rate.all_right


def _one_problem(case: dict[str, Any]) -> float:
    p = case["params"]
    rates = pass_rates(np.array([p["c"]]), np.array([p["n"]]))
    return rates[p["k"] - 1].any_right


def _standard_error(case: dict[str, Any]) -> float:
    baseline, variant = _arms(case["data"])
    law = t_law((variant - baseline).mean(axis=1))
    assert law is not None
    return law.standard_error


def _noise_share(case: dict[str, Any]) -> dict[str, float]:
    arms = _arms(case["data"])
    n, trials = arms[0].shape
    noise = noise_variance_within(
        n, [(fit_table(arm).within.value, trials) for arm in arms]
    )
    return {"noise_var": noise, "share": noise / _standard_error(case) ** 2}


QUANTITIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "ms_two_way": _mean_squares,
    "variance_components": _components,
    "variance_components_oneway": _one_way,
    "ICC(1,1)": _icc,
    "ICC(1,k)": _icc,
    "ICC(2,1)": _icc,
    "icc11_ci": _icc_limits,
    "var_mean_K": _variance_of_mean,
    "var_mean_K1": _variance_of_mean,
    "var_mean_K5": _variance_of_mean,
    "var_mean_K10": _variance_of_mean,
    "var_mean_two_way": _two_way_variance,
    "run_sd": _run_sd,
    "flip_rate": _flip_rate,
    "pairwise_disagreement": _disagreement,
    "pass@k_formula": _one_problem,
    "delta_se_question_means": _standard_error,
    "delta_noise_share": _noise_share,
}


@pytest.mark.parametrize("case", FAMILY["cases"], ids=lambda case: case["name"])
def test_right_value(case: dict[str, Any]) -> None:
    quantity = case["name"].split("/")[0]
    found = QUANTITIES.get(quantity, _pass_at)(case)
    tolerance = {key: case["tolerance"][key] for key in ("rel", "abs")}
    assert found == pytest.approx(case["value"], **tolerance)


def test_every_case_has_been_read() -> None:
    assert len(FAMILY["cases"]) == 56
