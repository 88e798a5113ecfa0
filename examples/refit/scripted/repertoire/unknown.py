"""A task of no known kind: looks around and hands in."""

from __future__ import annotations

from scripted.moves import IDLE, Goal, Move, Repertoire, says

REPERTOIRE = Repertoire(
    name="unknown",
    words=(),
    goals=(Goal("the task", lambda _: False),),
    moves=(
        Move("list", "See what is here.", says("ls -la"), 3),
        Move("readme", "A README may explain.", says("head -20 README*"), 2),
        Move("find", "List all files near by.", says("find . -maxdepth 2 -type f | head -20"), 1.5),
        *IDLE,
    ),
)
