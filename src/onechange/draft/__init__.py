"""A commented draft of the plan, from the results of both arms."""

from onechange.draft.write import draft_plan

__all__ = ["draft_plan"]
