"""What the words of a language are collected for."""

from __future__ import annotations

from typing import Literal

Cue = Literal[
    "make",  # makes or changes what it names: create X, fix X; also "… in X", "… to X"
    "put",  # puts something else there: save … to X, report … in X
    "move",  # takes what it names elsewhere: copy given.txt to X
    "read",  # uses what it names
    "to",  # to, into, as: where something goes
    "in",  # in, inside: where something goes, or where it is
    "from",  # from, of, with: what something is taken from
    "clause",  # begins another clause: that, which, because
    "narrated",  # reports a change instead of asking for it: creates, wrote
    "existing",  # says that something is there: located, given, described
]
"""Words that decide the role of a file that a task names. A word has one cue, the first in this order."""

Category = Literal[
    Cue,
    # Orders, demands and bans
    "must",  # demands something wherever it is
    "weak_must",  # demands something only at the beginning of a clause
    "modal",  # X must contain
    "permission",  # you may write X: nobody has to
    "request",  # could you write X?
    "negation",
    "negation_behind",  # negates the verb before it: ändere X nicht
    "ban",  # forbids what follows
    "softener",  # after a negation it makes an order of it, or no ban
    "order_start",  # what comes right before an order
    "first_person",  # who says what he must do asks for nothing
    "no_order_to",  # what comes before `to` and an infinitive that is no order: a tool to write X, tried to write X
    "condition",  # begins a clause in which nothing is asked for
    # What is said of a file
    "holds",  # must contain, must exist
    "becomes",  # must be created, must be valid
    "describes",  # X contains, X is
    # Nouns
    "folder_noun",
    "file_noun",
    "file_list",  # nouns for several files
    "filler",  # may come between a label and a name
    "conjunction",
    "or",
    # Headings and labels
    "output_heading",
    "input_heading",
    "aside_heading",
    "demand_heading",
    "sample_heading",
    "change",  # changes an existing file
    # Values, commands, services, limits
    "literal",  # says that a literal must appear: key, column, format
    "field",
    "succeeds",  # says that a command must work
    "passes",
    "runs",
    "sets_up",  # starts a service
    "serves",
    "no_unit",  # may come behind a number and is no unit
    # Messages of the agent
    "turn",  # begins a sentence that turns to something new
]

PhraseCategory = Literal[
    "example",  # e.g. X: only an example
    "limit",  # at most 3
    "but",  # begins a sentence about what was not done
    "must",  # make sure
]
PatternCategory = Literal[
    "excuse",  # a failure is ascribed to something other than the changes
    "expected",  # a failure is what was wanted
    "complaint",  # a result is wrong
    "announcement",  # the last sentence of a message says what is done next
    "closing",  # a message reports that the work is done
    "admission",  # the agent says at the end that it has not done the task
    "wants_passing",  # a task asks for failing tests to pass
    "tests_pass",  # the agent says that the tests pass
    "tests_fail",  # the agent says that some do not
    "closing_doubt",  # the agent says at the end that it is not sure
    "missing",  # something is not there or not done
    "next",  # begins a sentence about what comes next
    "thinking_aloud",  # begins a sentence that makes a message no report
    "musing",  # begins a sentence in a report that says nothing
    "claim",  # words of somebody who is content
    "done_prefix",  # says before the report that all is done
    "intention",  # begins a clause about what comes next
    "lead_in",  # begins an announcement or a request, and says nothing by itself
]

type Words = dict[Category, str]
"""The words of each category, separated by spaces."""
type Phrases = dict[PhraseCategory, str]
"""The phrases of each category, separated by commas."""
type Patterns = dict[PatternCategory, str]
"""A verbose regular expression for each category."""
