"""Which metrics are better when lower, by the words of their names."""

from __future__ import annotations

import re

__all__ = ["LOWER_IS_BETTER", "NOT_LOWER", "infer_direction"]

# Words (of a name split at underscores and the like) that mean "lower is better".
LOWER_IS_BETTER = frozenset(
    (
        # time
        *("latency", "duration", "elapsed", "runtime", "seconds", "ms", "ttft", "tpot"),
        # money and volume
        *(
            "cost",
            "costs",
            "price",
            "usd",
            "eur",
            "dollars",
            "token",
            "tokens",
            "bytes",
        ),
        # errors of a prediction
        *("error", "errors", "mae", "mse", "rmse", "wer", "cer", "perplexity", "ece"),
        # faults of an answer or a run
        *("toxicity", "toxic", "hallucination", "hallucinations", "hallucinated"),
        *("contradiction", "contradictions", "contradicted", "unsupported", "false"),
        *("failure", "failures", "timeout", "timeouts", "violation", "violations"),
    )
)
# Words that turn such a name round, or leave its direction open.
NOT_LOWER = frozenset(
    (
        *("per", "throughput", "free", "no", "without", "saved", "savings"),
        *("avoided", "reduction", "corrected"),
        *("accuracy", "precision", "recall", "f1"),  # of tokens, of errors
    )
)


def infer_direction(name: str) -> str:
    """Return which direction of a metric is better, going by its name.

    Parameters
    ----------
    name : str
        Name of the metric; its words are parted by underscores, dots, dashes,
        spaces or capitals.

    Returns
    -------
    str
        ``lower`` when a word of the name is in `LOWER_IS_BETTER` and none is in
        `NOT_LOWER`, else ``higher``.

    Examples
    --------
    >>> infer_direction("latency_ms"), infer_direction("inputTokens")
    ('lower', 'lower')
    >>> infer_direction("tokens_per_second"), infer_direction("token_f1")
    ('higher', 'higher')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words = set(re.split(r"[^a-z0-9]+", parted))
    lower = bool(words & LOWER_IS_BETTER) and not words & NOT_LOWER
    return "lower" if lower else "higher"
