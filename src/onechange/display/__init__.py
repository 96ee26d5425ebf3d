"""Numbers, intervals and p-values as text, escaping, and the table mixin.

The only place that rounds. Everything a reader sees passes through here, so one
figure has one value on the terminal, in Markdown, in HTML and in LaTeX. Labels
(metric names, slices, ids) are never reformatted.
"""

from onechange.display.escaping import (
    escape_csv,
    escape_html,
    escape_invisible,
    escape_latex,
    escape_markdown,
    escape_terminal,
    shorten,
    text_width,
)
from onechange.display.labels import ARROWS, SYMBOLS, metric_text
from onechange.display.numbers import (
    MISSING,
    decimals_for,
    format_count,
    format_exact,
    format_interval,
    format_number,
    format_percent,
    format_pvalue,
    signature,
)
from onechange.display.precision import metric_decimals, rule_thresholds
from onechange.display.tables import (
    TableMixin,
    html_table,
    markdown_table,
    table_cells,
    text_table,
)

__all__ = [
    "ARROWS",
    "MISSING",
    "SYMBOLS",
    "TableMixin",
    "decimals_for",
    "escape_csv",
    "escape_html",
    "escape_invisible",
    "escape_latex",
    "escape_markdown",
    "escape_terminal",
    "format_count",
    "format_exact",
    "format_interval",
    "format_number",
    "format_percent",
    "format_pvalue",
    "html_table",
    "markdown_table",
    "metric_decimals",
    "metric_text",
    "rule_thresholds",
    "shorten",
    "signature",
    "table_cells",
    "text_table",
    "text_width",
]
