"""Lessons across tasks: dead ends that recurred, and the way out that worked each time. Counted, never invented.

In: `LessonEvidence`, one piece for each way out of a failure that was tried in a run (`dense.batch` collects it). Out:
`Lesson`s that hold in at least three tasks, as Markdown, or as lines of a message for another task. Never imports
`methods`, `service` or `batch`."""
