"""One decision or the decisions about several variants, for a terminal."""

from __future__ import annotations

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.display import escape_terminal, text_width
from onechange.report.decisions import several_headline
from onechange.report.terminal import render_text

__all__ = ["terminal_text"]


def terminal_text(
    result: Comparison | Decision | Decisions, *, width: int = 100, color: bool = False
) -> str:
    """Write a result for a terminal, of several variants one after the other.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.
    width : int
        Columns of the terminal.
    color : bool
        Whether statuses are coloured.

    Returns
    -------
    str
        Of several variants first how many may ship, then each under its name.
    """
    if not isinstance(result, Decisions):
        return render_text(result, width=width, color=color)
    parts = [f"{escape_terminal(several_headline(result))}.\n"]
    for decision in result:
        name = escape_terminal(decision.variant_name)
        line = f"── {name} ".ljust(width - text_width(name) + len(name), "─")
        text = render_text(decision, width=width, color=color)
        parts.append(f"{line}\n\n{text}")
    return "\n".join(parts)
