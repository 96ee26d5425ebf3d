"""Rebuild the bundled example: ``python -m onechange.simulate``."""

from __future__ import annotations

from pathlib import Path

import onechange
from onechange.simulate.example import write_example

if __name__ == "__main__":
    write_example(Path(onechange.__file__).parent / "examples" / "rag_top_k")
