from __future__ import annotations

from pathlib import Path

import pytest

import onechange as oc
from onechange.display import text_width
from onechange.formats import describe
from onechange.report.contents import render_contents

EXAMPLE = Path(oc.__file__).parent / "examples" / "rag_top_k" / "baseline.jsonl"


@pytest.mark.parametrize("width", [60, 100])
def test_what_a_file_holds_is_as_wide_as_the_terminal(width: int) -> None:
    results = oc.read(EXAMPLE)
    text = render_contents(EXAMPLE.name, describe({"b": results}), width=width)
    assert max(text_width(line) for line in text.splitlines()) <= width
    words = " ".join(text.split())
    for name in results.metrics:
        assert name in words
    assert "retriever.top_k = 3" in words
