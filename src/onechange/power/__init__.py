"""How many questions and trials it takes, from a pilot pair, through the decision."""

from onechange.power.closed import ClosedForm
from onechange.power.pilot import Pilot, make_pilot
from onechange.power.plan import power
from onechange.power.result import PowerPoint, PowerResult
from onechange.power.simulate import Design, pass_probability

__all__ = [
    "ClosedForm",
    "Design",
    "Pilot",
    "PowerPoint",
    "PowerResult",
    "make_pilot",
    "pass_probability",
    "power",
]
