"""What opens an issue, a module for each kind. Each takes the case and gives findings."""
