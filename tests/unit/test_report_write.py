from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import builders
from onechange.errors import OnechangeError
from onechange.report import FORMATS, render, write_report
from onechange.report.audit import render_audit

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("r.md", "markdown"),
        ("r.html", "html"),
        ("r.tex", "latex"),
        ("r.JSON", "json"),
        ("r.csv", "csv"),
        ("r.xml", "junit"),
        ("r.txt", "text"),
    ],
)
def test_the_suffix_names_the_format(
    tmp_path: Path, name: str, format_name: str
) -> None:
    write_report(builders.decision(), tmp_path / name)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert written == render(builders.decision(), format_name)
    assert written.endswith("\n")
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(OnechangeError, match=r'"\.docx".*\.md, \.html, \.tex, '):
        write_report(builders.decision(), tmp_path / "r.docx")
    assert not list(tmp_path.iterdir())


def test_a_format_can_be_named_for_any_suffix(tmp_path: Path) -> None:
    write_report(builders.decision(), tmp_path / "report", format="json")
    assert (tmp_path / "report").read_text(encoding="utf-8").startswith("{")


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(OnechangeError, match=r'"pdf" is unknown.*markdown'):
        render(builders.decision(), "pdf")


def test_a_missing_folder_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(OnechangeError, match=r"cannot be written.*existing folder"):
        write_report(builders.decision(), tmp_path / "no" / "r.md")


def test_a_failure_leaves_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "r.md"
    target.write_text("old", encoding="utf-8")

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OnechangeError, match="No space left"):
        write_report(builders.decision(), target)
    assert target.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.md"]


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_the_same_result_gives_the_same_text(format_name: str) -> None:
    first = render(builders.decision(), format_name)
    assert first == render(builders.decision(), format_name)


@pytest.mark.parametrize("format_name", ["text", "markdown", "json"])
def test_the_ledger_alone_shows_its_counts(format_name: str) -> None:
    text = render_audit(builders.audit(), format=format_name)
    for figure in ("453", "456", "q151"):
        assert figure in text


def test_the_rows_of_the_ledger_add_up() -> None:
    audit = builders.audit()
    for arm in (0, 1):
        total = sum(counts[arm] for counts in audit.rows_by_status.values())
        assert total == audit.rows_read[arm]


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_a_label_that_is_no_valid_unicode_can_be_written(format_name: str) -> None:
    base = builders.comparison(slices=(builders.breakdown(("bad\ud800label", "b")),))
    reason = "bad\ud800label: inconclusive."
    text = render(builders.decision(comparison=base, reason=reason), format_name)
    shown = r"bad\textbackslash{}ud800label" if format_name == "latex" else None
    assert (shown or "bad\\ud800label") in text
    text.encode("utf-8")
    if format_name == "json":
        labels = [d["slice"] for d in json.loads(text)["deltas"] if d["slice"]]
        assert labels[0] == {"qtype": "bad\ud800label"}


def test_rendering_loads_no_heavy_package() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); import builders; "
        "from onechange.report import FORMATS, render; "
        "[render(builders.decision(), name) for name in FORMATS]; "
        "heavy = {'pandas', 'scipy.stats', 'statsmodels', 'pingouin', 'matplotlib'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
