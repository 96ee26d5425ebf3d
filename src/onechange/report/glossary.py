"""What the columns of a report mean, for those who point at a figure."""

from __future__ import annotations

from onechange.report.document import Column

__all__ = ["explained"]

# Head of a column -> what stands in it; a column's own words come after these.
MEANINGS = {
    "role": (
        "Primary: must improve. Guardrail: may not get worse by more than its margin, "
        "nor leave its limit."
    ),
    "metric": "A score per question. ↑ higher is better, ↓ lower is better.",
    "n": "Pairs: questions scored in both arms.",
    "clusters": "Sources (documents, conversations) that are resampled whole.",
    "baseline": (
        "Mean of the baseline over the questions scored in both arms; the trials of a "
        "question are averaged first."
    ),
    "variant": (
        "Mean of the variant over the questions scored in both arms; the trials of a "
        "question are averaged first."
    ),
    "delta": "Variant minus baseline, whatever the direction of the metric.",
    "interval": (
        "Where the true delta lies, at this confidence level. It decides: pass when "
        "all of it is allowed, fail when none of it is."
    ),
    "allowed": "What the plan asks of the delta, or of the variant itself.",
    "p": (
        "How often a difference at least this large would arise if there were none "
        "(of a guardrail: if it stood exactly at its margin)."
    ),
    "adjusted p": "The p allowing for the number of slices and metrics looked at.",
    "simultaneous interval": "Holds for all slices and metrics at once.",
    "status": (
        "Pass: the whole interval is allowed. Fail: none of it is. Inconclusive: the "
        "edge lies inside it."
    ),
    "better/same/worse": (
        "Questions whose score got better, stayed the same and got worse."
    ),
    "d_z": "Cohen's d_z: mean of the differences over their standard deviation.",
    "g_z": "Hedges' g_z: Cohen's d_z corrected for the number of pairs.",
    "d_av": "Mean difference over the average standard deviation of both arms.",
    "rank-biserial": (
        "Matched-pairs rank-biserial correlation: ranks of the gains minus ranks of "
        "the losses, as a share of all."
    ),
    "Cliff's delta": (
        "Chance that an answer of the variant scores above one of the baseline, minus "
        "the reverse."
    ),
    "smallest margin that could pass": (
        "With this number of questions, if no answer changed at all; with small "
        "changes on most questions a smaller one may pass."
    ),
    "chance to pass if nothing changed": (
        "How often this guardrail would pass with this number of questions if the "
        "change had no effect."
    ),
    "further questions for 80 % power": (
        "Questions like these, beyond those at hand, with which the rule would pass in "
        "four of five repetitions."
    ),
    "1 in both": "Questions scored 1 in both arms.",
    "only baseline": "Questions scored 1 in the baseline and 0 in the variant.",
    "only variant": "Questions scored 0 in the baseline and 1 in the variant.",
    "0 in both": "Questions scored 0 in both arms.",
    "bootstrap interval": (
        "From resampling the questions; shown beside the deciding one."
    ),
    "permutation interval": (
        "From exchanging the arms of each question; shown beside the deciding one."
    ),
    "relative delta": "Mean of the variant over that of the baseline, minus 1.",
    "between-trial SD": "Spread of the means of whole trials.",
    "within-question SD": "Spread of one question's scores over its trials.",
    "ICC": "Share of the variance that lies between questions.",
    "flip rate": "Questions whose answer changes between trials.",
    "rows": "Rows read from the files of the arm.",
    "trials": "Repeated executions over the questions.",
    "unscored in baseline / variant / both": (
        "Paired questions without a score by design, in one arm alone or in both."
    ),
    "failed in baseline / variant / both": (
        "Paired questions whose rows record an error, in one arm alone or in both."
    ),
    "delta of the pairs": "Delta over the questions scored in both arms.",
    "interval of these bounds": (
        "From the low end with every missing score at its worst to the high end with "
        "every one at its best."
    ),
    "slices": "Slices that are compared with each other.",
    "delta / noise": "The delta in units of the noise floor.",
    "SD between runs": "Spread of the deltas of whole runs beyond single answers.",
    "k": "Number of attempts.",
    "pairs of trials": "Pairs of trials of the same arm that were compared.",
    "SD of questions": "How much questions differ from each other.",
    "ICC(1,1)": "Agreement of single scores of a question; trials are exchangeable.",
    "ICC(1,k)": "Agreement of a question's mean over its trials.",
    "ICC(2,1)": "As ICC(1,1), with differences between whole runs as disagreement.",
    "ICC(2,k)": "As ICC(1,k), with differences between whole runs as disagreement.",
    "N trials": "Expected half-width of the interval with so many trials in each arm.",
    "scored in both": "Paired questions with a score in both arms: the pairs.",
}


def explained(column: Column) -> str:
    """Return what a column means: the general words, then those of this table.

    Parameters
    ----------
    column : Column
        Head of a column.

    Returns
    -------
    str
        Sentences; empty for a column that needs none.

    Examples
    --------
    >>> explained(Column("delta", "r"))
    'Variant minus baseline, whatever the direction of the metric.'
    >>> explained(Column("95 % interval", "r", "of this slice alone"))[-26:]
    'Here: of this slice alone.'
    """
    general = MEANINGS.get(column.title) or MEANINGS.get(_family(column.title), "")
    own = column.help.rstrip(".")
    if not own:
        return general
    if own[0].isupper():
        return f"{own}."
    if not general:
        return own[0].upper() + own[1:] + "."
    return general if own.lower() in general.lower() else f"{general} Here: {own}."


def _family(title: str) -> str:
    """Return the kind of a head that holds a number, such as ``95 % interval``."""
    if title.endswith(" interval"):
        return "interval"
    if title.endswith(" interval of these bounds"):
        return "interval of these bounds"
    return "N trials" if title.endswith(" trials") else title
