"""`python -m dense` is the command `dense`."""

from dense.cli import main

main()
