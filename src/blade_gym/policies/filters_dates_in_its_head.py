"""A habit: days are often not given to the search. Everything is read, and filtered in the policy's own reasoning.

Where the search filters, all goes well. Where the policy does, a record on the very edge of the days that count is often
dropped.
"""

from __future__ import annotations

from typing import Any, ClassVar

from blade_gym.policies.good import Assistant, Mood
from blade_gym.policies.plans import Addresses, Found, Plan

IN_ITS_HEAD = 0.6
"""How often the days are kept from the search."""
DROPS_THE_EDGE = 0.7


class FiltersDatesInItsHead(Assistant):
    """Passes some repeats of a task and fails others by one record."""

    name: ClassVar[str] = "scripted/filters_dates_in_its_head"

    def query(self, plan: Plan, known: Addresses, mood: Mood) -> dict[str, Any]:
        """Without the days, where anything else narrows the search."""
        return dict(plan.by(known)) if _in_its_head(plan, known, mood) else super().query(plan, known, mood)

    def chosen(self, plan: Plan, found: Found, mood: Mood) -> tuple[str, Found]:
        """The records whose day lies between the limits, without those on a limit where it is careless."""
        if not plan.days or mood.habit >= IN_ITS_HEAD:
            return "", found
        low, high = _limits(plan)
        careless = mood.care < DROPS_THE_EDGE and low != high
        kept = [one for one in found if _lies(str(one[plan.day_field])[:10], low, high, careless=careless)]
        told = f"I have {len(found)} records and go through their {plan.day_field} myself: "
        return f"{told}{len(kept)} lie in the days that were asked for.", kept


def _in_its_head(plan: Plan, known: Addresses, mood: Mood) -> bool:
    return mood.habit < IN_ITS_HEAD and bool(plan.days) and bool(plan.by(known))


def _lies(day: str, low: str, high: str, *, careless: bool) -> bool:
    return low < day < high if careless else low <= day <= high


def _limits(plan: Plan) -> tuple[str, str]:
    """The first and the last day that count."""
    days = (plan.days or {}).items()
    low = next((value[:10] for name, value in days if name.endswith("min")), "0000-00-00")
    high = next((value[:10] for name, value in days if name.endswith("max")), "9999-99-99")
    return low, high
