"""What a secret looks like: formats, surroundings, names, commands, keys, encodings.

In: a text. Out: spans. Each module has one kind of sign; `value_checks` says whether a value can be a secret at all.
Never imports the modules that replace (`scan`, `replacer`, `deliverables`)."""
