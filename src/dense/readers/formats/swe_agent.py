"""`swe-agent`: what SWE-agent writes beside each instance, `trajectories/<user>/<run>/<instance>/<instance>.traj`.

A JSON object. `trajectory[]` has one entry for each answer of the model: `thought`, `action` (the command as text),
`observation`, `response` (the raw answer), `state`. `history[]` is the chat as the model saw it, with demonstrations
in front; some files (replays that were cut down to demonstrations) have only that. Since 1.0 there are
`replay_config` (a JSON string, or an object), `info.swe_agent_version` and tool calls, which are in `history`
alone; runs with a retry loop have `attempts[]`, each a whole file of its own.

Decided here:
- Steps come from `trajectory`, because answers that were asked for again (bad format, blocked command) are in it and
  not in `history`. `history` lends the tool calls, their IDs and the thinking to the entry that says the same. The
  copies of the chat in each entry (`messages` in 1.0, `query` later) are never looked at.
- Without tool calls the action is text typed into the agent's shell, its own commands (`open`, `edit`) being
  functions there: a `bash` call.
- Demonstrations (`is_demo`, and everything before the last of them) are no part of the attempt.
- The task is `replay_config.problem_statement.text`; else what is in the place of the problem statement in the
  instance template; else what the well-known templates put around it is cut away.
- An entry that the program made itself when it gave up (no action, `Exit due to …`) is an observation of the step
  before.
- With `attempts` each is a trajectory, and the copy of the chosen one at the top is left out, because choosing is
  grading.
- `info` gives version and token counts and nothing else: submission, exit status, review and edited files are
  end-of-run fields. `tokens_sent` does not separate cached tokens; all of it counts as input. Zero calls (replays,
  people) means unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dense.readers.chat import AGENT_ROLES, TOOL_ROLES, USER_ROLES, role_of, tool_call
from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, is_obj, number, obj, objs, seq, string, whole
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import StepBuilder, Stream
from dense.trajectory import Source, Step, Task, ToolCall, Usage

ENTRY_KEYS = frozenset({"thought", "response", "state"})
AHEAD = 4
"""How many entries of `history` are looked at for the one that an entry of `trajectory` repeats."""
SLOT = re.compile(r"\{\{\s*problem_statement\s*\}\}|\{problem_statement\}")
PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{%[^%{}]*%\}|\{\w+\}")
FRAMES = (("<pr_description>\n", "\n</pr_description>"), ("ISSUE:\n", "\nINSTRUCTIONS:\n"), ("", "\nINSTRUCTIONS:\n"))
SHELL_PROMPT = re.compile(r"\n\(Open file: [^\n]*\)\n\(Current directory: [^\n]*\)\nbash-\$\s*$")


class SweAgent:
    name = "swe-agent"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_run, head))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        ids: set[str] = set()
        for record in fitting_documents(records, _is_run, location.notices, "a run of SWE-agent"):
            run, source = obj(record.value), location_of_row(record.source)
            attempts = objs(run.get("attempts"))
            for number_, attempt in enumerate(attempts):
                part = " ".join(filter(None, (source.part, f"attempt {number_}")))
                yield from _stream(attempt, run, Source(location.name, line=source.line, part=part), location, ids)
            if not attempts:
                yield from _stream(run, run, source, location, ids)


def _is_run(value: Any) -> bool:
    run = obj(value)
    return _has_entries(run) or _has_history(run) or any(map(_has_entries, objs(run.get("attempts"))))


def _has_entries(run: dict[str, Any]) -> bool:
    return any("action" in e and "observation" in e and ENTRY_KEYS & e.keys() for e in objs(run.get("trajectory"))[:5])


def _has_history(run: dict[str, Any]) -> bool:
    """Whether there is a chat as only SWE-agent writes it: each message names its agent, the actions are separate."""
    history = objs(run.get("history"))
    speaks = any(role_of(message) in AGENT_ROLES and "action" in message for message in history)
    return speaks and all(role_of(message) and "agent" in message for message in history[:5])


def _stream(
    run: dict[str, Any], file: dict[str, Any], source: Source, location: TraceLocation, ids: set[str]
) -> Iterator[Stream]:
    history = _attempt_of(seq(run.get("history")))
    config = _config(run.get("replay_config")) or _config(file.get("replay_config"))
    problem = obj(config.get("problem_statement"))
    info = obj(run.get("info"))
    instance = first_string((problem.get("id"), run.get("instance_id")))
    if objs(run.get("trajectory")):
        steps = _steps_of_trajectory(run, history, source, location)
    else:
        steps = _steps_of_history(history, source)
    steps = list(steps)
    if not steps:
        location.notices.skip("no action of the agent in it", source)
        return
    instruction = string(problem.get("text")) or _instruction(history, config)
    yield Stream(
        format="swe-agent",
        id=unique_id(instance or location.path.stem, source, ids),
        source=source,
        notices=location.notices,
        steps=iter(steps),
        agent="swe-agent",
        agent_version=string(info.get("swe_agent_version")),
        model=_model(config),
        task=Task(instruction, instance) if instruction else None,
        usage=_usage(obj(info.get("model_stats"))),
    )


def _attempt_of(history: list[Any]) -> list[tuple[int, dict[str, Any]]]:
    """The messages of the attempt itself, with their index: demonstrations and what is before them are dropped."""
    messages = [(index, message) for index, message in enumerate(history) if is_obj(message)]
    demos = [index for index, (_, message) in enumerate(messages) if message.get("is_demo") is True]
    return messages[demos[-1] + 1 :] if demos else messages


def _config(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value, _ = decode(value.encode())
        except BadJson:
            return {}
    return obj(value)


def _model(config: dict[str, Any]) -> str | None:
    model = obj(obj(config.get("agent")).get("model"))
    return first_string((model.get("name"), model.get("model_name")))


def _usage(stats: dict[str, Any]) -> Usage | None:
    sent, received = whole(stats.get("tokens_sent")), whole(stats.get("tokens_received"))
    if not (sent or received):
        return None
    return Usage(sent, None, None, received, number(stats.get("instance_cost")) or None)


def _steps_of_trajectory(
    run: dict[str, Any], history: list[tuple[int, dict[str, Any]]], source: Source, location: TraceLocation
) -> Iterator[Step]:
    spoken = [message for _, message in history if role_of(message) in AGENT_ROLES]
    builder: StepBuilder | None = None
    for index, entry in enumerate(seq(run.get("trajectory"))):
        here = Source(source.path, line=source.line, index=index, part=source.part)
        if not is_obj(entry):
            location.notices.skip("not an entry of a trajectory", here)
        elif builder is not None and _gave_up(entry):
            builder.observe(_joined(entry.get("thought"), entry.get("observation")), origin="system")
        elif not any(text_of(entry.get(key)) for key in ("thought", "response", "action")):
            location.notices.skip("an entry in which the agent neither says nor does anything", here)
        else:
            if builder:
                yield builder.build()
            builder = _builder(entry, _same(entry, spoken), here)
    if builder:
        yield builder.build()


def _gave_up(entry: dict[str, Any]) -> bool:
    """Whether the program wrote the entry for itself, when a limit was reached or the environment died."""
    text = (text_of(entry.get("thought")) or text_of(entry.get("response"))).lstrip()
    action = text_of(entry.get("action")).strip()
    # 0.x has the reason as the action: exit_cost, exit_context, exit_format, …
    return (not action and text.startswith("Exit due to ")) or (action.startswith("exit_") and text.startswith("Exit"))


def _same(entry: dict[str, Any], spoken: list[dict[str, Any]]) -> dict[str, Any]:
    """The message of the chat that this entry repeats; it and what it skipped over are used up."""
    action, response = text_of(entry.get("action")).strip(), text_of(entry.get("response")).strip()
    for ahead, message in enumerate(spoken[:AHEAD]):
        if text_of(message.get("action")).strip() == action and text_of(message.get("content")).strip() == response:
            del spoken[: ahead + 1]
            return message
    return {}


def _builder(entry: dict[str, Any], message: dict[str, Any], source: Source) -> StepBuilder:
    builder = StepBuilder(source=source)
    action = text_of(entry.get("action"))
    builder.calls += map(tool_call, objs(message.get("tool_calls")))
    if not builder.calls and action.strip():
        builder.calls.append(ToolCall("bash", {"command": action}))
    for block in objs(message.get("thinking_blocks")):
        builder.reasoning.append(text_of(block.get("thinking")))
    thought = text_of(entry.get("thought"))
    builder.message.append(thought if thought.strip() or builder.calls else text_of(entry.get("response")))
    observation = entry.get("observation")
    if observation is not None:
        builder.observe(text_of(observation), builder.calls[0].id if len(builder.calls) == 1 else None)
    return builder


def _steps_of_history(history: list[tuple[int, dict[str, Any]]], source: Source) -> Iterator[Step]:
    builder: StepBuilder | None = None
    for index, message in history:
        role = role_of(message)
        if role in AGENT_ROLES:
            if builder:
                yield builder.build()
            here = Source(source.path, line=source.line, index=index, part=source.part)
            entry = {
                "thought": message.get("thought"),
                "action": message.get("action"),
                "response": message.get("content"),
            }
            builder = _builder(entry, message, here)
        elif builder is not None and role in TOOL_ROLES | USER_ROLES:
            calls = [call for call in seq(message.get("tool_call_ids")) if isinstance(call, str)]
            is_reply = message.get("message_type") in (None, "observation") and bool(builder.calls)
            builder.observe(
                text_of(message.get("content")),
                calls[0] if len(calls) == 1 else None,
                origin="tool" if role in TOOL_ROLES or is_reply else "user",
            )
    if builder:
        yield builder.build()


def _instruction(history: list[tuple[int, dict[str, Any]]], config: dict[str, Any]) -> str | None:
    """The problem statement within the first message to the agent."""
    prompts: list[str] = []
    for _, message in history:
        if role_of(message) in AGENT_ROLES:
            break
        if role_of(message) in USER_ROLES:
            prompts.append(text_of(message.get("content")))
    text = "\n\n".join(filter(None, prompts))
    template = obj(obj(config.get("agent")).get("templates")).get("instance_template")
    inner = _in_slot(text, template) if isinstance(template, str) else None
    inner = inner or next((statement for before, after in FRAMES if (statement := _between(text, before, after))), None)
    return (inner or SHELL_PROMPT.sub("", text)).strip() or None


def _in_slot(text: str, template: str) -> str | None:
    """What the text has where the template has the problem statement."""
    slot = SLOT.search(template)
    if slot is None:
        return None
    before = PLACEHOLDER.split(template[: slot.start()])[-1]
    after = PLACEHOLDER.split(template[slot.end() :])[0].rstrip()
    return _between(text, before, after) if before.strip() and after.strip() else None


def _between(text: str, before: str, after: str) -> str | None:
    start, end = text.find(before), text.rfind(after)
    return text[start + len(before) : end] if 0 <= start < end else None


def _joined(*values: Any) -> str:
    return "\n".join(filter(None, map(text_of, values)))
