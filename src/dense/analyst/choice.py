"""Who analyses: the built-in rules, a profile of whoever answers questions, or an analyst of the caller's own."""

from __future__ import annotations

from dense.analyst import Analyst, Profile
from dense.analyst.asker import Asker
from dense.analyst.one_call import DEFAULT_LOOK_TOKENS, OneCallAnalyst
from dense.analyst.paper import PaperAnalyst
from dense.analyst.questions import Answerer
from dense.analyst.rules import RulesAnalyst


def analyst_for(
    given: Analyst | Answerer | None,
    asker: Asker,
    profile: Profile,
    look_tokens: int = DEFAULT_LOOK_TOKENS,
) -> Analyst:
    """Whoever answers questions is asked those of the profile, through `asker`. Without anybody, the rules draft,
    whatever the profile. `look_tokens` is what one call of the fast profile may show."""
    if given is None:
        return RulesAnalyst()
    if isinstance(given, Analyst):
        return given
    return PaperAnalyst(asker) if profile == "paper" else OneCallAnalyst(asker, look_tokens)
