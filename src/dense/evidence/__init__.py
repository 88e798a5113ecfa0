"""What a trace shows, without English: actions, observations, requirements, checks, deliverables, links, ending."""
