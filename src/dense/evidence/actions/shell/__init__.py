"""Shell text: grammar, commands, arguments."""
