from __future__ import annotations

from pathlib import Path

import pytest

from formatfiles import assert_metric, load_json, sample, statuses, write_json
from onechange import formats
from onechange.errors import InputError


def test_the_trials_read_with_the_rewards_of_the_file() -> None:
    path = sample("taubench", "gpt-4o-airline.json")
    assert formats.sniff(path) == "tau-bench"
    results = formats.read_as("tau-bench", path)
    raw = load_json(path)
    assert results.n_rows == 60
    assert set(results.question_id) == {str(n) for n in range(15)}
    assert set(results.trial) == {"0", "1", "2", "3"}
    assert_metric(results, "reward", [row["reward"] for row in raw])
    assert_metric(results, "user_cost", [row["info"]["user_cost"] for row in raw])


def test_a_trial_that_raised_is_failed_and_not_zero(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": 0,
            "reward": 0.0,
            "info": {"error": "boom", "traceback": "..."},
            "trial": 0,
        },
        {"task_id": 1, "reward": 1.0, "info": {}, "trial": 0},
    ]
    results = formats.read_as("tau-bench", write_json(tmp_path, "r.json", rows))
    assert statuses(results) == (1, 0, 1)
    assert_metric(results, "reward", [1.0])


def test_tau2_simulations_read(tmp_path: Path) -> None:
    run = {
        "timestamp": "2026-01-01",
        "info": {
            "num_trials": 2,
            "seed": 3,
            "agent_info": {"llm": "m"},
            "user_info": {"llm": "u"},
        },
        "tasks": [{"id": "a"}],
        "simulations": [
            {
                "task_id": "a",
                "trial": 0,
                "reward_info": {"reward": 1.0},
                "duration": 2.5,
            },
            {
                "task_id": "a",
                "trial": 1,
                "reward_info": None,
                "termination_reason": "x",
            },
        ],
    }
    path = write_json(tmp_path, "r.json", run)
    assert formats.sniff(path) == "tau-bench"
    results = formats.read_as("tau-bench", path)
    assert statuses(results) == (1, 0, 1)
    assert results.settings == {"agent_info.llm": "m", "seed": 3, "user_info.llm": "u"}


def test_the_same_trial_twice_is_refused(tmp_path: Path) -> None:
    rows = [{"task_id": 0, "reward": r, "info": {}, "trial": 0} for r in (0.0, 1.0)]
    rows += [{"task_id": 0, "reward": 0.0, "info": {}, "trial": 1}]
    with pytest.raises(InputError, match=r'question "0" trial 0 .*\(reward 0 and 1\)'):
        formats.read_as("tau-bench", write_json(tmp_path, "r.json", rows))
