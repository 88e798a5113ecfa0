"""The baselines' own questions: what they ask, what an answer must look like, and who answers.

`questions` and `answers` are the types, `requests` renders a question for a language model, `model` asks one, `rules`
answers without one. DENSE's own questions are in `dense.analyst`."""
