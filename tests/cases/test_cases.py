"""Inputs that broke other tools: the right values through the public interface."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pandas as pd
import pytest

import onechange as oc
from casefiles import codes, compared, delta_of, expected, folder, run, slices_of
from onechange.report.markdown import render_markdown

BY_TYPE = oc.Plan(slices=["question_type"])


def test_case_01_a_run_compared_with_itself() -> None:
    comparison = compared(1)
    delta = delta_of(comparison)
    assert delta.n_pairs == 8
    assert delta.delta == 0
    assert delta.test.pvalue == 1
    assert (delta.wins, delta.ties, delta.losses) == (0, 8, 0)
    assert delta.effect_size["cohen_dz"] is None
    assert delta.interval is None
    assert delta.permutation_interval.degenerate
    assert delta.bootstrap_interval.degenerate
    assert "identical-arms" in codes(comparison.audits[0].notes)


def test_case_01_with_a_declared_range_the_interval_has_width() -> None:
    plan = oc.Plan(metrics=[oc.Metric("answer_score", range=(0, 1))])
    interval = delta_of(compared(1, plan)).interval
    assert interval.low < 0 < interval.high


def test_case_01_no_report_prints_nan_or_inf_or_a_zero_interval() -> None:
    here = folder(1)
    for form in ("text", "markdown", "json"):
        done = run(
            "compare", here / "baseline.csv", here / "variant.csv", "--format", form
        )
        assert done.returncode == 0, done.stderr
        assert not re.search(r"\b(nan|inf|infinity)\b", done.stdout, re.IGNORECASE)
        assert "Warning" not in done.stderr


def test_case_02_every_question_moves_by_the_same_amount() -> None:
    delta, right = delta_of(compared(2)), expected(2)
    assert delta.delta == pytest.approx(0.05, abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert delta.permutation_interval.low == pytest.approx(0.05, abs=1e-9)
    assert delta.permutation_interval.high == pytest.approx(0.05, abs=1e-9)
    assert delta.permutation_interval.degenerate
    assert [delta.interval.low, delta.interval.high] == pytest.approx(
        right["decision_ci"], abs=1e-7
    )
    assert (delta.wins, delta.ties, delta.losses) == (8, 0, 0)
    assert delta.effect_size["cohen_dz"] is None


def test_case_03_five_questions_are_too_few() -> None:
    delta, right = delta_of(compared(3)), expected(3)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert delta.interval is None
    note = next(n for n in delta.notes if n.code == "too-few-questions")
    assert "0.0625" in note.text
    for name, key, tolerance in (
        ("percentile", "boot_percentile_exact", 1e-9),
        ("t", "t_ci", 1e-9),
    ):
        plan = oc.Plan(analysis=oc.Analysis(interval=name))
        asked = delta_of(compared(3, plan))
        assert [asked.interval.low, asked.interval.high] == pytest.approx(
            right[key], abs=tolerance
        )
        assert "too-few-questions" in codes(asked.notes)


def test_case_03_is_inconclusive_because_of_too_few_questions() -> None:
    plan = oc.Plan(primary="answer_score")
    decision = oc.decide(compared(3, plan))
    assert decision.decision == "inconclusive"
    assert "too few questions" in decision.statuses[0].reason


def test_case_04_only_questions_scored_in_both_arms_are_pairs() -> None:
    comparison, right = compared(4), expected(4)
    delta = delta_of(comparison)
    assert delta.n_pairs == right["n_pairs"]
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.baseline == pytest.approx(right["baseline_mean"], abs=1e-9)
    assert delta.variant == pytest.approx(right["variant_mean"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    audit = comparison.audits[0]
    assert audit.paired == 8
    ledger = audit.metrics[delta.metric]
    assert (ledger.pairs, ledger.unscored_baseline, ledger.unscored_variant) == (
        6,
        1,
        1,
    )


@pytest.mark.parametrize("metric", ["citation_precision", "retry_count"])
def test_case_05_absolute_deltas_of_zero_means(metric: str) -> None:
    delta, right = delta_of(compared(5), metric), expected(5)[metric]
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]


def test_case_06_ties_of_decimals_are_counted() -> None:
    delta, right = delta_of(compared(6)), expected(6)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert delta.test.exact


def test_case_07_p_is_exact_and_never_zero() -> None:
    delta, right = delta_of(compared(7)), expected(7)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == pytest.approx(right["p_exact"], abs=1e-12)


def test_case_08_balanced_discordance_has_p_one() -> None:
    plan = oc.Plan(analysis=oc.Analysis(test="mcnemar-exact"))
    delta, right = delta_of(compared(8, plan)), expected(8)
    table = delta.table
    counts = [table.both, table.only_baseline, table.only_variant, table.neither]
    assert counts == right["table"]
    assert delta.delta == 0
    assert delta.test.pvalue == 1
    sign_flip = oc.Plan(analysis=oc.Analysis(test="sign-flip"))
    assert delta_of(compared(8, sign_flip)).test.pvalue == 1
    assert delta_of(compared(8)).test.pvalue <= 1


@pytest.mark.parametrize("test", ["mcnemar-exact", "sign-flip"])
def test_case_09_the_test_is_paired(test: str) -> None:
    delta = delta_of(compared(9, oc.Plan(analysis=oc.Analysis(test=test))))
    right = expected(9)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == pytest.approx(right["p"], abs=1e-12)
    assert delta.standard_error == pytest.approx(right["se_paired"], abs=1e-12)
    assert delta.test.pvalue < 0.05


def test_case_09_percentile_interval() -> None:
    plan = oc.Plan(analysis=oc.Analysis(interval="percentile"))
    interval = delta_of(compared(9, plan)).interval
    assert [interval.low, interval.high] == pytest.approx(
        expected(9)["boot_percentile_exact"], abs=1 / 60 + 1e-9
    )


def _comparable(result: str) -> dict:
    found = json.loads(result)
    del found["inputs"]
    return found


def test_case_15_row_and_column_order_change_nothing() -> None:
    here = folder(15)
    outputs = {}
    for form, seed in (("", "1"), ("_shuffled", "2"), ("_wide", "3")):
        done = run(
            "compare",
            here / f"baseline{form}.csv",
            here / f"variant{form}.csv",
            "--slice=question_type",
            "--metric=answer_score",
            "--format=json",
            PYTHONHASHSEED=seed,
        )
        assert done.returncode == 0, done.stderr
        outputs[form] = _comparable(done.stdout)
    assert outputs[""]["deltas"] == outputs["_shuffled"]["deltas"]
    assert outputs[""]["deltas"] == outputs["_wide"]["deltas"]
    assert outputs[""] == outputs["_shuffled"]
    delta = outputs[""]["deltas"][0]
    assert delta["delta"] == pytest.approx(expected(15)["delta"], abs=1e-9)
    assert delta["test"]["pvalue"] == pytest.approx(
        expected(15)["p_signflip"], abs=1e-12
    )


def test_case_15_two_processes_write_the_same_bytes() -> None:
    here = folder(15)
    words = ("compare", here / "baseline.csv", here / "variant.csv", "--format=json")
    first = run(*words, PYTHONHASHSEED="1", TZ="Asia/Tokyo")
    second = run(*words, PYTHONHASHSEED="99", LC_ALL="C")
    assert first.returncode == 0
    assert first.stdout == second.stdout


def test_case_16_rows_are_paired_by_id() -> None:
    delta, right = delta_of(compared(16)), expected(16)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == pytest.approx(right["p_signflip"], abs=1e-12)
    sd = delta.standard_error * delta.n_pairs**0.5
    assert sd == pytest.approx(0.0099620492, abs=1e-9)


def test_case_17_duplicate_ids_are_refused_with_their_rows() -> None:
    here = folder(17)
    done = run("compare", here / "baseline.csv", here / "variant.csv")
    assert done.returncode == 2
    assert done.stdout == ""
    for part in ("baseline.csv", "q2", "3", "4"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_case_18_ids_are_compared_as_text() -> None:
    comparison, right = compared(18, baseline="baseline.jsonl"), expected(18)
    delta = delta_of(comparison)
    assert delta.n_pairs == right["n_pairs"]
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]


def test_case_18_a_number_and_its_text_collide() -> None:
    with pytest.raises(oc.InputError, match=r'collision\.jsonl.*"1"'):
        oc.read(folder(18) / "collision.jsonl")


def test_case_19_both_means_are_over_the_common_questions() -> None:
    comparison, right = compared(19), expected(19)
    delta, audit = delta_of(comparison), comparison.audits[0]
    assert delta.n_pairs == right["n_pairs"]
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.baseline == pytest.approx(0.725, abs=1e-9)
    assert delta.variant == pytest.approx(0.705, abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert list(audit.only_baseline) == right["only_baseline"]
    assert list(audit.only_variant) == right["only_variant"]
    assert "unmatched-questions" in codes(audit.notes)


def test_case_20_labels_that_look_missing_stay_labels() -> None:
    comparison, right = compared(20, BY_TYPE), expected(20)
    found = slices_of(comparison)
    assert {label: d.n_pairs for label, d in found.items()} == right["slice_n"]
    assert {label: d.delta for label, d in found.items()} == pytest.approx(
        right["slice_delta"], abs=1e-9
    )
    assert delta_of(comparison).delta == pytest.approx(right["delta"], abs=1e-9)


def test_case_21_byte_order_marks_and_crlf() -> None:
    delta = delta_of(compared(21, variant="variant.jsonl"))
    assert delta.n_pairs == 4
    assert delta.metric == "answer_score"
    assert delta.delta == pytest.approx(0.075, abs=1e-9)


def test_case_22_true_and_false_as_text() -> None:
    plan = oc.Plan(analysis=oc.Analysis(test="mcnemar-exact"))
    delta, right = delta_of(compared(22, plan)), expected(22)
    assert delta.baseline == right["pass_baseline"]
    assert delta.variant == right["pass_variant"]
    assert (delta.wins, delta.losses) == (2, 0)
    assert delta.test.pvalue == right["p_mcnemar_exact"]


def test_case_22_a_word_that_is_neither_is_refused() -> None:
    with pytest.raises(oc.InputError, match=r"bad_value\.jsonl:1.*correct.*maybe"):
        oc.read(folder(22) / "bad_value.jsonl")


def test_case_23_the_overall_delta_is_the_mean_over_questions() -> None:
    comparison, right = compared(23, BY_TYPE), expected(23)
    delta = delta_of(comparison)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.interval.low < delta.delta < delta.interval.high
    assert delta.test.pvalue == pytest.approx(right["p_signflip"], abs=1e-12)
    found = slices_of(comparison)
    assert {k: d.delta for k, d in found.items()} == pytest.approx(
        right["slice_delta"], abs=1e-9
    )
    assert found["multi_hop"].test.pvalue == 0.25
    assert next(iter(found)) == "multi_hop"  # the slice that got worse stands first


def test_case_30_trials_are_averaged_per_question() -> None:
    plan = oc.Plan(analysis=oc.Analysis(interval="t"))
    comparison, right = compared(30, plan), expected(30)
    delta = delta_of(comparison)
    assert delta.n_pairs == right["n_questions"]
    assert comparison.audits[0].trials == (5, 5)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert [delta.interval.low, delta.interval.high] == pytest.approx(
        right["t_ci"], abs=1e-9
    )


def test_case_30_run_to_run_variance_stands_apart() -> None:
    comparison, right = compared(30), expected(30)
    delta = delta_of(comparison)
    assert delta.interval.low <= 0 <= delta.interval.high
    row = comparison.trials[0]
    for arm in (row.baseline, row.variant):
        assert (arm.n_questions, arm.n_trials) == (6, 5)
        assert arm.within_question_sd == pytest.approx(right["within_sd"], abs=1e-12)
    assert row.delta.reason == (
        "not estimable (6 questions have two scored trials; 10 are needed to tell "
        "runs from answers)"
    )
    text = render_markdown(comparison)
    assert "5 trials each" in text
    assert "0.0008" not in text  # the p-value of 30 rows taken as questions
    assert "0.085" not in text  # and the end of their interval


def test_case_31_one_trial_has_no_run_variance() -> None:
    comparison, right = compared(31), expected(31)
    delta = delta_of(comparison)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    for arm in (comparison.trials[0].baseline, comparison.trials[0].variant):
        assert arm.between_trial_sd is None
        assert arm.reason == "not estimable (1 trial)"
        assert arm.within_question_sd is None
        assert (arm.components.trial, arm.iccs, arm.flip_rate) == (None, {}, None)
    assert comparison.trials[0].delta.noise_floor is right["run_sd"]
    assert codes(comparison.trials[0].notes) == {"one-trial"}


def test_case_31_one_trial_in_one_arm_only() -> None:
    here = folder(31)
    rows = (here / "baseline.csv").read_text().splitlines()
    more = [row.replace(",1,", ",2,", 1) for row in rows[1:]]
    several = pd.read_csv(io.StringIO("\n".join([*rows, *more])))
    comparison = oc.compare(several, here / "variant.csv")
    row = comparison.trials[0]
    assert row.baseline.within_question_sd == 0
    assert row.variant.within_question_sd is None
    assert row.variant.reason == "not estimable (1 trial)"


def test_case_32_markdown_survives_hostile_labels() -> None:
    here, right = folder(32), expected(32)
    words = (
        "compare",
        here / "baseline.csv",
        here / "variant.csv",
        "--slice=question_type",
    )
    report = run(*words, "--format=markdown").stdout
    header = None
    for line in report.splitlines():
        if line.startswith("|"):
            cells = len(re.split(r"(?<!\\)\|", line))
            header = header or cells
            assert cells == header, line
        else:
            header = None
    outside_code = re.sub(r"^```.*?^```", "", report, flags=re.MULTILINE | re.DOTALL)
    assert "<b>html</b>" not in outside_code
    found = json.loads(run(*words, "--format=json").stdout)
    sizes = {
        d["slice"]["question_type"]: d["n_pairs"] for d in found["deltas"] if d["slice"]
    }
    assert sizes == right["slice_n"]
    assert found["deltas"][0]["metric"] == "score|strict"
    assert found["deltas"][0]["delta"] == pytest.approx(right["delta"], abs=1e-9)


def test_case_33_labels_appear_character_for_character() -> None:
    here, right = folder(33), expected(33)
    words = (
        "compare",
        here / "baseline.csv",
        here / "variant.csv",
        "--slice=question_type",
    )
    report = run(*words, "--format=markdown").stdout
    text = run(*words).stdout
    found = json.loads(run(*words, "--format=json").stdout)
    labels = {d["slice"]["question_type"] for d in found["deltas"] if d["slice"]}
    assert labels == set(right["slice_labels"])
    for label in right["slice_labels"]:
        shown = label.replace("_", r"\\?_")
        assert re.search(rf"(?<![\w.]){shown}(?![\w.])", report), label
        assert label in text


def test_case_34_nothing_is_printed_as_minus_zero() -> None:
    here = folder(34)
    delta = delta_of(compared(34))
    assert delta.delta == pytest.approx(-0.0004, abs=1e-9)
    assert delta.test.pvalue == 0.5
    for form in ("text", "markdown"):
        words = ("compare", here / "baseline.csv", here / "variant.csv")
        report = run(*words, "--format", form).stdout
        assert not re.search(r"[-−]0(\.0*)?(?![\d.])", report)


def test_case_35_ties_up_to_rounding_noise() -> None:
    delta, right = delta_of(compared(35)), expected(35)
    assert (delta.wins, delta.ties, delta.losses) == (3, 5, 2)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)


def test_case_36_a_pass_rate_has_an_interval_at_the_edge() -> None:
    right = expected(36)
    comparison = compared(36)
    interval = delta_of(comparison).baseline_interval
    assert interval.method == "wilson"
    assert interval.low == pytest.approx(right["wilson_38_38"][0], abs=1e-9)
    assert interval.high == 1
    here = folder(36)
    none = oc.compare(here / "none_pass.csv", here / "none_pass.csv")
    interval = delta_of(none).variant_interval
    assert interval.low == 0
    assert interval.high == pytest.approx(right["wilson_0_20"][1], abs=1e-9)


def test_case_38_a_constant_arm_is_no_obstacle() -> None:
    delta, right = delta_of(compared(38)), expected(38)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == right["p_signflip"]
    assert delta.effect_size["cohen_dz"] == pytest.approx(right["dz"], abs=1e-9)
    plan = oc.Plan(analysis=oc.Analysis(interval="t"))
    interval = delta_of(compared(38, plan)).interval
    assert [interval.low, interval.high] == pytest.approx(right["t_ci"], abs=1e-9)


def test_case_40_an_empty_metric_spoils_nothing() -> None:
    comparison, right = compared(40), expected(40)
    for metric in ("answer_score", "faithfulness"):
        delta = delta_of(comparison, metric)
        assert delta.n_pairs == 6
        assert delta.delta == pytest.approx(right[metric]["delta"], abs=1e-9)
        assert delta.test.pvalue == right[metric]["p"]
    empty = delta_of(comparison, "context_recall")
    assert empty.n_pairs == 0
    assert empty.delta is None
    assert "not-measured" in codes(empty.notes)
    here = folder(40)
    report = run("compare", here / "baseline.csv", here / "variant.csv")
    assert report.returncode == 0
    assert "not measured" in report.stdout


def test_swapping_the_arms_swaps_every_sign_and_keeps_every_p() -> None:
    plan = oc.Plan(
        metrics=[
            oc.Metric("latency_ms", direction="lower"),
            oc.Metric("hallucination_rate", direction="lower"),
        ]
    )
    forward = compared(10, plan)
    backward = compared(10, plan, baseline="variant.csv", variant="baseline.csv")
    for one, other in zip(forward.deltas, backward.deltas, strict=True):
        assert one.delta == -other.delta
        assert one.test.pvalue == other.test.pvalue
        assert (one.wins, one.losses) == (other.losses, other.wins)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-12)
        assert replace(one.interval, low=0, high=0) == replace(
            other.interval, low=0, high=0
        )
