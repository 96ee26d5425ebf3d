"""Per-question scores computed from recorded traces."""

from onechange.score.fields import TraceFields
from onechange.score.options import (
    ScoreOptions,
    load_chunk_pages,
    load_options,
    options_from_flags,
)
from onechange.score.parse import parse_trace
from onechange.score.question_set import (
    QuestionSetAudit,
    SetOverlap,
    audit_question_set,
)
from onechange.score.rows import ScoredRows, ScoreSummary, score
from onechange.score.sniff import holds_traces
from onechange.score.source import parse_traces, read_traces
from onechange.score.trace import Claim, Passages, Trace
from onechange.score.write import append_rows, score_file, write_rows

__all__ = [
    "Claim",
    "Passages",
    "QuestionSetAudit",
    "ScoreOptions",
    "ScoreSummary",
    "ScoredRows",
    "SetOverlap",
    "Trace",
    "TraceFields",
    "append_rows",
    "audit_question_set",
    "holds_traces",
    "load_chunk_pages",
    "load_options",
    "options_from_flags",
    "parse_trace",
    "parse_traces",
    "read_traces",
    "score",
    "score_file",
    "write_rows",
]
