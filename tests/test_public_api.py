"""What `import onechange` offers, and what it must not cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onechange

HEAVY = {
    "pandas",
    "scipy",
    "scipy.stats",
    "statsmodels",
    "pingouin",
    "matplotlib",
    "pyarrow",
    "rich",
}


def _modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", onechange.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(onechange, name) is not None


def test_public_names_are_sorted_and_documented() -> None:
    assert sorted(onechange.__all__) == onechange.__all__
    for name in onechange.__all__:
        assert getattr(onechange, name).__doc__, f"{name} has no docstring"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'uplift'"):
        _ = onechange.uplift


def test_a_submodule_does_not_hide_the_function_of_its_name() -> None:
    # `onechange.compare` is a module and a function: the function must win,
    # whichever was imported first.
    code = (
        "import onechange.compare, onechange.decide, onechange.read, onechange.align\n"
        "import onechange as oc\n"
        "assert callable(oc.compare) and callable(oc.decide) and callable(oc.read)\n"
        "assert callable(oc.align)"
    )
    _modules_after(code)


def test_import_onechange_is_light() -> None:
    assert not HEAVY & _modules_after("import onechange")


def test_the_default_comparison_needs_neither_scipy_stats_nor_plots() -> None:
    code = (
        "import pandas as pd, onechange as oc\n"
        "ids = [f'q{i}' for i in range(30)]\n"
        "b = pd.DataFrame({'question_id': ids, 's': [i / 30 for i in range(30)],"
        " 'c': [i % 2 for i in range(30)]})\n"
        "v = b.assign(s=b.s ** 2, c=1)\n"
        "oc.compare(b, v)"
    )
    heavy = {"scipy.stats", "statsmodels", "pingouin", "matplotlib"}
    assert not heavy & _modules_after(code)


def test_comparing_parquet_files_does_not_import_pandas(tmp_path: Path) -> None:
    columns = {
        "question_id": [f"q{i}" for i in range(30)],
        "kind": ["a", None, ""] * 10,
        "correct": [True, False, None] * 10,
        "latency": [0.5 + i for i in range(29)] + [None],
        "rank": [None, *range(29)],
    }
    paths = [tmp_path / f"{arm}.parquet" for arm in ("baseline", "variant")]
    for path in paths:
        pq.write_table(pa.table(columns), path)
    code = (
        "import onechange as oc\n"
        f"oc.compare({str(paths[0])!r}, {str(paths[1])!r}, oc.Plan(slices=['kind']))"
    )
    assert "pandas" not in _modules_after(code)
