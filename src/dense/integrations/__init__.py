"""Where users are: hooks and plugins for coding agents, an MCP server, a scanner, and the settings file.

    session-end   a hook queues the session and starts a worker; the worker distills it (`worker`) into the state
                  folder
    session-start a hook prints the feedback on the project's last session, if anything is open (`hooks`)

Everything is off until `dense setup` turns it on. In: what agents give their hooks, as JSON. Out: JSON for the agent,
and results in the state folder (`state`). `hooks`, `queue` and `state` import nothing heavy: agents wait for them.
Never imports `cli`."""
