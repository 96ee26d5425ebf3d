"""The TOML form of the plan: every key, and every error with its line."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from onechange.errors import PlanError
from onechange.plan import Change, Guardrail, Metric, Plan, Primary, SliceSpec
from onechange.plan.features import NOT_BUILT
from onechange.plan.file import PLAN_KEYS, line_numbers, read_plan_file
from onechange.plan.metrics import resolve_metrics

FULL = """\
# a plan with every key
[experiment]
name = "top_k 3 to 8"
hypothesis = "Page hit rises; faithfulness may fall."
question_set = "financebench-150 v1"   # must match when the arms record one
stage = "development"
accepted_changes = ["agent.version"]
[experiment.change]
setting = "retriever.top_k"
from = 3
to = 8

[data]
question_id = "financebench_id"
trial = "run"
status = "state"
statuses = { "parse_error" = "failed" }
slices = ["question_type", ["question_type", "difficulty"], "tokens:100,300"]
metrics = ["page_hit_at_5", "latency_ms"]
settings = ["model"]
missing = ["N/A", "-"]
min_slice = 12

[[metric]]
name = "latency_ms"
column = "latency"
direction = "lower"
tie = 1e-9
[[metric]]
name = "faithfulness"
range = [0, 1]
unscored = "worst"

[primary]
metric = "page_hit_at_5"
min_improvement = 0.01

[[guardrail]]
metric = "faithfulness"
margin = 0.03
[[guardrail]]
metric = "latency_ms"
margin = 150
limit = 3000
statistic = "mean"
role = "guardrail"
[[guardrail]]
metric = "failed"
limit = 0.02
rule = "estimate"

[analysis]
confidence_level = 0.9
interval = "guarded-t"
test = "sign-flip"
adjust = "holm"
n_resamples = 999
unscored = "exclude"
primaries = "all"
bounds = "all"
seed = 11
"""


@pytest.fixture
def write(tmp_path: Path):
    def write_plan(text: str | bytes) -> Path:
        path = tmp_path / "plan.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_plan


def test_every_key_arrives(write) -> None:
    plan = Plan.load(write(FULL))
    assert plan.name == "top_k 3 to 8"
    assert plan.hypothesis == "Page hit rises; faithfulness may fall."
    assert plan.question_set == "financebench-150 v1"
    assert plan.stage == "development"
    assert plan.accepted_changes == ("agent.version",)
    assert plan.change == Change("retriever.top_k", 3, 8)
    columns = plan.columns
    assert (columns.question_id, columns.trial, columns.status) == (
        "financebench_id",
        "run",
        "state",
    )
    assert columns.statuses == {"parse_error": "failed"}
    assert columns.slices == ("question_type", "difficulty")
    assert columns.metrics == (
        "page_hit_at_5",
        "latency_ms",
        "faithfulness",
        "tokens",
    )
    assert columns.metric_columns == {"latency_ms": "latency"}
    assert columns.settings == ("model",)
    assert columns.missing == ("N/A", "-")
    assert columns.ranges == {"faithfulness": (0.0, 1.0)}
    assert plan.slices == (
        SliceSpec(("question_type",)),
        SliceSpec(("question_type", "difficulty")),
        SliceSpec(("tokens",), (100.0, 300.0)),
    )
    assert plan.metrics == (
        Metric("latency_ms", column="latency", direction="lower", tie=1e-9),
        Metric("faithfulness", range=(0.0, 1.0), unscored="worst"),
    )
    assert plan.primary == (Primary("page_hit_at_5", 0.01),)
    assert plan.guardrails == (
        Guardrail("faithfulness", margin=0.03),
        Guardrail("latency_ms", margin=150, limit=3000),
        Guardrail("failed", limit=0.02, rule="estimate"),
    )
    analysis = plan.analysis
    assert analysis.confidence_level == 0.9
    assert (analysis.interval, analysis.test) == ("guarded-t", "sign-flip")
    assert (analysis.adjust, analysis.n_resamples, analysis.seed) == ("holm", 999, 11)
    assert (analysis.bounds, analysis.min_slice) == ("all", 12)


def test_the_hash_is_that_of_the_bytes(write) -> None:
    path = write(FULL)
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert Plan.load(path).sha256 == right


def test_a_byte_order_mark_and_crlf_are_no_obstacle(write) -> None:
    content = b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode()
    assert Plan.load(write(content)).primary == (Primary("page_hit_at_5", 0.01),)


def line_of(text: str) -> int:
    return FULL[: FULL.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("margin = 0.03", "margin = -0.03", ["guardrail.margin", "-0.03", "0 or more"]),
        ("margin = 0.03", "margin = nan", ["guardrail.margin", "nan"]),
        ("margin = 0.03", "margin = inf", ["guardrail.margin", "inf"]),
        ("margin = 0.03", "margn = 0.03", ["margn", "unknown", '"margin"']),
        ("margin = 0.03", 'margin = "3"', ["guardrail.margin", '"3"', "10%"]),
        ("margin = 150", "margin = true", ["guardrail.margin", "true"]),
        ("limit = 3000", 'limit = "3000"', ["guardrail.limit", '"3000"', "number"]),
        ("from = 3", "form = 3", ["experiment.change.form", '"from"']),
        ("min_improvement = 0.01", "min_improvement = -1", ["primary.min_improvement"]),
        ("range = [0, 1]", "range = [1, 0]", ["metric.range", "[1, 0]"]),
        ("range = [0, 1]", 'range = "0-1"', ["metric.range", "list of two numbers"]),
        ("confidence_level = 0.9", "confidence_level = 90", ["0.95"]),
        ('interval = "guarded-t"', 'interval = "gaurded-t"', ['"guarded-t"']),
        ('stage = "development"', 'stage = "dev"', ["experiment.stage", "release"]),
        ("min_slice = 12", "min_slice = 0", ["data.min_slice", "1 or more"]),
        ("seed = 11", "seed = 1.5", ["analysis.seed", "whole number"]),
        ("[primary]", "[primry]", ["primry", "unknown table", '"primary"']),
        ('metric = "page_hit_at_5"', "metric = 5", ["primary.metric", "in quotes"]),
        (
            'statuses = { "parse_error" = "failed" }',
            'statuses = { "x" = "bad" }',
            ["x"],
        ),
        ('slices = ["question_type"', 'slices = ["q:1,b"', ["data.slices", '"b"']),
        ('rule = "estimate"', 'rule = "point"', ["guardrail.rule", "estimate"]),
    ],
)
def test_an_error_names_file_line_key_and_way_out(
    write, old: str, new: str, words: list[str]
) -> None:
    assert FULL.count(old) >= 1
    with pytest.raises(PlanError) as refused:
        Plan.load(write(FULL.replace(old, new, 1)))
    message = str(refused.value)
    assert message.startswith(f"plan.toml:{line_of(old)}: ")
    for word in words:
        assert word in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[guardrail]]\nmargin = 0.1\n", ["plan.toml:1", 'no "metric"']),
        ("\n[guardrail]\nmetric = 'a'\n", ["plan.toml:2", "[[guardrail]]"]),
        ("primary = 'correct'\n", ["plan.toml:1", "[primary]"]),
        ("[data\n", ["plan.toml:1", "not valid TOML"]),
        ("[data]\nmetrics = [\n'a',\n", ["plan.toml:", "not valid TOML"]),
        ("[[metric]]\nname='a'\n[[metric]]\nname='a'\n", ["plan.toml:3", "twice"]),
        ("[[guardrail]]\nmetric='a'\n", ["plan.toml:1", "margin, a limit or both"]),
        ("[experiment]\nchange = 3\n", ["plan.toml:2", "experiment.change"]),
        ("[experiment.change]\nfrom = 3\n", ["plan.toml:1", 'no "setting"']),
        ("a = 1\n", ["plan.toml:1", "unknown table"]),
    ],
)
def test_a_malformed_plan_is_refused_at_its_line(
    write, text: str, words: list[str]
) -> None:
    with pytest.raises(PlanError) as refused:
        Plan.load(write(text))
    for word in words:
        assert word in str(refused.value)


def test_a_second_unknown_key_is_found_in_the_right_table(write) -> None:
    text = FULL.replace("limit = 0.02", "limits = 0.02")
    with pytest.raises(PlanError, match=rf"plan\.toml:{line_of('limit = 0.02')}: "):
        Plan.load(write(text))


def test_bytes_that_are_not_utf8_are_refused(write) -> None:
    with pytest.raises(PlanError, match=r"plan\.toml:2: not UTF-8"):
        Plan.load(write(b"[experiment]\nname = '\xff'\n"))


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"none\.toml: cannot read the plan"):
        Plan.load(tmp_path / "none.toml")


def test_a_misspelt_metric_is_told_with_the_line_of_the_plan(write) -> None:
    plan = Plan.load(write(FULL))
    with pytest.raises(PlanError) as refused:
        resolve_metrics(plan, ["page_hit_5", "latency_ms", "faithfulness"])
    line = line_of('metric = "page_hit_at_5"')
    assert str(refused.value).startswith(f"plan.toml:{line}: primary.metric: ")
    assert 'did you mean "page_hit_5"?' in str(refused.value)


def test_both_forms_of_a_single_primary_are_one(write) -> None:
    single = Plan.load(write("[primary]\nmetric = 'a'\n"))
    array = Plan.load(write("[[primary]]\nmetric = 'a'\n"))
    assert single.primary == array.primary == (Primary("a"),)


NOT_BUILT_TEXT = {
    "data.cluster": "[data]\ncluster = 'doc'\n",
    "data.weights": "[data]\nweights = { q = { 'a' = 0.5, 'b' = 0.5 } }\n",
    "data.trials_paired": "[data]\ntrials_paired = true\n",
    "metric.threshold": "[[metric]]\nname = 'a'\nthreshold = 0.5\n",
    "metric.numerator": "[[metric]]\nname='a'\nnumerator='b'\ndenominator='c'\n",
    "guardrail.statistic": "[[guardrail]]\nmetric='a'\nmargin=1\nstatistic='p95'\n",
    "guardrail.margin": "[[guardrail]]\nmetric = 'a'\nmargin = '10%'\n",
    "guardrail.role": "[[guardrail]]\nmetric='a'\nmargin=1\nrole='equivalence'\n",
    "guardrail.every_slice": "[[guardrail]]\nmetric='a'\nmargin=1\nevery_slice='q'\n",
    "analysis.primaries": "[analysis]\nprimaries = 'any'\n",
}


@pytest.mark.parametrize("feature", sorted(NOT_BUILT_TEXT))
def test_a_known_key_is_built_or_says_that_it_is_not(write, feature: str) -> None:
    path = write(NOT_BUILT_TEXT[feature])
    if feature not in NOT_BUILT:
        Plan.load(path)
        return
    with pytest.raises(PlanError, match=r"plan\.toml:\d: .*built yet") as refused:
        Plan.load(path)
    assert NOT_BUILT[feature] in str(refused.value)


def test_the_documentation_lists_every_key() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "plan.md"
    text = page.read_text(encoding="utf-8")
    for keys in PLAN_KEYS.values():
        for key in keys:
            assert f"`{key}`" in text, key


def test_the_example_of_the_documentation_is_a_plan(write) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "plan.md"
    (block,) = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    plan = Plan.load(write(block))
    assert plan.primary == (Primary("page_hit_at_5"),)
    assert [rule.metric for rule in plan.guardrails] == [
        "faithfulness",
        "latency_ms",
        "failed",
    ]


def test_line_numbers_see_through_strings_and_arrays() -> None:
    text = '''\
title = "[not.a.table]"
long = """
[still = "text"]
a = 1
"""
list = [
  "x", # ] in a comment
  'y]',
]
[a."b.c"]
d.e = { f = 1 }  # inline
[[t]]
k = 1
[[t]]
k = 2
[t.sub]
s = 1
'''
    lines = line_numbers(text)
    assert lines[("title",)] == 1
    assert lines[("long",)] == 2
    assert lines[("list",)] == 6
    assert lines[("a", "b.c")] == 10
    assert lines[("a", "b.c", "d", "e")] == 11
    assert lines[("t", 1, "k")] == 15
    assert lines[("t", 1, "sub", "s")] == 17
    assert ("a",) not in lines
    assert ("still",) not in lines


def test_a_plan_file_knows_the_place_of_inner_keys(write) -> None:
    found = read_plan_file(write(FULL))
    inner = ("data", "statuses", "parse_error")
    assert found.place(inner) == f"plan.toml:{line_of('statuses')}"
