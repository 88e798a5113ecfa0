"""What known programs do with their arguments."""
