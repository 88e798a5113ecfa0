"""The commands on many traces: `dense batch`, its questions, `dense lessons`.

In: arguments. Out: text. Never imports a library of `dense.batch` itself."""
