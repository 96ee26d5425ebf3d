from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import builders
from onechange.delta import Bounds
from onechange.report import render
from onechange.report.json_output import to_json, to_plain
from onechange.stats.estimate import Interval, TestResult

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema-1.json").read_text(encoding="utf-8")
)


def _closed(node: Any) -> Any:
    """The schema without room for keys that it does not describe."""
    if isinstance(node, dict):
        node = {key: _closed(value) for key, value in node.items()}
        if "properties" in node and "additionalProperties" not in node:
            node["additionalProperties"] = False
    elif isinstance(node, list):
        node = [_closed(value) for value in node]
    return node


RESULTS = {
    "decision": builders.decision(),
    "comparison": builders.comparison(),
    "no slices": builders.comparison(slices=(), trials=(), rates=()),
    "nothing measured": builders.comparison(
        deltas=(builders.empty(),), slices=(), trials=(), rates=(), notes=()
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_output_fits_the_schema_and_the_schema_names_every_key(name: str) -> None:
    jsonschema.validate(
        json.loads(to_json(RESULTS[name])),
        _closed(deepcopy(SCHEMA)),
        cls=jsonschema.Draft202012Validator,
    )


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_nothing_that_json_does_not_know_is_written() -> None:
    odd = builders.delta(
        baseline=float("nan"),
        delta=-0.0,
        interval=Interval(float("-inf"), 0.2, 0.95, "sign-flip"),
        bounds=Bounds(None, None, 10, 1, 0, None, "no range"),
        effect_size={"cohen_dz": float("inf")},
    )
    text = to_json(builders.comparison(deltas=(odd,)))
    plain = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    found = plain["deltas"][0]
    assert found["baseline"] is None
    assert found["interval"]["low"] is None
    assert found["effect_size"]["cohen_dz"] is None
    assert "-0.0," not in text


def test_numbers_keep_their_full_precision() -> None:
    value = 0.1 + 0.2
    text = to_json(builders.comparison(deltas=(builders.delta(delta=value),)))
    assert json.loads(text)["deltas"][0]["delta"] == value
    assert "0.30000000000000004" in text


def test_a_pvalue_below_the_double_range_is_not_zero() -> None:
    test = TestResult(0.0, "sign-flip", log10_pvalue=-400.5)
    plain = to_plain(builders.comparison(deltas=(builders.delta(test=test),)))
    assert plain["deltas"][0]["test"]["pvalue"] == 5e-324
    assert plain["deltas"][0]["test"]["log10_pvalue"] == -400.5


def test_an_undefined_pvalue_is_null() -> None:
    test = TestResult(None, "sign-flip")
    plain = to_plain(builders.comparison(deltas=(builders.delta(test=test),)))
    assert plain["deltas"][0]["test"]["pvalue"] is None


def test_an_empty_metric_counts_nothing_as_zero() -> None:
    plain = to_plain(builders.comparison(deltas=(builders.empty(),)))["deltas"][0]
    assert plain["n_pairs"] == 0
    for key in ("baseline", "variant", "delta", "interval", "test", "wins", "losses"):
        assert plain[key] is None


def test_labels_are_written_unchanged() -> None:
    labels = ("multi|hop", "line one\nline two", "1e5", "007", "tail\\|", "ü日本")
    result = builders.comparison(slices=(builders.breakdown(labels),))
    found = json.loads(to_json(result))["deltas"]
    assert [d["slice"]["qtype"] for d in found if d["slice"]] == list(labels)


def test_the_decision_is_null_for_a_bare_comparison() -> None:
    assert to_plain(builders.comparison())["decision"] is None
    decided = to_plain(builders.decision())["decision"]
    assert decided["decision"] == "inconclusive"
    assert [s["status"] for s in decided["statuses"]] == ["inconclusive", "pass"]


def test_several_variants_have_one_ledger_each() -> None:
    base = builders.comparison()
    other = replace(base.variants[0], name="second")
    trials = (*base.trials, *base.trials)
    result = replace(
        base,
        variants=(*base.variants, other),
        audits=(*base.audits, builders.audit(variant_name="second")),
        pairs=(*base.pairs, *base.pairs),
        trials=trials,
    )
    plain = json.loads(to_json(result))
    assert [audit["variant"] for audit in plain["audit"]] == ["variant", "second"]
    assert len(plain["trials"]["correct"]["variants"]) == 2
    jsonschema.validate(plain, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_equal_results_give_equal_bytes() -> None:
    assert to_json(builders.decision()) == to_json(builders.decision())
    assert render(builders.decision(), "json") == to_json(builders.decision())


def test_a_setting_that_is_not_a_number_is_null() -> None:
    result = builders.comparison()
    result.baseline.settings.update({"temperature": math.nan, "tools": ("a", 1)})
    settings = to_plain(result)["inputs"]["baseline"]["settings"]
    assert settings == {"temperature": None, "tools": ["a", 1]}
