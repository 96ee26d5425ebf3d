from __future__ import annotations

import math
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import onechange
from onechange.errors import OnechangeError
from onechange.plots import (
    IntervalRow,
    curve_figure,
    differences_figure,
    flow_figure,
    intervals_figure,
    picture,
    trials_figure,
)
from onechange.plots.differences import bootstrap_density
from onechange.plots.intervals import limits
from onechange.stats.sample import paired_sample

SOURCE = Path(onechange.__file__).parent
ROWS = [
    IntervalRow("worse", -0.3, -0.4, -0.2, "−0.3", "higher", (-0.25, math.inf)),
    IntervalRow("open", 0.1, -math.inf, math.inf, "+0.1", "higher"),
    IntervalRow("none", None),
    IntervalRow("all", 0.05, 0.01, 0.09, "+0.05", "higher", whole=True),
]


def _sample(n: int = 24, binary: bool = False):
    rng = np.random.default_rng(2)
    before = rng.integers(0, 2, n).astype(float) if binary else rng.uniform(0, 1, n)
    if binary:
        return paired_sample(before, np.maximum(before, rng.uniform(0, 1, n) < 0.3))
    return paired_sample(before, np.clip(before + rng.normal(0.1, 0.2, n), 0, 1))


def _figures():
    yield intervals_figure(ROWS, title="slices $x$", xlabel="delta")
    yield intervals_figure(ROWS, one_scale=False)
    yield differences_figure(_sample(), metric="score_$1")
    yield differences_figure(_sample(binary=True), metric="correct", direction="lower")
    yield flow_figure([("a", (3, 4, 5)), ("b", (0, 0, 9)), ("c", (0, 0, 0))])
    yield trials_figure({"baseline": (0.5, None, 0.6), "variant": ()}, metric="f1")
    yield curve_figure(
        (50, 100),
        {"power": (0.3, 0.8), "other": (0.2, 0.4)},
        xlabel="questions",
        ylabel="power",
        bands={"power": ((0.2, 0.4), (0.7, 0.9))},
        target=0.8,
    )


def _texts(svg: bytes) -> str:
    return " ".join("".join(node.itertext()) for node in ET.fromstring(svg).iter())


def test_every_figure_is_the_same_bytes_each_time() -> None:
    for first, second in zip(_figures(), _figures(), strict=True):
        for format in ("svg", "png"):
            assert picture(first, format) == picture(second, format)


def test_a_picture_holds_no_date_and_nothing_to_load() -> None:
    for figure in _figures():
        svg = picture(figure, "svg").decode()
        assert "<dc:date>" not in svg
        assert 'xlink:href="http' not in svg


def test_texts_are_not_read_as_mathematics() -> None:
    figures = list(_figures())
    assert "slices $x$" in _texts(picture(figures[0]))
    assert "score_$1" in _texts(picture(figures[2]))


def test_the_figures_of_a_row_are_written_beside_it() -> None:
    svg = _texts(picture(intervals_figure(ROWS)))
    for text in ("worse", "−0.3", "not measured", "all", "+0.05"):
        assert text in svg


def test_an_unknown_format_is_an_error_that_names_the_known() -> None:
    with pytest.raises(OnechangeError, match=r'"gif" is unknown.*svg, png'):
        picture(intervals_figure(ROWS), "gif")


def test_a_notebook_gets_a_picture() -> None:
    figure = intervals_figure(ROWS)
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("binary", [False, True])
def test_the_bootstrap_law_has_the_moments_of_the_bootstrap(binary: bool) -> None:
    # Theory: the resampled mean has mean(d) and Σ(d − mean)²/n².
    sample = _sample(60, binary=binary)
    point, density = bootstrap_density(sample)
    width = point[1] - point[0]
    mass = density * width
    mean = float(np.sum(point * mass))
    d = sample.difference
    assert float(mass.sum()) == pytest.approx(1.0, abs=2e-3)
    assert mean == pytest.approx(float(np.mean(d)), abs=2e-3)
    spread = math.sqrt(float(np.sum((point - mean) ** 2 * mass)))
    assert spread == pytest.approx(float(np.std(d)) / math.sqrt(d.size), rel=0.06)


def test_the_law_of_a_lattice_has_no_comb() -> None:
    sample = _sample(170, binary=True)
    _, density = bootstrap_density(sample)
    turns = np.sign(np.diff(density))
    assert np.count_nonzero(np.diff(turns[turns != 0])) <= 4


def test_equal_differences_have_no_law() -> None:
    flat = paired_sample(np.zeros(5), np.full(5, 0.5))
    assert bootstrap_density(flat)[0].size == 0
    picture(differences_figure(flat, metric="m"))


def test_matplotlib_is_imported_by_plots_alone_and_only_when_drawing() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith(("import matplotlib", "from matplotlib")):
                pytest.fail(f"{path.name} imports matplotlib at its top")
        drawing = "matplotlib" in text.replace("matplotlib.figure", "")
        assert not drawing or path.parent.name == "plots", path.name
    code = "import sys, onechange.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


HOSTILE = "中文 \u202eright\u200f 🚀 tab\there \x1b[31m $x$ line\nbreak " + "long" * 40


def _hostile_figures():
    rows = [IntervalRow(HOSTILE, 0.1, -0.1, 0.3, "+0.1", "higher"), *ROWS]
    names = {"baseline_name": HOSTILE, "variant_name": HOSTILE}
    yield intervals_figure(rows, title=HOSTILE, xlabel=HOSTILE)
    yield intervals_figure(rows, one_scale=False, xlabel=HOSTILE)
    yield differences_figure(_sample(), metric=HOSTILE, text=HOSTILE[:20], **names)
    yield flow_figure([(HOSTILE, (3, 4, 5))], title=HOSTILE[:60])
    yield trials_figure({HOSTILE: (0.5, 0.6)}, metric=HOSTILE)


def test_hostile_names_are_drawn_as_escapes_and_without_a_warning() -> None:
    for figure in _hostile_figures():  # a warning is an error in tests
        for format in ("png", "svg"):
            data = picture(figure, format)
        shown = _texts(data)
        assert "\\u202e" in shown
        assert not set("\u202e\u200f\t\x1b🚀") & set(shown)


def _boxes(figure):
    figure.draw_without_rendering()
    frame = figure.bbox
    for axes in figure.axes:
        for text in (*axes.get_yticklabels(), *axes.texts, axes.xaxis.label):
            if text.get_text():
                yield text.get_text(), text.get_window_extent(), frame


def test_a_long_name_is_cut_and_every_text_lies_inside_the_picture() -> None:
    rows = [IntervalRow("a_metric_" * 20, 0.1, -0.1, 0.3, "+0.1 (−0.1 … +0.3)"), *ROWS]
    for one_scale in (True, False):
        figure = intervals_figure(rows, xlabel="delta", one_scale=one_scale)
        for text, box, frame in _boxes(figure):
            assert box.x0 >= frame.x0 - 1, text
            assert box.x1 <= frame.x1 + 1, text
            assert box.y0 >= frame.y0 - 1, text
        shown = _texts(picture(figure))
        assert "a_metric_" * 20 not in shown
        assert "…" in shown


def test_colours_have_a_key() -> None:
    moved = IntervalRow("better", 0.3, 0.2, 0.4, "+0.3", "higher")
    forest = _texts(picture(intervals_figure([moved, *ROWS])))
    for words in ("better", "worse", "not shown to differ", "what the plan allows"):
        assert words in forest
    pairs = _texts(picture(differences_figure(_sample(), metric="m")))
    for words in ("better", "worse", "mean"):
        assert words in pairs


def test_letters_of_an_installed_fallback_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from matplotlib import font_manager

    from onechange.plots import style

    def letters(name: str) -> set[int]:
        path = font_manager.findfont(name, fallback_to_default=False)
        return set(font_manager.get_font(path).get_charmap())

    other = "STIXGeneral"  # comes with matplotlib
    letter = chr(min(letters(other) - letters("DejaVu Sans")))
    assert letter not in style.literal(letter)
    monkeypatch.setattr(style, "FALLBACKS", (other,))
    for cached in (style._fallbacks, style._drawable):
        cached.cache_clear()
    try:
        assert style.literal(letter) == letter
        svg = picture(intervals_figure([IntervalRow(letter, 0.1)]))
        assert b"STIX" not in svg
    finally:
        for cached in (style._fallbacks, style._drawable):
            cached.cache_clear()


def test_one_huge_interval_of_two_does_not_set_the_scale() -> None:
    rows = [
        IntervalRow("a", 0.06, 0.01, 0.11, "+0.06", "higher"),
        IntervalRow("b", -0.03, -2.1, 2.1, "−0.03", "higher"),
    ]
    low, high = limits(rows)
    assert -0.6 < low < -0.03
    assert 0.11 < high < 0.6
