"""What came back after an action: exit codes, failures, test runs, named values.

    observe.observe(step, effects)   what the observations of a step show
    result.values(text)              the named values in a text

In: a step and its effects. Out: an `ObservedResult`. Both functions are pure, accept whatever a trace holds, and never
raise. Precision goes before recall: error words in contents that an action only showed are no failure. What a user said
is not looked at. Error families and test runners are in `dense.knowledge`. Never imports the text of actions
(`blocks`, `show`)."""
