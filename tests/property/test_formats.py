"""Whatever is done to a foreign file: rows or an error, never a traceback."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onechange import formats
from onechange.errors import OnechangeError

_CASE = {
    "name": "a",
    "input": "Q?",
    "metricsData": [{"name": "F", "score": 0.5, "success": True, "threshold": 0.5}],
    "metadata": {"kind": "x"},
    "tags": ["t"],
}
_PROMPTFOO_ROW = {
    "testIdx": 0,
    "promptIdx": 0,
    "provider": {"id": "p", "label": "P"},
    "prompt": {"label": "prompt"},
    "vars": {"text": "A?"},
    "testCase": {"vars": {"text": "A?"}, "metadata": {"kind": "x"}},
    "success": False,
    "score": 0.5,
    "namedScores": {"n": 1},
    "gradingResult": {
        "reason": "r",
        "componentResults": [{"pass": False, "reason": "x"}],
    },
    "response": {"output": "o", "tokenUsage": {"prompt": 1}},
    "failureReason": 1,
}
_INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "t",
        "model": "m",
        "scorers": [{"name": "qa", "options": {"model": "j"}}],
        "config": {"epochs": 1},
        "dataset": {"sample_ids": [1]},
    },
    "plan": {"steps": [{"solver": "s", "params": {"k": 1}}]},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": [{"role": "user", "content": "q"}],
            "target": ["t"],
            "scores": {"qa": {"value": {"x": "C", "y": 0.5}, "answer": "a"}},
            "model_usage": {"m": {"input_tokens": 1}},
            "metadata": {"kind": ["x"]},
            "error": None,
        }
    ],
}
_ANNOTATION = {"name": "a", "score": 1.0, "label": "x", "error": None}
VALID: dict[str, Any] = {
    "deepeval": {
        "testCases": [_CASE],
        "metricsScores": [],
        "hyperparameters": {"k": "1"},
    },
    "promptfoo": {
        "results": {
            "version": 3,
            "prompts": [{"label": "p"}],
            "results": [_PROMPTFOO_ROW],
        },
        "config": {"providers": [{"id": "p", "config": {"a": 1}}]},
        "metadata": {"promptfooVersion": "1"},
    },
    "inspect": _INSPECT,
    "trec-per-query": {"1": {"map": 0.5}, "2": {"map": 0.25}},
    "swebench": {
        "x": {"resolved": 50, "per_instance_details": {"a__b-1": {"resolved": True}}}
    },
    "terminal-bench": {
        "results": [
            {
                "task_id": "a",
                "is_resolved": True,
                "trial_name": "a.1-of-2",
                "parser_results": {"t": "passed"},
                "agent_started_at": "2026-01-01T00:00:00",
                "agent_ended_at": "2026-01-01T00:00:01",
            }
        ]
    },
    "tau-bench": {
        "info": {"agent_info": {"llm": "m"}, "environment_info": {"domain_name": "d"}},
        "simulations": [{"task_id": "a", "trial": 0, "reward_info": {"reward": 1}}],
    },
    "hal": {
        "metadata": {"agent_args": {"a": 1}, "run_id": "r"},
        "config": {"x": 1},
        "results": {"latencies": {"0": 1}, "costs": {"0": 1}},
        "raw_eval_results": {"0": {"reward": 1, "note": "x"}},
    },
    "mlflow": {"columns": ["inputs", "a/v1/score"], "data": [["q", 1.0], ["r", None]]},
    "phoenix": [
        {
            "example_id": "e",
            "repetition_number": 1,
            "input": {"q": "?"},
            "error": None,
            "annotations": [_ANNOTATION],
        }
    ],
    "langfuse": [{"traceId": "t", "name": "n", "value": 1, "dataType": "NUMERIC"}],
    "alpaca-eval": [
        {"instruction": "i", "generator_1": "r", "generator_2": "s", "preference": 1.5}
    ],
    "helm": [
        {
            "instance_id": "i",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "exact_match", "split": "test"}, "mean": 1.0}],
        }
    ],
}
LINES: dict[str, list[Any]] = {
    "lm-eval": [
        {
            "doc_id": 0,
            "doc": {"question": "?"},
            "target": "t",
            "arguments": {"gen_args_0": {"arg_0": "p"}},
            "resps": [["r"]],
            "filtered_resps": ["r"],
            "filter": "f",
            "metrics": ["acc"],
            "acc": 1.0,
        }
    ],
    "financebench": [{"financebench_id": "1", "model_name": "m", "label": "Refusal"}],
    "openai-evals": [
        {
            "spec": {
                "completion_fns": ["f"],
                "eval_name": "e",
                "run_config": {"seed": 1},
            }
        },
        {"event_id": 0, "sample_id": "s", "type": "match", "data": {"correct": True}},
        {"event_id": 1, "sample_id": "s", "type": "metrics", "data": {"score": 0.5}},
    ],
}
TABLES = {
    "ragas": "user_input,contexts,answer,faithfulness\nQ?,[],a,0.5\nR?,[],b,\n",
    "promptfoo": "text,[P] prompt,Status,Score,Named Scores\nA?,o,PASS,1.00,{}\n",
    "langsmith": "inputs.q,outputs.a,error,feedback.ok,example_id,id\nQ?,x,,1,e1,r\n",
    "phoenix": "example_id,repetition_number,input,annotation_a_score\ne,1,{},0.5\n",
    "trulens": "record_id,app_id,input,Groundedness\nr,a,Q?,0.5\n",
    "tidy": "question_id,system,score\nq,a,1\nq,b,0\n",
    "wide": "question_id,a,b\nq,1,0\nr,0,1\n",
    "positional": "a,b\n1,0\n",
    "trec": "1 Q0 a 0 1.0 t\n1 Q0 b 1 2.0 t\n",
}

junk = st.one_of(
    st.sampled_from(
        [None, True, "", " ", "x", "\ud800", -1, 0.5, 10**400, [], {}, [[]], [None]]
    ),
    st.sampled_from([float("nan"), float("inf"), {"a": {"b": []}}, ["a", 1], "1e999"]),
    st.text(max_size=4),
    st.integers(),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        items = value.items()
    for key, inner in items:
        found += _places(inner, (*path, key))
    return found


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """The value with some of its parts replaced or taken out."""
    changed = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        places = _places(changed)
        if not places:
            break
        *parents, last = draw(st.sampled_from(places))
        inside = changed
        for key in parents:
            inside = inside[key]
        if draw(st.booleans()):
            inside[last] = copy.deepcopy(draw(junk))
        else:
            del inside[last]
    return changed


def _reads_or_refuses(name: str, file_name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file_name
        path.write_bytes(data)
        (Path(folder) / "qrels.txt").write_text("1 0 a 1\n", encoding="utf-8")
        try:
            formats.sniff(path)
            systems = formats.read_systems(path, name=name)
        except OnechangeError:
            return
        for results in systems.values():
            assert results.n_rows > 0
            for values in results.metrics.values():
                assert values.dtype == np.float64
                assert not np.isinf(values).any()
            trials = results.question_id if results.trial is None else results.trial
            keys = set(zip(results.question_id, trials, strict=True))
            assert len(keys) == results.n_rows
            formats.convert(results, Path(folder) / "rows.jsonl")


quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@quick
@given(st.data())
def test_json_with_parts_replaced_reads_or_is_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(VALID)))
    value = data.draw(mutated(VALID[name]))
    _reads_or_refuses(name, "run.json", json.dumps(value).encode())


@quick
@given(st.data())
def test_json_lines_with_parts_replaced_read_or_are_refused(
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(sorted(LINES)))
    lines = data.draw(mutated(LINES[name]))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    _reads_or_refuses(name, "samples_t_2026-01-01T00-00-00.0.jsonl", text.encode())


@quick
@given(st.data())
def test_tables_with_bytes_replaced_read_or_are_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(TABLES)))
    content = bytearray(TABLES[name].encode())
    for _ in range(data.draw(st.integers(0, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position : position + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from(
                [b"", b",", b'"', b"\n", b"\r", b"\xff", b"\0", b"1e999", b"x"]
            )
        )
    cut = data.draw(st.integers(0, len(content)))
    _reads_or_refuses(name, "table.csv", bytes(content[: max(cut, len(content) // 2)]))


def test_the_valid_files_read() -> None:
    for name, value in VALID.items():
        data = json.dumps(value).encode()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.json"
            path.write_bytes(data)
            assert formats.sniff(path) == name
            assert formats.read_systems(path)
