"""Detectors: each module looks at the evidence of one trace and reports findings of one code, or of one family.

In: `TraceEvidence`. Out: `Finding`s, which are codes with fields and never sentences; `TraceAssessment` collects them.
Never imports `wording` or an analyst: the words for a finding are made in `analysis/wording/findings.py`.

To add a detector, write a module here with a `DETECTOR` (see `registry.py`) and give its codes a wording in
`analysis/wording/findings.py`. `registry.codes()` is the table of all codes with meaning, severity and level."""
