"""The commands on many traces: `dense batch`, its queries, `dense lessons`.

In: arguments. Out: text. Never imports a library of `dense.batch` itself."""
