"""`onechange demo`: the whole job on the bundled experiment."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from onechange.cli.output import outputs, print_out
from onechange.errors import OnechangeError

__all__ = ["run_demo"]


def run_demo(out: Path) -> None:
    """Decide on the bundled example; write the report, and its figures as tables.

    Parameters
    ----------
    out : Path
        Folder for the outputs; made when absent.
    """
    from onechange.compare import compare
    from onechange.decide import decide
    from onechange.plan import Plan

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OnechangeError(
            f"--out {out}: cannot be made ({error.strerror}); name a folder you may "
            "write to."
        ) from error
    targets: dict[str, str | None] = {
        "markdown": str(out / "report.md"),
        "html": str(out / "report.html"),
        "json": str(out / "result.json"),
        "csv": str(out / "deltas.csv"),
    }
    with (
        as_file(files("onechange") / "examples" / "rag_top_k") as folder,
        outputs(targets, stdout="text", quiet=False) as opened,
    ):
        plan = Plan.load(folder / "plan.toml")
        comparison = compare(folder / "baseline.jsonl", folder / "variant.jsonl", plan)
        decision = decide(comparison, plan)
        opened.write(decision)
        for file in sorted(folder.iterdir()):
            shutil.copyfile(file, out / file.name)
    written = ", ".join(sorted(path.name for path in out.iterdir()))
    print_out(f"\nIn {out}: {written}")
