"""Detectors: each module looks at the evidence of one trace and reports findings of one code, or of one family.

In: `TraceEvidence`. Out: `Finding`s, which are codes with fields and never sentences; `Assessment` puts them together.
Never imports `narrate` or `analyst`: the words for a finding are made in `narrate/findings.py`.

To add a detector, write a module here with a `DETECTOR` (see `registry.py`) and give its codes a wording in
`narrate/findings.py`. `registry.codes()` is the table of all codes with meaning, severity and level:

    check_failed                a test or check failed and did not pass again
    program_failed              the last program that ran failed
    output_doubted              the agent, or the program itself, calls the last output wrong
    last_action_failed          the last action failed and no other finding covers it
    message_rejected            the harness rejected a message, so its commands never ran
    deliverable_missing         nothing tried to make a file that the task asks for
    deliverable_attempt_failed  every attempt to make a file that the task asks for failed
    only_new_files              the submission changes no existing file
    plan_unfinished             the agent's own plan still lists items as not started
    tests_weakened              tests pass only because they were edited
    unverified_change           nothing ran or read what was changed last
    answer_rejected             a submitted answer was rejected
    submission_empty            the submission is empty
    submission_partial          the agent marks its submission as partly done
    agent_gave_up               the agent marks its own work as not done
    request_unsatisfied         the lead agent holds the request to be unsatisfied when the run ends
    ended_without_handover      the trace ends in the middle of work
"""
