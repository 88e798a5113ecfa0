"""Harbor imported without its noise: no telemetry, no prices fetched, no warnings, nothing on the console."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from importlib import import_module
from typing import Any

from dense.errors import DenseError, install_hint

SETTINGS = {"HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "CRITICAL"}
"""Read when Harbor and litellm are imported. Whoever sets them otherwise has their will."""
QUIETED_LOGGERS = ("harbor", "LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers that would write to the console. Each trial has a log file of its own, which stays."""

WARNING_MODULES = r"(?:harbor|litellm|openai|pydantic)\."
"""Modules that warn of Harbor's own code: itself, and those in whose name Python warns of it."""


def import_harbor() -> None:
    """Imports Harbor. Must come before anything of it is used; costs nothing the second time."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module("harbor.trial.trial")
    except ImportError as error:
        missing = f"attempts are made with Harbor, which is missing here ({error})"
        raise DenseError(f"{missing}: {install_hint('harbor')}") from None
    for name in QUIETED_LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [logging.NullHandler()]
    # Their warnings about their own code are nothing that our users can fix.
    warnings.filterwarnings("ignore", module=WARNING_MODULES)


async def close_connections() -> None:
    """Closes the connections that litellm keeps open to models, where an agent used it; they belong to this loop."""
    if "litellm" not in sys.modules:
        return
    litellm: Any = sys.modules["litellm"]
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()  # what is closed must not be taken for the next call
