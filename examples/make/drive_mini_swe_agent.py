"""Drive mini-swe-agent on /opt/task.md, as its own runner does. `record.py` starts this in the neutral place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from minisweagent.agents.default import DefaultAgent  # type: ignore[import-not-found]
from minisweagent.environments.local import LocalEnvironment  # type: ignore[import-not-found]
from minisweagent.models import get_model  # type: ignore[import-not-found]

sys.path.insert(0, "/opt/make")

from mini_swe_agent import TOOLS, V2_OUTPUT
from scripted_model import MODEL

model: dict[str, Any] = {
    "model_name": f"openai/{MODEL}",
    "cost_tracking": "ignore_errors",
    "observation_template": V2_OUTPUT,
}
agent: Any = DefaultAgent(
    get_model(config=model),
    # The system's own folders only: not the Python that the agent itself runs on.
    LocalEnvironment(cwd="/app", timeout=30, env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}),
    **TOOLS,
    step_limit=int(sys.argv[1]),
    output_path=Path(os.environ["HOME"]) / "recovery.traj.json",
)
agent.run(Path("/opt/task.md").read_text())
