"""A Harbor agent that looks for everything that other attempts could have left, and leaves all it can."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import json
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

# Looks first, then leaves its mark everywhere: files in every place that can be written, a process, shared memory, a
# changed system file, a listening port, an environment variable in what shells read at their start.
SCRIPT = r"""
exec 2>&1
PLACES="/app /tmp /var/tmp /dev/shm $HOME /opt /srv /run /usr/local /etc /var/lib"
echo "== marks: files"
find / -xdev \( -path /proc -o -path /sys \) -prune -o -name 'spy-mark-*' -print
for d in $PLACES /home; do ls -a $d; done | grep spy-mark
grep -h spy-mark /etc/profile /etc/environment /etc/hosts $HOME/.bashrc $HOME/.profile
echo "== marks: processes"
for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; echo; done | grep -v grep | grep 'spy-mark'
echo "== marks: ports"
(exec 3<>/dev/tcp/127.0.0.1/34567) && echo "spy-mark: somebody listens"
echo "== network"
tail -n +3 /proc/net/dev
echo "== environment"
env
echo "== verifier and solution"
ls -la /tests /solution /logs /logs/verifier
find / -xdev \( -path /proc -o -path /sys -o -path /usr/share -o -path /usr/lib \) -prune -o -type f \
    \( -name test.sh -o -name solve.sh -o -name reward.txt -o -name refit.yaml -o -name store.sqlite \) -print
grep -rl 'CANARY' /tests /solution /home /logs $PLACES
echo "== leaving"
mark=spy-mark-MARK
for d in $PLACES; do echo MARK > $d/$mark; done
for f in /etc/profile /etc/environment /etc/hosts $HOME/.bashrc $HOME/.profile; do echo "# $mark" >> $f; done
export SPY_MARK=$mark
setsid sh -c "exec -a $mark sleep 300" >/dev/null 2>&1 </dev/null &
listen="import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 34567)); s.listen(); time.sleep(300)"
python3 -c "$listen" >/dev/null 2>&1 &
sleep 1
echo "left $mark"
"""


class Spy(BaseAgent):
    """Runs the script and writes down what it saw, as a trace."""

    @staticmethod
    def name() -> str:
        return "spy"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        del environment

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        mark = self.logs_dir.parent.name
        script = self.logs_dir / "look.sh"
        script.write_text(SCRIPT.replace("MARK", mark))
        await environment.upload_file(
            script, "/look.sh"
        )  # as a file: the script itself must not be among the processes
        done = await environment.exec("bash /look.sh", timeout_sec=60)
        seen = done.stdout or ""
        trace: dict[str, Any] = {
            "schema_version": "ATIF-v1.6",
            "session_id": mark,
            "agent": {"name": "spy", "version": "1", "model_name": "none"},
            "steps": [
                {"step_id": 1, "source": "user", "message": instruction},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "I look around.",
                    "tool_calls": [{"tool_call_id": "c", "function_name": "look", "arguments": {"mark": mark}}],
                    "observation": {"results": [{"source_call_id": "c", "content": seen}]},
                },
            ],
        }
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trace))
        context.n_input_tokens, context.n_output_tokens = len(instruction) // 4, len(seen) // 4
