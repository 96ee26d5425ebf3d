"""Judge audits from the command line: draw, label, audit."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

import onechange as oc
from casefiles import run
from onechange.judge import label_rows, read_labels, sheet_csv
from onechange.stats.agreement import agreement_table, cohen_kappa

N = 120


def _judged(folder: Path) -> tuple[Path, Path]:
    """A judge that calls every fourth answer of the variant right without reason."""
    ids = [f"q{i:03d}" for i in range(N)]
    paths = []
    for arm, scores in (
        ("baseline", [i % 2 for i in range(N)]),
        ("variant", [1 if i % 4 == 0 else i % 2 for i in range(N)]),
    ):
        frame = pd.DataFrame({"question_id": ids, "correct": scores})
        frame["question"] = [f"Question {i}?" for i in range(N)]
        frame["answer"] = [f"=answer {i}" for i in range(N)]
        paths.append(folder / f"{arm}.csv")
        frame.to_csv(paths[-1], index=False)
    return paths[0], paths[1]


def _human(question: str) -> int:
    return int(question[1:]) % 2


def _fill(sheet: str, path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(sheet)))
    for row in rows:
        row["label"] = str(_human(row["question_id"]))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_drawn_sheet_is_filled_in_and_audits_the_judge(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    drawn = run("judge-audit", *arms, "--draw", 40, "--seed", 3)
    assert drawn.returncode == 0, drawn.stderr
    labels = tmp_path / "labels.csv"
    _fill(drawn.stdout, labels)
    done = run(
        *("judge-audit", *arms, "--labels", labels, "--range", "correct=0,1"),
        *("--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["judge"]
    assert found["n_labelled"] == 40
    assert found["uncorrected"] == pytest.approx(0.25)
    assert found["human_only"]["estimate"] == 0.0
    interval = found["corrected_delta"]["interval"]
    assert interval["low"] < 0.0 < interval["high"] < 0.25
    assert found["favour_interval"]["low"] > 0.0
    baseline, variant = (found["agreement"][arm] for arm in ("baseline", "variant"))
    assert baseline["kappa"] == 1.0
    judge = pd.read_csv(arms[1], index_col="question_id")["correct"]
    rows = [r for r in read_labels(labels) if r.arm == "variant"]
    weights = pd.Series([r.weight for r in rows], dtype=float).to_numpy()
    _, table = agreement_table(
        [r.label for r in rows], [float(judge[r.question_id]) for r in rows], weights
    )
    assert variant["kappa"] == pytest.approx(cohen_kappa(table, n=40).kappa)


def test_the_draw_is_seeded_and_balanced_over_outcomes(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    out = tmp_path / "sheet.csv"
    words = ("judge-audit", *arms, "--draw", 20, "--seed", 3)
    first = run(*words)
    again = run(*words, "--out", out)
    assert (again.returncode, again.stdout) == (0, "")
    assert "40 answers to label" in again.stderr
    assert out.read_text() == first.stdout
    assert run(*words[:-1], 4).stdout != first.stdout
    rows = list(csv.DictReader(io.StringIO(first.stdout)))
    gained = {r["question_id"] for r in rows if int(r["question_id"][1:]) % 4 == 0}
    assert len(gained) == 5  # a quarter of the questions gained
    weights = {r["question_id"]: float(r["weight"]) for r in rows}
    assert sum(weights.values()) == pytest.approx(N)


def test_the_sheet_shows_the_answers_and_runs_no_formula(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    rows = list(
        csv.DictReader(io.StringIO(run("judge-audit", *arms, "--draw", 5).stdout))
    )
    assert {row["arm"] for row in rows} == {"baseline", "variant"}
    for row in rows:
        assert row["label"] == ""
        assert row["question"] == f"Question {int(row['question_id'][1:])}?"
        assert row["answer"].startswith("'=answer")


def test_ids_that_a_spreadsheet_would_run_come_back_unchanged(tmp_path: Path) -> None:
    text = sheet_csv(
        [{"question_id": "=1+1", "arm": "baseline", "label": 1, "weight": 2.0}]
    )
    assert "'=1+1" in text
    (tmp_path / "labels.csv").write_text(text)
    assert read_labels(tmp_path / "labels.csv")[0].question_id == "=1+1"


def test_every_trial_that_the_judge_scored_is_labelled() -> None:
    from onechange.align import align

    frame = pd.DataFrame(
        {
            "question_id": ["q1", "q1", "q2", "q2"],
            "trial": [1, 2, 1, 2],
            "correct": [1, 0, 1, None],
        }
    )
    arms = [oc.read(frame, columns=None) for _ in range(2)]
    pairs, _ = align(*arms)
    rows = label_rows(pairs, "correct", 2)
    assert [(r["question_id"], r["arm"], r["trial"]) for r in rows] == [
        ("q1", "baseline", "1"),
        ("q1", "baseline", "2"),
        ("q1", "variant", "1"),
        ("q1", "variant", "2"),
        ("q2", "baseline", "1"),
        ("q2", "variant", "1"),
    ]


def test_text_and_markdown_say_whom_the_judge_favours(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    labels = tmp_path / "labels.csv"
    _fill(run("judge-audit", *arms, "--draw", 40).stdout, labels)
    text = run("judge-audit", *arms, "--labels", labels, "--range", "correct=0,1")
    assert "40 of 120 pairs have human labels in both arms" in text.stdout
    assert "judge-favours-arm" in text.stdout
    assert "corrected (PPI++)" in text.stdout
    form = run("judge-audit", *arms, "--labels", labels, "--format", "markdown")
    assert form.stdout.startswith("## Judge audit")
    assert run("judge-audit", *arms, "--labels", labels, "--quiet").stdout == ""


def test_the_plan_names_the_labels(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    _fill(run("judge-audit", *arms, "--draw", 40).stdout, tmp_path / "labels.csv")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[[metric]]\nname = "correct"\nrange = [0, 1]\nlabels = "labels.csv"\n'
        '[primary]\nmetric = "correct"\n'
    )
    done = run("judge-audit", *arms, "--plan", plan)
    assert done.returncode == 0, done.stderr
    decided = run("decide", *arms, "--plan", plan)
    assert decided.returncode == 3, decided.stderr
    assert "corrected-by-labels" in decided.stdout
    uncorrected = run("decide", *arms, "--primary", "correct")
    assert uncorrected.returncode == 0


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ((), "no human labels of correct"),
        (("--labels", "absent.csv"), "cannot be read"),
        (("--draw", "0"), "expected 1 or more"),
        (("--metric", "corect", "--draw", "5"), 'did you mean "correct"'),
        (("--metric", "a", "--metric", "b", "--draw", "5"), "one at a time"),
    ],
)
def test_wrong_words_are_refused(
    words: tuple[str, ...], fact: str, tmp_path: Path
) -> None:
    done = run("judge-audit", *_judged(tmp_path), *words)
    assert done.returncode == 2
    assert fact in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_cluster_widens_the_intervals(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    for path in arms:
        frame = pd.read_csv(path)
        frame["document"] = [
            f"d{i % 8}" for i in range(N)
        ]  # the judge errs by document
        frame.to_csv(path, index=False)
    labels = tmp_path / "labels.csv"
    _fill(run("judge-audit", *arms, "--draw", 60).stdout, labels)
    words = ("judge-audit", *arms, "--labels", labels, "--format", "json")
    widths = []
    for more in ((), ("--cluster", "document")):
        done = run(*words, *more)
        assert done.returncode == 0, done.stderr
        interval = json.loads(done.stdout)["judge"]["favour_interval"]
        widths.append(interval["high"] - interval["low"])
    assert widths[1] > 1.5 * widths[0]


def test_a_filled_sheet_is_not_replaced(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    sheet = tmp_path / "labels.csv"
    draw = ("judge-audit", *arms, "--draw", 10, "--out", sheet)
    assert run(*draw).returncode == 0
    _fill(sheet.read_text(), sheet)
    before = sheet.read_bytes()
    again = run(*draw)
    assert again.returncode == 2
    assert "labels in it would be lost" in again.stderr
    assert sheet.read_bytes() == before
    both = run("judge-audit", *arms, "--draw", 10, "--labels", sheet)
    assert both.returncode == 2
    assert "--draw and --labels do not go together" in both.stderr
    own = run("judge-audit", *arms, "--draw", 10, "--out", arms[0], "--force")
    assert own.returncode == 2
    assert "is an input" in own.stderr
    assert run(*draw, "--force").returncode == 0
    assert sheet.read_bytes() != before


def test_every_id_comes_back_from_a_sheet_as_it_was(tmp_path: Path) -> None:
    ids = ["=1+1", "'=1+1", "''-x", "-3", "it's", "'quoted'", "q1"]
    rows = [{"question_id": name, "arm": "variant", "label": 1} for name in ids]
    path = tmp_path / "labels.csv"
    path.write_text(sheet_csv(rows), encoding="utf-8")
    assert [label.question_id for label in read_labels(path)] == ids
    cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert not any(row[0][:1] in "=+-@" for row in cells)


def test_a_sheet_drawn_without_a_metric_says_by_which(tmp_path: Path) -> None:
    arms = _judged(tmp_path)
    drawn = run("judge-audit", *arms, "--draw", 4)
    assert drawn.returncode == 0
    assert "Drawn by correct; --metric names another" in drawn.stderr
    named = run("judge-audit", *arms, "--draw", 4, "--metric", "correct")
    assert "Drawn by" not in named.stderr
    assert named.stdout == drawn.stdout
