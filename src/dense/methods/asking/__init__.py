"""The baselines' own questions: what they ask, what an answer must look like, and who answers.

In: a task or a trajectory. Out: checked answers. `questions` and `answers` are the types, `requests` renders a question
for a language model, `model` asks one, `rules` answers without one. DENSE's own questions are in `dense.analyst`. Never
imports a method, `service` or anything above."""
