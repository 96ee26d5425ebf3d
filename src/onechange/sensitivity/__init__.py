"""How firm a status is: margins that could be shown, tipping points, what it takes."""

from onechange.sensitivity.designs import questions_of_design, trials_of_design
from onechange.sensitivity.margins import (
    POWER,
    MarginCheck,
    margin_check,
    normal_quantile,
    questions_needed,
    resampled_margin_check,
)
from onechange.sensitivity.rescoring import Scores, mean_status
from onechange.sensitivity.tipping import (
    Fragility,
    TippingPoint,
    fragility,
    tipping_point,
)

__all__ = [
    "POWER",
    "Fragility",
    "MarginCheck",
    "Scores",
    "TippingPoint",
    "fragility",
    "margin_check",
    "mean_status",
    "normal_quantile",
    "questions_needed",
    "questions_of_design",
    "resampled_margin_check",
    "tipping_point",
    "trials_of_design",
]
