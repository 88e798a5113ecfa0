"""Short names for stretches of actions: what they were for, and what with.

A title is made from the effects: files that were changed win over packages, packages over runs, runs over looks, looks
over talk. How a check ended is part of the name, since it is what one looks for in an outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.checks.aborted_runs import is_stopped
from dense.evidence.checks.scopes import scope
from dense.evidence.checks.test_edits import is_test_setting
from dense.evidence.deliverables.products import Products, products
from dense.evidence.facts.paths import base_name
from dense.evidence.facts.targets import host_of
from dense.knowledge.errors import TIME_OUT
from dense.knowledge.test_runners import RUNNERS
from dense.narrate.action_traits import check_name
from dense.narrate.actions import NarratedAction
from dense.narrate.inline_programs import purpose
from dense.narrate.messages import instruction, question
from dense.narrate.outputs import lack
from dense.narrate.quoting import capital, listed, more
from dense.text.quoting import one_line, quoted
from dense.text.sentences import first_sentence

LONGEST = 60
SHORTEST_WORDS = 20
"""With less room than this, words tell nothing."""
NOWHERE = frozenset({"", ".", "..", "~"})
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.:/]+")


def title(deeds: Sequence[NarratedAction], done: Products | None = None) -> str:
    """What a stretch was for, in at most sixty characters."""
    name = one_line(_purpose(deeds, done or products(deeds)), LONGEST) if deeds else "Nothing"
    return name or "Something without a name"


def attempt_title(deeds: Sequence[NarratedAction], *, is_recovered: bool) -> str:
    """What a stretch of tries was after, and how it ended."""
    absent = missing(deeds)
    if absent and not is_recovered:
        return one_line(f"{listed(absent, 3)} {'is' if len(absent) == 1 else 'are'} {_lack(deeds)}", LONGEST)
    done = products(deeds)
    if absent and not done.made:
        return one_line(f"Do without {listed(absent, 2)}", LONGEST)
    if done.made or any(deed.is_check for deed in deeds):
        if is_recovered or done.made or done.failed:
            return title(deeds, done)
        failed = [deed for deed in deeds if deed.is_check and deed.has_failed]
        return one_line(_checking(failed), LONGEST) if failed else title(deeds, done)
    name = "Python" if _program(deeds[0]) in ("python", "python -", "python3", "python3 -") else _program(deeds[0])
    how = next(
        (found[0] for deed in deeds for one in deed.facts.result.failures if (found := ERROR.match(one.line))), ""
    )
    return one_line(f"{name}: {how or 'failed'}, {'then worked' if is_recovered else 'given up'}", LONGEST)


ERROR = re.compile(r"(?:[A-Z]\w{2,30}(?:Error|Exception|Interrupt|Warning))(?=:|$)")
"""The name of an error, where a line begins with it."""


def told_apart(names: list[str], stretches: Sequence[Sequence[NarratedAction]]) -> list[str]:
    """Titles of several stretches; where some have the same, each with the agent's words for its last change."""
    if len(set(names)) == len(names):
        return names
    counts = Counter(names)
    pairs = list(zip(names, stretches, strict=True))
    told = [_with_words(name, deeds) if counts[name] > 1 else name for name, deeds in pairs]
    counts = Counter(told)
    return [name if counts[one] > 1 else one for one, name in zip(told, names, strict=True)]


def _with_words(name: str, deeds: Sequence[NarratedAction]) -> str:
    room = LONGEST - len(name) - 4
    if room < SHORTEST_WORDS:
        return name
    changed = next((deed for deed in reversed(deeds) if deed.facts.effects.writes and deed.step.message), None)
    last = changed or next((deed for deed in reversed(deeds) if deed.phase == "run" and deed.step.message), None)
    words = first_sentence(last.step.message, room) if last is not None else ""
    return f"{name}: {quoted(words, room)}" if words else name


def _lack(deeds: Iterable[NarratedAction]) -> str:
    """What is said of all that is missing."""
    found = [lack(one) for deed in deeds for one in deed.facts.result.failures if one.missing_dependency]
    return found[0] if len(set(found)) == 1 else "not there"


def missing(deeds: Iterable[NarratedAction]) -> list[str]:
    """Programs and packages that were found not to be there, each once."""
    found = {
        one_line(failure.subject, 24): None
        for deed in deeds
        for failure in deed.facts.result.failures
        if failure.missing_dependency
    }
    return list(found)


def _purpose(deeds: Sequence[NarratedAction], done: Products) -> str:
    if done.made or done.failed:
        return _changing(deeds, done)
    phases = {deed.phase for deed in deeds}
    if "setup" in phases and (told := _setting_up(deeds)):
        return told
    removed = [base_name(path) for deed in deeds for path in deed.facts.effects.deletes[:12] if not deed.has_failed]
    if removed:
        return f"Remove {_files_told(removed)}"
    undone = [base_name(path) for deed in deeds for path in deed.facts.effects.undoes[:12] if not deed.has_failed]
    if undone:
        return f"Take back {_files_told(list(dict.fromkeys(undone)))}"
    if "produce" in phases:
        return _doing([deed for deed in deeds if deed.phase == "produce"])
    checks = [deed for deed in deeds if deed.is_check]
    if checks:
        return _checking(checks)
    if (handed := next((deed for deed in deeds if deed.facts.delegates_to), None)) is not None:
        return _instructing(handed)
    if not any(deed.step.calls for deed in deeds):
        return _talking(deeds)
    if "run" in phases:
        return _running(deeds)
    looks = [deed for deed in deeds if deed.phase in ("explore", "verify")]
    if looks:
        return _looking(looks)
    return _talking(deeds)


def _changing(deeds: Sequence[NarratedAction], done: Products) -> str:
    """`Fix a.py until the tests pass`, `Write summary.json`, `Try to make chart.png`."""
    programs: set[str] = set()
    writing: list[NarratedAction] = []
    checks: list[NarratedAction] = []
    for deed in deeds:
        effects = deed.facts.effects
        if effects.scripts:
            programs.update(map(base_name, effects.scripts))
        if effects.writes:
            writing.append(deed)
        if deed.is_check:
            checks.append(deed)
    failed = [one_line(base_name(path), 30) for path in done.failed if base_name(path) not in programs]
    names = done.names
    if len(names) > 1:
        names.sort(key=lambda name: ("." not in name, name in programs))
    if not names or (failed and (programs.issuperset(names) or _has_tried(writing, done.failed))):
        return f"Try to make {listed(failed or names, 2)}"
    files = _files_told(names)
    if "." not in names[0] and any("mkdir" in text for deed in deeds for text in deed.facts.commands):
        return f"Make {files}"
    verb = "Write" if [deed for deed in writing if not _is_edit(deed, names[0])] else "Edit"
    if not checks:
        return f"{verb} {files}; no {failed[0]}" if failed else f"{verb} {files}"
    return _fixing(checks, files, done.made) if _was_mended(checks) else f"{verb} {files}{_checked(checks[-1])}"


def _has_tried(writing: Sequence[NarratedAction], failed: Sequence[str]) -> bool:
    """Whether the last thing that was to be made was not."""
    last = writing[-1] if writing else None
    return last is not None and last.has_failed and not set(last.facts.effects.writes).isdisjoint(failed)


def _was_mended(checks: Sequence[NarratedAction]) -> bool:
    """Whether the last check passed, and an earlier run of the same failed."""
    last = checks[-1]
    if not _is_shown_passed(last):
        return False
    failed = [deed for deed in checks[:-1] if deed.has_failed and not deed.could_not_run]
    return any(_is_of(deed, last) for deed in failed) if failed else False


def _is_of(failed: NarratedAction, passed: NarratedAction) -> bool:
    """Whether what failed is part of what passed: the same check, or some of it. Runs without a command of their own
    are told apart by their runners."""
    before, after = failed.facts.effects.tests, passed.facts.effects.tests
    if not before or not after:
        return failed.facts.family == passed.facts.family
    names = {check_name(text) for text in after}
    return all(any(f"{check_name(text)} ".startswith(f"{name} ") for name in names) for text in before)


def _is_shown_passed(check: NarratedAction) -> bool:
    """Whether a runner or an exit code says so; that nothing speaks against it is not enough for a title, nor is the
    code of what was to run in its place."""
    if not check.has_passed or check.facts.result.tests:
        return check.has_passed
    if check.facts.family in RUNNERS.counting or any("||" in text for text in check.facts.commands):
        return False
    return check.facts.result.exit_code == 0


def _fixing(checks: Sequence[NarratedAction], files: str, made: Sequence[str]) -> str:
    is_test = all(is_test_file(path) or is_test_setting(base_name(path)) for path in made)
    verb = "Change" if is_test else "Fix"  # a test that was made to pass was not fixed
    return f"{verb} {files} until {_checker(checks[-1])} {'pass' if checks[-1].facts.result.tests else 'passes'}"


def _checked(check: NarratedAction) -> str:
    s = "" if check.facts.result.tests else "s"
    if check.could_not_run:
        return f"; {_no_run(check)}"
    if check.has_failed:
        return f"; {_checker(check)} still fail{s}"
    if check.facts.result.reported_problem:
        return f"; {_checker(check)}: {one_line(check.facts.result.reported_problem, 30)}"
    return f"; {_checker(check)} pass{'es' if s else ''}" if _is_shown_passed(check) else ""


def _no_run(check: NarratedAction) -> str:
    """Why a check could not run, where a name says it."""
    if absent := missing([check]):
        return f"{absent[0]} is {_lack([check])}"
    failures = check.facts.result.failures
    if any(failure.family is TIME_OUT for failure in failures):
        return f"{_checker(check)} timed out"
    if any(is_stopped(failure.line) for failure in failures):
        return f"{_checker(check)} stopped"
    return "no test ran"


def _checker(check: NarratedAction) -> str:
    """What checks: the tests, or a program by its last name."""
    if not check.facts.result.tests:
        return one_line(_program(check).rpartition(" ")[2], 24)
    command = check.facts.effects.tests[-1] if check.facts.effects.tests else ""
    left_out = scope(command).excluded if " -k" in command or " --" in command else ()
    return f"the tests without {one_line(left_out[0], 24)}" if left_out else "the tests"


def _files_told(names: Sequence[str]) -> str:
    if len(names) > 2 or (len(names) == 2 and len(names[0]) + len(names[1]) > 40):
        return f"{one_line(names[0], 30)} and {more(len(names) - 1, 'file')}"
    return listed([one_line(name, 30) for name in names], 2)


EDITORS = ("sed", "perl", "ruby", "patch", "git apply")
EDITING = re.compile(r"\b(?:sed|perl|ruby)\s[^\n|;&]{0,40}-\w*i|\bpatch\b|\bgit apply\b")


def _is_edited_by(text: str) -> bool:
    head = text[:2000]
    for word in EDITORS:
        if word in head:
            return EDITING.search(head) is not None
    return False


def _is_edit(deed: NarratedAction, name: str) -> bool:
    """Whether a file, if it is changed at all, is changed in part and not written as a whole."""
    if name not in [base_name(path) for path in deed.facts.effects.writes[:40]]:
        return True
    if deed.facts.commands:
        return deed.facts.family in ("edit", "insert") or any(map(_is_edited_by, deed.facts.commands))
    return not any(
        call.name.lower().startswith(("write", "create", "save")) or call.arguments.get("command") == "create"
        for call in deed.step.calls
    )


def _setting_up(deeds: Sequence[NarratedAction]) -> str:
    installs = list(dict.fromkeys(name for deed in deeds for name in deed.facts.effects.installs))
    if installs:
        works = any(deed.facts.effects.installs and not deed.has_failed for deed in deeds)
        names = ["the project" if name == "." or name[:2] == ".[" else one_line(name, 24) for name in installs]
        return f"{'Install' if works else 'Try to install'} {listed(names, 2)}"
    services = [text for deed in deeds for text in deed.facts.effects.services]
    return f"Start {one_line(services[-1], 50)}" if services else ""


def _doing(deeds: Sequence[NarratedAction]) -> str:
    """What was done through a tool of the task's own: a booking, a message. What a shell or an editor does, by the
    files; what neither tells, with a word of the call or of the agent."""
    done = [deed for deed in deeds if not deed.has_failed]
    last = (done or deeds)[-1]
    names = [name for path in last.facts.effects.writes[:12] if (name := base_name(path)) and _is_name(name)]
    words = _tool_words(_program(last))
    if names:
        told = f"{'edit' if _is_edit(last, names[0]) else 'write'} {_files_told(list(dict.fromkeys(names)))}"
    elif last.facts.commands:
        told = f"{'commit' if words == COMMITTED else f'run {words}'}{_detail(last)}"
    else:
        told = words if " " in words else f"{words}{_detail(last)}"
    return capital(told) if done else f"Try to {told}"


def _is_name(name: str) -> bool:
    """Whether it names one file, and not a repository or what a shell puts in its place."""
    return name not in NOWHERE and name != ".git" and set(name).isdisjoint("$*{}?")


def _detail(deed: NarratedAction) -> str:
    """A word of what was called or said, where the name of a program says nothing by itself."""
    texts = [text for text in deed.facts.commands if COMMITTED in text]
    if texts and (found := COMMIT_WORDS.search(texts[-1][:2000])):
        return f": {quoted(found[1], 44)}"
    if deed.facts.commands:
        return f": {quoted(words, 40)}" if len(words := _meant(deed)) >= SHORTEST_WORDS else ""
    values = [value for call in deed.step.calls[:1] for value in call.arguments.values() if isinstance(value, str)]
    short = [value for value in values if value.strip() and len(value) <= LONGEST and "\n" not in value]
    return f" {quoted(short[0], 36)}" if short else ""


LEAD = re.compile(
    r"(?:(?:now|so|next|then|first|finally|ok(?:ay)?),?\s+)?"
    r"(?:i(?:['’]ll| will)|let(?:['’]s| me| us)|we(?:['’]ll| will))\s+",
    re.IGNORECASE,
)
"""How somebody begins to say what comes next; a title has no room for it."""


def _meant(deed: NarratedAction) -> str:
    """What the agent says that an action is for."""
    words = purpose(deed.step.message, LONGEST, is_change=bool(deed.facts.effects.writes))
    found = LEAD.match(words)
    return words[found.end() :] if found else words


COMMITTED = "git commit"
COMMIT_WORDS = re.compile(r"""\bgit commit\b[^\n'"]{0,40}?-\w*m\s*['"]([^\n'"$]{3,200})""")


def _checking(checks: Sequence[NarratedAction]) -> str:
    last = checks[-1]
    if last.could_not_run:
        ran = next((deed for deed in reversed(checks) if not deed.could_not_run), None)
        return f"Try to run the tests: {_no_run(last)}" if ran is None else _checking([ran])
    if not last.facts.result.tests:
        ends = ": passes" if last.has_passed else ": fails" if last.has_failed else ""
        ends = ends or (
            f": {one_line(last.facts.result.reported_problem, 24)}" if last.facts.result.reported_problem else ""
        )
        return f"Check with {one_line(_program(last), 40)}{ends}"
    failed = sum(run.failed for run in last.facts.result.tests)
    if failed:
        return f"Run {_checker(last)}: {failed} fail{'s' if failed == 1 else ''}"
    if not last.has_passed:
        return "Run tests and checks: not all pass"
    return f"Run {_checker(last)}: all pass"


def _running(deeds: Sequence[NarratedAction]) -> str:
    runs = [deed for deed in deeds if deed.phase == "run"]
    scripts = list(dict.fromkeys(base_name(path) for deed in runs for path in deed.facts.effects.scripts))
    names = scripts or list(dict.fromkeys(_program(deed) for deed in runs))
    absent = missing(deeds)
    if absent and all(deed.has_failed for deed in runs):
        return f"Try {listed(absent, 3)}: {_lack(deeds)}"
    looks = sum(deed.phase == "explore" for deed in deeds)
    if len(runs) == 1 and not scripts and looks:
        if (value := _one_value(runs[0])) and (looks <= FEW_LOOKS or len(value) >= LONG_VALUE):
            return f"Work out {quoted(value, 48)}"
        return _looking([deed for deed in deeds if deed.phase == "explore"])
    if not scripts and runs[-1].facts.family.startswith("python"):
        return _running_python(runs[-1])
    return f"Run {listed([one_line(name, 30) for name in names], 2)}"


def _running_python(run: NarratedAction) -> str:
    """A program without a name, by what the agent says that it is for, else by its last line."""
    if words := _meant(run):
        return f"Run Python: {quoted(words, 44)}"
    return f"Run {last}" if (last := _last_ticked(run.action_text)) else "Run Python"


FEW_LOOKS = 3
"""Where there are more, the stretch was for them, and not for one value beside."""
LONG_VALUE = 8
INTERPRETERS = ("python", "node", "perl", "ruby", "php", "awk", "bc", "jq", "expr")


def _one_value(run: NarratedAction) -> str:
    """What a short program printed, where that is one short line: it was run for that."""
    if run.has_failed or not run.facts.family.startswith(INTERPRETERS):
        return ""
    text = run.output.strip()
    return text if 0 < len(text) <= 48 and "\n" not in text else ""


def _last_ticked(told: str) -> str:
    """What stands in the last pair of backticks."""
    parts = told.rsplit("`", 2)
    return parts[1].strip() if len(parts) == 3 else ""


def _looking(looks: Sequence[NarratedAction]) -> str:
    """By the files that were looked at most, by hosts, by queries, or by the names of the tools."""
    backs = [
        name
        for deed in looks
        if deed.phase == "verify"
        for path in deed.facts.effects.reads[:12]
        if (name := base_name(path)) not in NOWHERE
    ]
    if backs and len(backs) >= len(looks) / 2:
        return f"Read back {listed([one_line(name, 30) for name in dict.fromkeys(backs)], 2)}"
    counts = Counter(base_name(path) or path for deed in looks for path in deed.facts.effects.reads[:12])
    names = [one_line(name, 30) for name, _ in counts.most_common() if name not in NOWHERE and "*" not in name]
    asked = [address for deed in looks for address in deed.facts.effects.network]
    if asked and len(asked) >= len(names):
        return _asking(asked)
    if names:
        return (
            f"Look at {listed(names, 2)}"
            if len(names) < 3
            else f"Look at {names[0]} and {more(len(names) - 1, 'file')}"
        )
    if counts:
        return "Look around in the folder"
    words = list(dict.fromkeys(_tool_words(_program(deed)) for deed in looks))
    if len(words) == 1 and " " not in words[0]:
        return _searching(looks[-1]) or capital(f"{words[0]}{_detail(looks[-1])}")
    return capital(listed(words, 2))


def _searching(look: NarratedAction) -> str:
    """A search that names no file, by what was searched for."""
    pattern = (
        _last_ticked(look.action_text)
        if look.action_text.startswith("searched for `") and " in `" not in look.action_text
        else ""
    )
    return f"Search for {one_line(pattern, 44)}" if pattern else ""


def _asking(asked: Sequence[str]) -> str:
    hosts = list(dict.fromkeys(host_of(one) for one in asked if "://" in one or ("." in one and " " not in one)))
    hosts = [one_line(host, 30) for host in hosts if host]
    return f"Look at {listed(hosts, 2)}" if hosts else f"Search the web for {quoted(asked[0], 36)}"


def _instructing(handed: NarratedAction) -> str:
    """What another agent was told to do: `WebSurfer: "Open the first link"`."""
    who = one_line(handed.facts.delegates_to, 20)
    words = first_sentence(instruction(handed.step), LONGEST)
    return f"{who}: {quoted(PLEASE.sub('', words), LONGEST - len(who) - 4)}" if words else f"Turn to {who}"


PLEASE = re.compile(r"^(?:please|kindly|bitte|por favor|s'il vous pla[iî]t)[,:]?\s+", re.IGNORECASE)
"""A courtesy before what is asked."""


def _talking(deeds: Sequence[NarratedAction]) -> str:
    last = deeds[-1]
    handed = next((deed for deed in reversed(deeds) if deed.phase == "deliver" and deed.step.calls), None)
    if handed is not None:
        told = handed.action_text
        return told.replace("handed in", "Hand in", 1) if told.startswith("handed in") else "Hand over and end"
    agents = list(dict.fromkeys(deed.step.agent for deed in deeds if deed.step.agent))
    who = f"{one_line(agents[0], 20)}: " if len(agents) == 1 else ""
    if any(deed.facts.is_followed_by_user for deed in deeds):
        asked = next((one for deed in deeds if (one := question(deed.step.message, 40))), "")
        return f"{who}Ask the user {quoted(asked, 40)}" if asked else f"{who}Talk with the user"
    words = first_sentence(last.step.message, 44)
    return f"{who}{'Last word' if last.phase == 'deliver' else 'Say'} {quoted(words, 44)}" if words else "Say nothing"


def _program(deed: NarratedAction) -> str:
    """The program or tool that tells most of an action."""
    return deed.facts.family or next((call.name for call in deed.step.calls), "") or "nothing"


def _tool_words(name: str) -> str:
    """`get_user_details` as words."""
    return " ".join(HUMP.sub(" ", name.rsplit("__", maxsplit=1)[-1]).split()).lower() or "nothing"
