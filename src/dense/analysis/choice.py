"""Who analyses: the built-in rules, a profile of whoever answers questions, or an analyst of the caller's own."""

from __future__ import annotations

from dense.analysis.analyst import Analyst
from dense.analysis.asking.asker import Asker
from dense.analysis.asking.questions import Answerer
from dense.analysis.one_call import OneCallAnalyst
from dense.analysis.paper import PaperAnalyst
from dense.analysis.rules import RulesAnalyst
from dense.options import DEFAULT_LOOK_TOKENS, Profile


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
