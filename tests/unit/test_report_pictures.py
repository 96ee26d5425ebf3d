from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

import builders
import onechange as oc
from onechange.cli import main
from onechange.report.markdown import render_markdown
from onechange.report.pictures import write_pictures


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("arms")
    rng = np.random.default_rng(3)
    base = pd.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(20)],
            "a kind/of": ["x", "y"] * 10,
            "correct": rng.integers(0, 2, 20),
        }
    )
    other = base.assign(correct=1)
    base.to_csv(folder / "b.csv", index=False)
    other.to_csv(folder / "v.csv", index=False)
    return folder / "b.csv", folder / "v.csv"


def test_every_picture_is_written_as_svg_and_png(
    arms: tuple[Path, Path], tmp_path: Path
) -> None:
    plan = oc.Plan("correct", slices=["a kind/of"])
    shown = write_pictures(oc.compare(*arms, plan), tmp_path / "new" / "folder")
    names = {p.name for p in shown}
    assert names == {"deltas", "slices-a-kind-of", "differences", "flow"}
    files = {file.name for file in (tmp_path / "new" / "folder").iterdir()}
    assert files == {f"{name}.{suffix}" for name in names for suffix in ("svg", "png")}


def test_each_variant_has_its_own_pictures(
    arms: tuple[Path, Path], tmp_path: Path
) -> None:
    result = oc.compare(arms[0], {"one": arms[1], "two": arms[1]})
    names = {p.name for p in write_pictures(result, tmp_path)}
    assert {"deltas-one", "deltas-two", "flow-one", "flow-two"} <= names


def test_the_report_shows_the_pictures_in_their_sections(tmp_path: Path) -> None:
    result = builders.decision()
    shown = write_pictures(result, tmp_path)
    text = render_markdown(result, pictures=shown, folder="pictures of (it)")
    images = [
        child.attrGet("src")
        for token in MarkdownIt().parse(text)
        for child in token.children or []
        if child.type == "image"
    ]
    assert [unquote(src) for src in images] == [
        f"pictures of (it)/{picture.name}.svg" for picture in shown
    ]
    assert text.index("deltas.svg") < text.index("### Slices") < text.index("slices-")


def test_the_command_line_writes_pictures_and_links_them(
    arms: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", *map(str, arms), "--quiet", "--pictures", str(tmp_path / "p")]
    with pytest.raises(SystemExit) as left:
        main([*words, "--markdown", str(tmp_path / "r.md")])
    assert left.value.code == 0, capsys.readouterr().err
    links = re.findall(r"\]\((.*?\.svg)\)", (tmp_path / "r.md").read_text("utf-8"))
    assert links
    for link in links:
        assert (tmp_path / link).is_file()


def test_a_folder_that_cannot_be_made_fails_before_the_work(
    arms: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    words = ["compare", *map(str, arms), "--pictures", str(tmp_path / "file" / "p")]
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "--pictures" in capsys.readouterr().err


def test_the_same_result_gives_the_same_pictures(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_pictures(builders.decision(), tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_a_rate_that_a_guardrail_is_about_is_drawn_on_its_own_scale(
    tmp_path: Path,
) -> None:
    rows = 40
    base = pd.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(rows)],
            "status": ["answered"] * rows,
            "correct": [i % 2 for i in range(rows)],
        }
    )
    other = base.assign(status=["failed"] + ["answered"] * (rows - 1))
    other.loc[0, "correct"] = None
    plan = oc.Plan("correct", [oc.Guardrail("failed", limit=0.1)])
    write_pictures(oc.decide(oc.compare(base, other, plan), plan), tmp_path)
    text = (tmp_path / "deltas.svg").read_text(encoding="utf-8")
    assert "failed ↓ (variant)" in text


def test_a_picture_of_very_many_slices_counts_them(tmp_path: Path) -> None:
    labels = tuple(f"slice number {i}" for i in range(60))
    base = builders.comparison(slices=(builders.breakdown(labels),))
    write_pictures(base, tmp_path, formats=["svg"])
    (file,) = tmp_path.glob("slices-*.svg")
    text = file.read_text(encoding="utf-8")
    assert text.count("slice number") == 30
    assert "(30 of 60 slices)" in text
