from __future__ import annotations

import builtins
import gzip
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    load_json,
    note_codes,
    sample,
    write_text,
)
from onechange import formats
from onechange.errors import InputError, OnechangeError
from onechange.formats.trec import MEASURES

pytrec_eval = pytest.importorskip("pytrec_eval")


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, document, relevance = line.split()
        found[topic][document] = int(relevance)
    return dict(found)


def _run(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, document, _, score, _ = line.split()
        found[topic][document] = float(score)
    return dict(found)


@pytest.mark.parametrize("name", ["pircRBa1", "uwmtCR0"])
def test_a_cut_run_agrees_with_pytrec_eval_on_the_same_files(name: str) -> None:
    path = sample("trec", f"{name}.run")
    assert formats.sniff(path) == "trec"
    results = formats.read_as("trec", path)
    judged = _qrels(sample("trec", "qrels.txt"))
    expected = pytrec_eval.RelevanceEvaluator(judged, set(MEASURES)).evaluate(
        _run(path)
    )
    assert results.n_rows == 100
    for measure in MEASURES:
        found = by_question(results, measure)
        assert found == {topic: row[measure] for topic, row in expected.items()}


@pytest.mark.parametrize("name", ["pircRBa1", "uwmtCR0"])
def test_ndcg_agrees_with_a_computation_by_hand(name: str) -> None:
    path = sample("trec", f"{name}.run")
    judged = _qrels(sample("trec", "qrels.txt"))
    found = by_question(formats.read_as("trec", path), "ndcg_cut_10")
    for topic, scores in _run(path).items():
        order = sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)[:10]
        gains = [max(judged[topic].get(doc, 0), 0) for doc in order]
        ideal = sorted(judged[topic].values(), reverse=True)[:10]
        best = sum(g / math.log2(i + 2) for i, g in enumerate(ideal))
        dcg = sum(g / math.log2(i + 2) for i, g in enumerate(gains))
        assert found[topic] == pytest.approx(dcg / best if best else 0.0, abs=1e-9)


@pytest.mark.parametrize(("name", "mean"), [("pircRBa1", 0.4572), ("uwmtCR0", 0.4475)])
def test_values_per_query_have_the_means_of_the_uncut_runs(
    name: str, mean: float
) -> None:
    path = sample("trec", f"{name}.per_query.json")
    assert formats.sniff(path) == "trec-per-query"
    results = formats.read_as("trec-per-query", path)
    raw = load_json(path)
    for measure in ("map", "recip_rank", "P_10", "recall_100", "ndcg_cut_10"):
        assert_metric(results, measure, [row[measure] for row in raw.values()])
    assert results.metrics["ndcg_cut_10"].mean() == pytest.approx(mean, abs=5e-5)


RUN = "1 Q0 a 0 1.0 t\n1 Q0 b 1 2.0 t\n2 Q0 a 0 5.0 t\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 2\n"


def _pair(folder: Path, run: str = RUN, qrels: str = QRELS) -> Path:
    write_text(folder, "qrels.txt", qrels)
    return write_text(folder, "my.run", run)


def test_documents_are_ranked_by_score_and_not_by_the_rank_column(
    tmp_path: Path,
) -> None:
    results = formats.read_as("trec", _pair(tmp_path))
    assert by_question(results, "recip_rank") == {"1": 0.5, "2": 1.0}


def test_ties_are_broken_by_document_id_descending(tmp_path: Path) -> None:
    run = "1 Q0 a 0 1.0 t\n1 Q0 b 1 1.0 t\n"
    results = formats.read_as("trec", _pair(tmp_path, run, "1 0 a 1\n"))
    assert by_question(results, "recip_rank") == {"1": 0.5}


def test_a_judged_topic_that_is_absent_counts_zero_and_is_noted(tmp_path: Path) -> None:
    results = formats.read_as("trec", _pair(tmp_path, RUN, QRELS + "3 0 c 1\n"))
    assert by_question(results, "ndcg_cut_10")["3"] == 0.0
    assert "absent-is-zero" in note_codes(results)


def test_a_topic_without_judgements_is_unscored(tmp_path: Path) -> None:
    results = formats.read_as("trec", _pair(tmp_path, RUN + "9 Q0 a 0 1 t\n"))
    assert math.isnan(by_question(results, "map")["9"])
    assert "unjudged-topics" in note_codes(results)


def test_blanks_tabs_and_windows_line_ends_are_alike(tmp_path: Path) -> None:
    run = RUN.replace(" ", "\t").replace("\n", "\r\n")
    results = formats.read_as("trec", _pair(tmp_path, run))
    assert by_question(results, "recip_rank") == {"1": 0.5, "2": 1.0}


def test_gzip_and_latin_1_runs_are_read(tmp_path: Path) -> None:
    write_text(tmp_path, "qrels.txt", QRELS)
    path = tmp_path / "my.run.gz"
    path.write_bytes(gzip.compress((RUN + "2 Q0 caf\u00e9 1 1 t\n").encode("latin-1")))
    assert formats.sniff(path) == "trec"
    assert formats.read_as("trec", path).n_rows == 2


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("1 Q0 a 0 1 t\n1 Q0 a 1 2 t\n", r'my\.run:2: the document "a" occurs twice'),
        ("1 Q0 a 0 nan t\n", r'my\.run:1: the score is "nan"; expected a finite'),
        ("1 Q0 a 0 1\n", r"my\.run:1: 5 columns; a run has six"),
    ],
)
def test_malformed_runs_are_refused(tmp_path: Path, run: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        formats.read_as("trec", _pair(tmp_path, run))


def test_contradicting_judgements_are_refused(tmp_path: Path) -> None:
    path = _pair(tmp_path, RUN, QRELS + "1 0 a 0\n")
    with pytest.raises(InputError, match=r'qrels\.txt:4: "a" is judged 1 and 0'):
        formats.read_as("trec", path)


def test_a_run_without_judgements_says_how_to_name_them(tmp_path: Path) -> None:
    path = write_text(tmp_path, "my.run", RUN)
    with pytest.raises(InputError, match="name them with --gold"):
        formats.read_as("trec", path)
    gold = write_text(tmp_path, "judged.txt", QRELS)
    assert formats.read_as("trec", path, gold=gold).n_rows == 2


def test_judgements_alone_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="relevance judgements"):
        formats.sniff(write_text(tmp_path, "qrels.txt", QRELS))


def test_an_absent_library_is_named_with_the_way_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pytrec_eval":
            raise ModuleNotFoundError(name)
        return usual(name, *args, **kwargs)

    path = _pair(tmp_path)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OnechangeError, match=r"pip install 'onechange\[trec\]'"):
        formats.read_as("trec", path)


def test_trec_eval_text_drops_its_summary_rows(tmp_path: Path) -> None:
    text = (
        "num_ret\t1\t20\nmap\t1\t0.5\nnDCG\t1\t0.25\nmap\t2\t0.7\nrunid\tall\tx\n"
        "map\tall\t0.6\n"
    )
    path = write_text(tmp_path, "run.eval", text)
    assert formats.sniff(path) == "trec-per-query"
    results = formats.read_as("trec-per-query", path)
    assert by_question(results, "map") == {"1": 0.5, "2": 0.7}
    assert set(results.metrics) == {"map", "nDCG"}


def test_a_measure_twice_for_one_topic_is_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path, "run.eval", "map\t1\t0.5\nmap\t1\t0.6\n")
    with pytest.raises(InputError, match=r'run\.eval:2: "map" occurs twice for topic'):
        formats.read_as("trec-per-query", path)
