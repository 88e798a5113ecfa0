"""Short titles for stretches of actions: what they were for, and with what.

A title is made from the effects: changed files come before packages, packages before runs, runs before looks, looks
before talk. How a check ended is part of the title, because it is what a reader of an outline looks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dense.analysis.actions.check_commands import is_test_file
from dense.analysis.evidence.checks.checks import is_stopped
from dense.analysis.evidence.checks.scopes import scope
from dense.analysis.evidence.checks.test_edits import is_test_setting
from dense.analysis.evidence.deliverables.products import Products, products
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.facts.traits import host_of
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.commands import IN_PLACE, short_command
from dense.analysis.wording.messages import instruction, is_transfer, purpose, question, submitted_text
from dense.analysis.wording.outputs import missing_text
from dense.analysis.wording.phrases import capital, listed, more
from dense.analysis.wording.stretch import check_name
from dense.knowledge.errors import TIME_OUT
from dense.knowledge.programs import is_interpreter
from dense.knowledge.test_runners import RUNNERS
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.quoting import in_quotes, one_line
from dense.text.sentences import first_sentence

MAX_TITLE_CHARS = 60
MIN_QUOTE_CHARS = 20
"""With less room than this, a quote says nothing."""
MAX_NAME_CHARS = 30
MAX_WORDS_CHARS = 44
MAX_VALUE_CHARS = 48
MAX_PATHS = 12
FEW_LOOKS = 3
"""With more of them, a stretch was for the looks, and not for one value beside them."""
MIN_VALUE_CHARS = 8
NO_NAMES = frozenset({"", ".", "..", "~", ".git"})
COMMIT = "git commit"
WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.:/]+")
ERROR_NAME = re.compile(r"(?:[A-Z]\w{2,30}(?:Error|Exception|Interrupt|Warning))(?=:|$)")
PATCH_COMMAND = GuardedPattern(re.compile(r"\bpatch\b|\bgit apply\b"))
LEAD_IN = pattern("lead_in")
COMMIT_MESSAGE = re.compile(r"""\bgit commit\b[^\n'"]{0,40}?-\w*m\s*['"]([^\n'"$]{3,200})""")
LABELLED = re.compile(r"\n|\w: ")


def title(actions: Sequence[NarratedAction], files: Products) -> str:
    """What a stretch was for."""
    return one_line(_purpose(actions, files), MAX_TITLE_CHARS) or "Untitled" if actions else "Nothing"


def attempt_title(actions: Sequence[NarratedAction], *, is_recovered: bool) -> str:
    """What a stretch of tries was after, and how it ended."""
    missing = _missing_names(actions)
    if missing and not is_recovered:
        text = f"{listed(missing, 3)} {'is' if len(missing) == 1 else 'are'} {_missing_state(actions)}"
        return one_line(text, MAX_TITLE_CHARS)
    files = products(actions)
    checks = [action for action in actions if action.is_check]
    if checks and not (is_recovered or files.made or files.failed):
        return one_line(_check_title([one for one in checks if one.has_failed] or checks), MAX_TITLE_CHARS)
    if files.made or checks:
        return title(actions, files)
    name = "Python" if actions[0].facts.family in ("python", "python -") else _program(actions[0])
    lines = [failure.line for action in actions for failure in action.facts.result.failures]
    error = next((found[0] for line in lines if (found := ERROR_NAME.match(line))), "failed")
    return one_line(f"{name}: {error}, {'then worked' if is_recovered else 'given up'}", MAX_TITLE_CHARS)


def distinct_titles(titles: list[str], stretches: Sequence[Sequence[NarratedAction]]) -> list[str]:
    """Titles of several stretches; equal ones with the agent's words for the last change, if these differ."""
    counts = Counter(titles)
    pairs = list(zip(titles, stretches, strict=True))
    longer = [_with_words(one, actions) if counts[one] > 1 else one for one, actions in pairs]
    counts = Counter(longer)
    return [short if counts[long] > 1 else long for short, long in zip(titles, longer, strict=True)]


def _with_words(name: str, actions: Sequence[NarratedAction]) -> str:
    room = MAX_TITLE_CHARS - len(name) - 4
    spoken = [action for action in actions if action.step.message]
    changes = [one for one in spoken if one.facts.effects.writes] or [one for one in spoken if one.phase == "run"]
    words = first_sentence(changes[-1].step.message, room) if changes and room >= MIN_QUOTE_CHARS else ""
    return f"{name}: {in_quotes(words, room)}" if words else name


def _missing_state(actions: Iterable[NarratedAction]) -> str:
    """What is true of everything that is missing."""
    failures = [one for action in actions for one in action.facts.result.failures if one.subject]
    found = {missing_text(one) for one in failures if one.family.is_missing_dependency}
    return found.pop() if len(found) == 1 else "not there"


def _missing_names(actions: Iterable[NarratedAction]) -> list[str]:
    """Programs and packages that were missing, each once."""
    failures = [one for action in actions for one in action.facts.result.failures if one.subject]
    return list(dict.fromkeys(one_line(one.subject, 24) for one in failures if one.family.is_missing_dependency))


def _purpose(actions: Sequence[NarratedAction], files: Products) -> str:
    if files.made or files.failed:
        return _change_title(actions, files)
    phases = {action.phase for action in actions}
    if "setup" in phases and (text := _setup_title(actions)):
        return text
    worked = [action.facts.effects for action in actions if not action.has_failed]
    if removed := [base_name(path) for effects in worked for path in effects.deletes[:MAX_PATHS]]:
        return f"Remove {_names_text(removed)}"
    if reverted := [base_name(path) for effects in worked for path in effects.undoes[:MAX_PATHS]]:
        return f"Revert {_names_text(reverted)}"
    if "produce" in phases:
        return _tool_title([action for action in actions if action.phase == "produce"])
    if checks := [action for action in actions if action.is_check]:
        return _check_title(checks)
    if delegations := [action for action in actions if action.facts.delegates_to]:
        return _delegation_title(delegations[0])
    if "run" in phases:
        return _run_title(actions)
    looks = [action for action in actions if action.phase in ("explore", "verify")]
    return _look_title(looks) if looks else _talk_title(actions)


def _change_title(actions: Sequence[NarratedAction], files: Products) -> str:
    """`Fix a.py until the tests pass`, `Write summary.json`, `Try to make chart.png`."""
    programs = {base_name(path) for action in actions for path in action.facts.effects.scripts}
    writing = [action for action in actions if action.facts.effects.writes]
    checks = [action for action in actions if action.is_check]
    failed = [one_line(base_name(path), MAX_NAME_CHARS) for path in files.failed if base_name(path) not in programs]
    names = sorted(files.names, key=lambda name: ("." not in name, name in programs))
    last_failed = writing[-1].has_failed and not set(writing[-1].facts.effects.writes).isdisjoint(files.failed)
    if not names or (failed and (programs.issuperset(names) or last_failed)):
        return f"Try to make {listed(failed or names, 2)}"
    text = _names_text(names)
    if "." not in names[0] and any("mkdir" in text for action in actions for text in action.facts.commands):
        return f"Make {text}"
    verb = "Edit" if all(_is_edit(action, names[0]) for action in writing) else "Write"
    if not checks:
        return f"{verb} {text}; no {failed[0]}" if failed else f"{verb} {text}"
    if not _is_fixed(checks):
        return f"{verb} {text}{_check_result(checks[-1])}"
    only_tests = all(is_test_file(path) or is_test_setting(base_name(path)) for path in files.made)
    verb = "Change" if only_tests else "Fix"  # a test that was made to pass is not fixed
    return f"{verb} {text} until {_checker(checks[-1])} {'pass' if checks[-1].facts.result.tests else 'passes'}"


def _is_fixed(checks: Sequence[NarratedAction]) -> bool:
    """Whether the last check passed, and an earlier run of it or of a part of it failed."""
    last = checks[-1]
    failed = [action for action in checks[:-1] if action.has_failed and not action.could_not_run]
    return _is_shown_passed(last) and any(_is_part(action, last) for action in failed)


def _is_part(failed: NarratedAction, passed: NarratedAction) -> bool:
    before, after = failed.facts.effects.tests, passed.facts.effects.tests
    names = {check_name(text) for text in after}
    return all(any(f"{check_name(text)} ".startswith(f"{name} ") for name in names) for text in before)


def _is_shown_passed(check: NarratedAction) -> bool:
    """Whether a runner, or the exit code of no fallback, shows that it passed."""
    if not check.has_passed or check.facts.result.tests:
        return check.has_passed
    if check.facts.family in RUNNERS.counting or any("||" in text for text in check.facts.commands):
        return False
    return check.facts.result.exit_code == 0


def _check_result(check: NarratedAction) -> str:
    s = "" if check.facts.result.tests else "s"
    if check.could_not_run:
        return f"; {_no_run_text(check)}"
    if check.has_failed:
        return f"; {_checker(check)} still fail{s}"
    if problem := check.facts.result.reported_problem:
        return f"; {_checker(check)}: {one_line(problem, MAX_NAME_CHARS)}"
    return f"; {_checker(check)} pass{'es' if s else ''}" if _is_shown_passed(check) else ""


def _no_run_text(check: NarratedAction) -> str:
    """Why a check could not run."""
    if missing := _missing_names([check]):
        return f"{missing[0]} is {_missing_state([check])}"
    failures = check.facts.result.failures
    if any(failure.family is TIME_OUT for failure in failures):
        return f"{_checker(check)} timed out"
    return f"{_checker(check)} stopped" if any(is_stopped(one.line) for one in failures) else "no test ran"


def _checker(check: NarratedAction) -> str:
    """What checks: the tests, or a program by its last name."""
    if not check.facts.result.tests:
        return one_line(_program(check).rpartition(" ")[2], 24)
    left_out = scope(check.facts.effects.tests[-1]).excluded if check.facts.effects.tests else ()
    return f"the tests without {one_line(left_out[0], 24)}" if left_out else "the tests"


def _names_text(names: Sequence[str]) -> str:
    names = [one_line(name, MAX_NAME_CHARS) for name in dict.fromkeys(names)]
    if len(names) > 2 or (len(names) == 2 and len(names[0]) + len(names[1]) > 40):
        return f"{names[0]} and {more(len(names) - 1, 'file')}"
    return listed(names, 2)


def _is_edit(action: NarratedAction, name: str) -> bool:
    """Whether a file, if it is changed at all, is changed in part and not written as a whole."""
    if name not in [base_name(path) for path in action.facts.effects.writes[:40]]:
        return True
    if action.facts.commands:
        heads = [text[:2000] for text in action.facts.commands]
        is_in_place = any(IN_PLACE.search(text) or PATCH_COMMAND.search(text) for text in heads)
        return action.facts.family in ("edit", "insert") or is_in_place
    calls = action.step.calls
    return not any(
        call.name.lower().startswith(("write", "create", "save")) or call.arguments.get("command") == "create"
        for call in calls
    )


def _setup_title(actions: Sequence[NarratedAction]) -> str:
    installs = [(name, action) for action in actions for name in action.facts.effects.installs]
    if installs:
        works = any(not action.has_failed for _, action in installs)
        names = ["the project" if name == "." or name[:2] == ".[" else one_line(name, 24) for name, _ in installs]
        return f"{'Install' if works else 'Try to install'} {listed(list(dict.fromkeys(names)), 2)}"
    services = [text for action in actions for text in action.facts.effects.services]
    return f"Start {one_line(services[-1], 50)}" if services else ""


def _tool_title(actions: Sequence[NarratedAction]) -> str:
    """What was done through a tool of the task's own, such as a booking; what a shell or an editor did by the files."""
    done = [action for action in actions if not action.has_failed]
    last = (done or actions)[-1]
    names = [base_name(path) for path in last.facts.effects.writes[:MAX_PATHS]]
    names = [name for name in names if name not in NO_NAMES and set(name).isdisjoint("$*{}?")]
    words = _tool_words(_program(last))
    if names:
        text = f"{'edit' if _is_edit(last, names[0]) else 'write'} {_names_text(names)}"
    elif last.facts.commands:
        text = f"{'commit' if last.facts.family == COMMIT else f'run {words}'}{_detail(last)}"
    else:
        text = words if " " in words else f"{words}{_detail(last)}"
    return capital(text) if done else f"Try to {text}"


def _detail(action: NarratedAction) -> str:
    """A word of the call or of the agent, because the name of the program says nothing by itself."""
    if action.facts.commands:
        messages = [found[1] for text in action.facts.commands if (found := COMMIT_MESSAGE.search(text[:2000]))]
        words = messages[-1] if messages else _announced(action)
        return f": {in_quotes(words, MAX_WORDS_CHARS)}" if messages or len(words) >= MIN_QUOTE_CHARS else ""
    values = [value for call in action.step.calls[:1] for value in call.arguments.values() if isinstance(value, str)]
    short = [value for value in values if value.strip() and len(value) <= MAX_TITLE_CHARS and "\n" not in value]
    return f" {in_quotes(short[0], 36)}" if short else ""


def _announced(action: NarratedAction) -> str:
    """What the agent says that an action is for."""
    return LEAD_IN.sub(
        "", purpose(action.step.message, MAX_TITLE_CHARS, is_change=bool(action.facts.effects.writes)), 1
    )


def _check_title(checks: Sequence[NarratedAction]) -> str:
    last = next((action for action in reversed(checks) if not action.could_not_run), None)
    if last is None:
        return f"Try to run the tests: {_no_run_text(checks[-1])}"
    result = last.facts.result
    if not result.tests:
        end = "passes" if last.has_passed else "fails" if last.has_failed else one_line(result.reported_problem, 24)
        return f"Check with {one_line(_program(last), 40)}{f': {end}' if end else ''}"
    if failed := sum(run.failed for run in result.tests):
        return f"Run {_checker(last)}: {failed} fail{'s' if failed == 1 else ''}"
    return f"Run {_checker(last)}: all pass" if last.has_passed else "Run tests and checks: not all pass"


def _run_title(actions: Sequence[NarratedAction]) -> str:
    runs = [action for action in actions if action.phase == "run"]
    looks = [action for action in actions if action.phase == "explore"]
    scripts = [base_name(path) for action in runs for path in action.facts.effects.scripts]
    missing = _missing_names(actions)
    if missing and all(action.has_failed for action in runs):
        return f"Try {listed(missing, 3)}: {_missing_state(actions)}"
    if len(runs) == 1 and not scripts and looks:
        value = _single_value(runs[0])
        if value and (len(looks) <= FEW_LOOKS or len(value) >= MIN_VALUE_CHARS):
            return f"Work out {in_quotes(value, MAX_VALUE_CHARS)}"
        return _look_title(looks)
    if not scripts and runs[-1].facts.family.startswith("python"):
        words = _announced(runs[-1])
        commands = runs[-1].facts.commands
        name = short_command(commands[-1], MAX_WORDS_CHARS) if commands and not words else "Python"
        return f"Run {name}: {in_quotes(words, MAX_WORDS_CHARS)}" if words else f"Run {name}"
    names = dict.fromkeys(one_line(name, MAX_NAME_CHARS) for name in scripts or map(_program, runs))
    return f"Run {listed(list(names), 2)}"


def _single_value(run: NarratedAction) -> str:
    """What a short program printed, if that is one short line without a label: it was run for that."""
    name = run.facts.family.split(" ")[0]
    text = run.output.strip() if is_interpreter(name) or name in ("awk", "bc", "jq", "expr") else ""
    return text if not run.has_failed and len(text) <= MAX_VALUE_CHARS and not LABELLED.search(text) else ""


def _look_title(looks: Sequence[NarratedAction]) -> str:
    """By the files that were looked at most, by hosts, by queries, or by the names of the tools."""
    reads = [(base_name(path) or path, action) for action in looks for path in action.facts.effects.reads[:MAX_PATHS]]
    backs = [name for name, action in reads if action.phase == "verify" and name not in NO_NAMES]
    if backs and len(backs) >= len(looks) / 2:
        return f"Read back {listed([one_line(name, MAX_NAME_CHARS) for name in dict.fromkeys(backs)], 2)}"
    counts = Counter(name for name, _ in reads)
    names = [name for name, _ in counts.most_common() if name not in NO_NAMES and "*" not in name]
    asked = [address for action in looks for address in action.facts.effects.network]
    if asked and len(asked) >= len(names):
        hosts = dict.fromkeys(host_of(one) for one in asked if "://" in one or ("." in one and " " not in one))
        hosts = [one_line(host, MAX_NAME_CHARS) for host in hosts if host]
        return f"Look at {listed(hosts, 2)}" if hosts else f"Search the web for {in_quotes(asked[0], 36)}"
    if names:
        return f"Look at {_names_text(names)}"
    if counts:
        return "Look around in the folder"
    words = list(dict.fromkeys(_tool_words(_program(action)) for action in looks))
    if len(words) > 1 or " " in words[0]:
        return capital(listed(words, 2))
    search = next((one for one in looks[-1].clauses if one.verb == "search for"), None)
    return f"Search for {search.object}" if search is not None else capital(f"{words[0]}{_detail(looks[-1])}")


def _delegation_title(action: NarratedAction) -> str:
    """What another agent was asked to do: `WebSurfer: "Open the first link"`."""
    who = one_line(action.facts.delegates_to, 20)
    words = LEAD_IN.sub("", first_sentence(instruction(action.step), MAX_TITLE_CHARS))
    return f"{who}: {in_quotes(words, MAX_TITLE_CHARS - len(who) - 4)}" if words else f"Turn to {who}"


def _talk_title(actions: Sequence[NarratedAction]) -> str:
    last = actions[-1]
    handed = next((one for one in reversed(actions) if one.phase == "deliver" and one.step.calls), None)
    if handed is not None:
        answer = submitted_text(handed.step)
        verb = "Transfer to a human:" if is_transfer(handed.step) else "Hand in"
        return f"{verb} {in_quotes(answer, MAX_TITLE_CHARS - len(verb) - 3)}" if answer else "Hand over and end"
    agents = list(dict.fromkeys(action.step.agent for action in actions if action.step.agent))
    who = f"{one_line(agents[0], 20)}: " if len(agents) == 1 else ""
    if any(action.facts.is_followed_by_user for action in actions):
        asked = next((one for action in actions if (one := question(action.step.message, 40))), "")
        return f"{who}Ask the user {in_quotes(asked, 40)}" if asked else f"{who}Talk with the user"
    words = first_sentence(last.step.message, MAX_WORDS_CHARS)
    if not words:
        return "Call tools to no effect" if any(action.step.calls for action in actions) else "Say nothing"
    verb = "Last message" if last.phase == "deliver" else "Say"
    return f"{who}{verb} {in_quotes(words, MAX_WORDS_CHARS)}"


def _program(action: NarratedAction) -> str:
    """The program or tool that an action is about."""
    return action.facts.family or next((call.name for call in action.step.calls), "") or "nothing"


def _tool_words(name: str) -> str:
    """`get_user_details` as words."""
    return " ".join(WORD_BREAK.sub(" ", name.rsplit("__", maxsplit=1)[-1]).split()).lower() or "nothing"
