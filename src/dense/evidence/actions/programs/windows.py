"""PowerShell's cmdlets."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.programs.network import ask
from dense.evidence.actions.shell.arguments import operands, option, values
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import program_name


def note_powershell(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """The cmdlets that write, by their parameters; parameters may be written in any case."""
    name = program_name(words[0])
    small = [words[0], *(word.lower() if word.startswith("-") else word for word in words[1:])]
    target = option(small, "-path", "-filepath", "-literalpath", "-outfile", "-destinationpath")
    rest = operands(
        small,
        values("""
            -value -encoding -itemtype -type -name -path -filepath -literalpath -uri -outfile -destination
            -destinationpath -inputobject -width -method -headers -body
        """),
    )
    if name in ("invoke-webrequest", "iwr", "invoke-restmethod", "irm"):
        ask(ledger, option(small, "-uri") or next(iter(rest), ""))
        target = option(small, "-outfile") or ""
    if name in ("remove-item", "ri", "del", "erase", "rd"):
        ledger.delete(*([target] if target else [word for word in rest if not word.startswith("/")]), cwd=command.cwd)
    elif name in ("copy-item", "move-item"):
        source, aim = (
            target or next(iter(rest), ""),
            option(small, "-destination") or (rest[-1] if len(rest) > (not target) else ""),
        )
        (ledger.delete if name == "move-item" else ledger.read)(source, cwd=command.cwd)
        ledger.write(aim, cwd=command.cwd)
    else:
        ledger.write(target if target is not None else next(iter(rest), ""), cwd=command.cwd)
