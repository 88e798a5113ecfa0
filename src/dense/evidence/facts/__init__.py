"""What is known about each action: phase, family, targets, output."""
