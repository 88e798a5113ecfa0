"""The judgements as typed questions: each class holds its answer, its schema and what its prompt shows.

In: a task and nodes of its tree. Out: the slots of a prompt, a JSON schema, an answer type. Never imports a profile or
a model.

To add one: its class in `paper`, its template in `prompts/`, and whoever asks it."""

from dense.analysis.asking.questions import paper
from dense.analysis.asking.questions.paper import Boundary, Compression, Reconciliation, Score, Summary, TopLevel
from dense.analysis.asking.questions.question import (
    Answerer,
    Correction,
    Judgement,
    MethodQuestion,
    Question,
    as_judgement,
)

JUDGEMENTS = paper.JUDGEMENTS
"""All of them."""

__all__ = [
    "JUDGEMENTS",
    "Answerer",
    "Boundary",
    "Compression",
    "Correction",
    "Judgement",
    "MethodQuestion",
    "Question",
    "Reconciliation",
    "Score",
    "Summary",
    "TopLevel",
    "as_judgement",
]
