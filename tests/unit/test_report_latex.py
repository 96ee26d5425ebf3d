from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import builders
import casefiles
import onechange as oc
from onechange.report.bibtex import bibtex, with_citations
from onechange.report.document import Column, Section, Table
from onechange.report.latex import render_latex
from onechange.report.latex_tables import section_tables
from onechange.report.methods import methods_paragraph
from onechange.report.references import REFERENCES
from onechange.stats.estimate import TestResult

NO_LATEX = shutil.which("pdflatex") is None or shutil.which("bibtex") is None
HOSTILE = r"50% of $x_1^2$ & {a}\input{b} ~ # <é> – 多跳 ✔ √"


def _hostile() -> oc.Decision:
    broken = builders.breakdown((HOSTILE, "tail\\"))
    base = builders.comparison(slices=(broken,))
    return builders.decision(comparison=base, reason=HOSTILE)


def _balanced(text: str) -> bool:
    plain = re.sub(r"\\[\\{}]", "", re.sub(r"(?<!\\)%.*", "", text))
    depth = 0
    for char in plain:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


def test_every_table_is_a_booktabs_table_with_caption_and_label() -> None:
    text = render_latex(builders.decision())
    tables = re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, flags=re.S)
    assert len(tables) >= 5
    for table in tables:
        for word in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{"):
            assert table.count(word) == 1
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(set(labels)) == len(labels) == len(tables)


def test_every_row_has_as_many_cells_as_the_table_has_columns() -> None:
    for text in (render_latex(builders.decision()), render_latex(_hostile())):
        for spec, body in re.findall(
            r"\\begin\{tabular\}\{@\{\}(.+?)@\{\}\}\n(.*?)\\end\{tabular\}", text, re.S
        ):
            align = spec.replace("@{}", "")
            for line in body.splitlines():
                if line.endswith(r"\\"):
                    assert len(re.findall(r"(?<!\\)&", line)) == len(align) - 1


def test_texts_from_outside_are_escaped() -> None:
    text = render_latex(_hostile())
    assert r"\input{b}" not in text.replace(r"% or \input it", "")
    assert r"\textbackslash{}input\{b\}" in text
    assert _balanced(text)


@pytest.mark.parametrize("number", [32, 33, 34])
def test_labels_that_broke_others_are_escaped(number: int) -> None:
    result = casefiles.compared(number, oc.Plan(slices=["question_type"]))
    assert _balanced(render_latex(result))


def test_stars_follow_the_p_value_and_the_caption_defines_them() -> None:
    deltas = tuple(
        builders.delta(name, test=TestResult(pvalue, "sign-flip"))
        for name, pvalue in (("a", 0.2), ("b", 0.04), ("c", 0.004), ("d", 0.0004))
    )
    text = render_latex(builders.comparison(deltas=deltas, rates=()))
    rows: dict[str, int] = {}
    for line in text.splitlines():
        if re.match(r"[abcd] \$\\uparrow\$ & 150", line):
            rows[line[0]] = max(rows.get(line[0], 0), line.count("*"))
    assert rows == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert text.count(r"* p \textless{} 0.05, ** p \textless{} 0.01") == 1


def _columns(text: str, name: str) -> tuple[str, list[list[str]]]:
    """Column letters and cells of the rows of one table."""
    part = re.search(rf"% ---- table: {name}\n(.*?)% ---- end", text, re.S)
    assert part is not None
    spec = re.search(r"begin\{tabular\}\{@\{\}(.+?)@\{\}\}\n", part[1])
    assert spec is not None
    body = part[1].split(r"\midrule", 1)[1].split(r"\bottomrule", 1)[0]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body.split("\n")]
    return spec[1], [row for row in rows if len(row) > 1]


def test_stars_follow_the_adjusted_p_of_the_column_and_the_caption_names_it() -> None:
    deltas = (
        builders.delta("a", test=TestResult(0.0004, "sign-flip"), pvalue_adjusted=0.03),
        builders.delta("b", test=TestResult(0.03, "sign-flip"), pvalue_adjusted=0.2),
        builders.delta("c", test=TestResult(0.0004, "sign-flip")),
    )
    text = render_latex(builders.comparison(deltas=deltas, rates=()))
    _, rows = _columns(text, "metrics-1")
    starred = {row[0][0]: "".join(c for c in row if set(c) == {"*"}) for row in rows}
    assert starred == {"a": "*", "b": "", "c": ""}
    assert "Stars: adjusted p, none where there is no adjusted p; * p" in text


def test_stars_have_a_column_of_their_own() -> None:
    deltas = (builders.delta("a", test=TestResult(0.0004, "sign-flip")),)
    text = render_latex(builders.comparison(deltas=deltas, rates=()))
    spec, rows = _columns(text, "metrics-1")
    assert "r@{}l" in spec
    assert r"\rlap" not in text
    assert [cell for cell in rows[0] if "*" in cell] == ["***"]


def test_a_wide_table_is_turned_rather_than_shrunk_to_nothing() -> None:
    columns = tuple(Column(f"column {i}", "r") for i in range(13))
    for count, turned in ((13, True), (6, False)):
        row = ("−0.526 … −0.041",) * count
        table = Table(columns[:count], (row,) * 60)
        parts = list(section_tables(table, Section("slices", "Slices", ()), 1))
        assert [r"\rotatebox{90}" in part for part in parts] == [turned] * len(parts)
        assert sum(part.count(row[0].split()[0][1:]) for part in parts) == 60 * count


def test_no_stars_no_legend() -> None:
    text = render_latex(builders.comparison(slices=()))
    assert "***" not in text


def test_every_citation_has_its_entry() -> None:
    base, plan = builders.comparison(), builders.plan()
    text = render_latex(builders.decision(comparison=base, plan=plan))
    cited = {
        key for keys in re.findall(r"\\cite\{(.*?)\}", text) for key in keys.split(",")
    }
    entries = set(re.findall(r"^@\w+\{(\w+),", text, flags=re.M))
    assert cited == entries
    assert cited


def test_a_paragraph_keeps_its_words_around_the_citations() -> None:
    methods = methods_paragraph(builders.comparison())
    plain = re.sub(r"~\\cite\{.*?\}", "", with_citations(methods.text))
    bare = methods.text
    for reference in methods.references:
        bare = bare.replace(reference.citation, "")
    assert re.sub(r"\W", "", plain) == re.sub(r"\W", "", bare)


def test_all_references_are_entries_with_author_title_year_and_place() -> None:
    text = bibtex(REFERENCES.values())
    entries = text.split("\n\n")
    assert len(entries) == len(REFERENCES)
    for entry in entries:
        assert _balanced(entry)
        for field in ("author", "title", "year"):
            assert f"  {field} = {{" in entry
        assert re.search(r"  (journal|publisher|howpublished) = \{", entry)
        if "journal" in entry and "arXiv" not in entry:
            assert "volume" in entry


def test_authors_are_joined_by_and_alone() -> None:
    text = bibtex([REFERENCES["fagerland2013"], REFERENCES["chen2021"]])
    assert "author = {Fagerland, M. W. and Lydersen, S. and Laake, P.}" in text
    assert "author = {Chen, M. and others}" in text
    assert "pages = {91}" in text


def _compile(folder: Path, text: str) -> str:
    """Compile twice with BibTeX between; return the log."""
    (folder / "report.tex").write_text(text, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    for words in (latex, ["bibtex", "report"], latex, latex):
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode("latin-1")[-2000:]
    return (folder / "report.log").read_text(encoding="latin-1")


@pytest.mark.skipif(NO_LATEX, reason="pdflatex or bibtex is not installed")
@pytest.mark.parametrize("kind", ["decision", "hostile"])
def test_the_file_compiles_by_itself(tmp_path: Path, kind: str) -> None:
    result = builders.decision() if kind == "decision" else _hostile()
    log = _compile(tmp_path, render_latex(result))
    assert "undefined" not in log
    assert (tmp_path / "report.pdf").stat().st_size > 10_000


@pytest.mark.skipif(NO_LATEX, reason="pdflatex or bibtex is not installed")
def test_brackets_and_stars_are_printed_and_not_read_as_options(tmp_path: Path) -> None:
    columns = tuple(Column(title) for title in ("WRONG ANSWER [table]", "A *b", "[c]"))
    rows = (("[1em]", "x", "x"), ("*", "x", "x"), ("[x]", "*", "x"))
    section = Section("metrics", "All metrics", ())
    (table,) = section_tables(Table(columns, rows), section, 1)
    head = r"\documentclass{article}\usepackage{booktabs,graphicx}"
    text = "\n".join([head, r"\begin{document}", table, r"\end{document}"])
    (tmp_path / "report.tex").write_text(text, encoding="utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout.decode("latin-1")[-2000:]
    assert table.count("{}[") + table.count("{}*") == 7
    assert not re.search(r"(\\\\|rule)\s*[\[*]", table)


def test_a_list_item_that_opens_with_a_bracket_keeps_its_text() -> None:
    rule = builders.rule(reason="[draft] of the lead.")
    text = render_latex(builders.decision(statuses=(rule,)))
    assert r"\item {}[draft] of the lead" in text


@pytest.mark.skipif(NO_LATEX, reason="pdflatex or bibtex is not installed")
def test_long_names_do_not_run_off_the_page(tmp_path: Path) -> None:
    label, metric = "x" * 180, "answer_faithfulness_to_the_passages_" * 3
    base = builders.comparison(
        deltas=(builders.delta(metric),),
        slices=(builders.breakdown((label, "short")),),
    )
    rule = builders.rule(metric=metric, reason=f"{metric}: pass in {label}.")
    result = builders.decision(comparison=base, statuses=(rule,), reason=label)
    log = _compile(tmp_path, render_latex(result))
    assert "Overfull \\hbox" not in log


@pytest.mark.skipif(NO_LATEX, reason="pdflatex or bibtex is not installed")
def test_the_file_can_be_input_into_a_paper(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text(
        render_latex(builders.decision()), encoding="utf-8"
    )
    (tmp_path / "report-references.bib").write_text("mine", encoding="utf-8")
    paper = "\n".join(
        [
            r"\documentclass[twocolumn]{article}",
            r"\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}",
            r"\begin{document}",
            r"Before. \input{part} After.",
            r"\end{document}",
        ]
    )
    (tmp_path / "report.tex").write_text(paper, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(latex, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("latin-1")[-2000:]
    # The references of the paper are its own.
    kept = (tmp_path / "report-references.bib").read_text(encoding="utf-8")
    assert kept == "mine"
