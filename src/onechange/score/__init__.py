"""Per-question scores computed from recorded traces."""

from onechange.score.fields import TraceFields
from onechange.score.options import ScoreOptions, load_chunk_pages, load_options
from onechange.score.parse import parse_trace
from onechange.score.rows import ScoredRows, ScoreSummary, score
from onechange.score.source import parse_traces, read_traces
from onechange.score.trace import Claim, Passages, Trace
from onechange.score.write import append_rows, score_file, write_rows

__all__ = [
    "Claim",
    "Passages",
    "ScoreOptions",
    "ScoreSummary",
    "ScoredRows",
    "Trace",
    "TraceFields",
    "append_rows",
    "load_chunk_pages",
    "load_options",
    "parse_trace",
    "parse_traces",
    "read_traces",
    "score",
    "score_file",
    "write_rows",
]
