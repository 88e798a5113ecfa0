"""From a trajectory to DENSE's trees.

    analyst.py      the seam: `analyse(trajectory) -> Analysis`
    actions/        what each action did and showed, once
    evidence/       what the trace shows, without English
    detectors/      findings: what is wrong or missing, as codes with fields
    wording/        the sentences about all of this
    rules/          the built-in analyst: drafts from the evidence alone, asks nobody
    answers.py      what models answer to the paper's questions, checked by type
    asking/         questions to a language model: views of the trace, prompts, answers
    model.py        a chat model as the answerer
    one_call/       the profile `fast` of a language model: the whole tree in one call
    paper.py        the profile `paper`: one judgement a call
    trees/          one door for all drafts: checks every piece, numbers it, derives the states
    pipeline.py     the paper's algorithm 1: analyse, then accept

Comes in: a clean trajectory and an analyst. Goes out: the source tree and the reconciled tree, sound whatever the
analyst said, and the evidence. Must never import `message`, `methods`, `service` or anything above."""
