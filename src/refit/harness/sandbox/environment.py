# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""What Harbor sees of the sandbox. Imported by Harbor, by its import path; the only module here that imports Harbor."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, override

import msgspec

from dense.errors import DenseError, install_hint
from refit.harness.sandbox import LABEL
from refit.harness.sandbox.build import BuiltImage, build
from refit.harness.sandbox.dockerfile import Dockerfile, definition
from refit.harness.sandbox.namespaces import Sandbox, SandboxSettings
from refit.harness.sandbox.preflight import preflight_now
from refit.harness.sandbox.transfer import Member, members_of

try:
    from harbor.environments.base import BaseEnvironment, ExecResult
    from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
    from harbor.models.task.config import NetworkMode
except ImportError as error:
    raise DenseError(f"Harbor is not installed ({error}): {install_hint('harbor')}") from None

_LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


class SandboxEnvironment(BaseEnvironment):
    """A task's environment in namespaces of this machine. Options: `network` (`own`: a loopback of its own and nothing
    else, whatever the task allows; `host`: this machine's, ports included, for tasks that may use one), `rootless`,
    `show` and `hide` (folders), `state` (where it keeps what is written). `cpus`, `memory_mb` and `storage_mb` of a
    task are accepted and not enforced."""

    def __init__(
        self,
        *args: Any,
        network: Literal["own", "host"] = "own",
        rootless: bool | None = None,
        show: Sequence[str] = (),
        hide: Sequence[str] = (),
        state: str | None = None,
        **kwargs: Any,
    ) -> None:
        if network not in ("own", "host"):
            raise DenseError(f"sandbox: option network: {network!r} is neither `own` nor `host`")
        self._shares_network = network == "host"
        self._rootless = rootless
        self._show = tuple(map(Path, show))
        self._hide = tuple(map(Path, hide))
        self._parent = None if state is None else Path(state)
        self._dockerfile: Dockerfile | None = None
        self._sandbox: Sandbox | None = None
        self._image = BuiltImage()
        super().__init__(*args, **kwargs)

    @staticmethod
    @override
    def type() -> str:
        return "sandbox"

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    @override
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        # Harbor 0.25 asks whether parts of a core are possible: what is not enforced may be any number.
        return EnvironmentResourceCapabilities.model_validate({"fractional_cpus": True})

    @classmethod
    @override
    def preflight(cls) -> None:
        try:
            preflight_now()
        except DenseError as error:
            raise SystemExit(str(error)) from None

    @override
    def _validate_definition(self) -> None:
        self._dockerfile = definition(self.environment_dir, self.task_env_config.docker_image)

    @override
    async def start(self, force_build: bool) -> None:
        self._log_what_it_is()
        settings = SandboxSettings(
            is_rootless=self._rootless,
            has_network=self._shares_network and self._may_use_network,
            hidden=(*self._hide, self.environment_dir.parent, self.trial_paths.trial_dir),
            shown=self._show,
            parent=self._parent,
        )
        self._sandbox = sandbox = await Sandbox.start(settings)
        try:
            await self._prepare(sandbox)
        except BaseException:
            await self.stop(delete=True)
            raise

    async def _prepare(self, sandbox: Sandbox) -> None:
        if sandbox.store == "memory":
            self.logger.warning("sandbox: what is written is kept in memory; set TMPDIR to a folder on a local disk")
        self._image = BuiltImage()
        if self._dockerfile is not None:
            with tempfile.TemporaryDirectory(prefix="dense-build-") as scratch:
                self._image = await build(self._dockerfile, sandbox, Path(scratch))
        if self.task_env_config.workdir:
            self._image = msgspec.structs.replace(self._image, workdir=self.task_env_config.workdir)
        await self.ensure_dirs(_LOGS)
        await sandbox.run(["mkdir", "-p", "--", self._image.workdir])
        if self._dockerfile is None and self.environment_dir.is_dir():
            await self.upload_dir(self.environment_dir, self._image.workdir)

    def _log_what_it_is(self) -> None:
        self.logger.warning(LABEL)
        if self._dockerfile is not None:
            self.logger.info(f"sandbox: written for {self._dockerfile.base}; runs on this machine's own system")
        wanted = {name: getattr(self.task_env_config, name, None) for name in ("cpus", "memory_mb", "storage_mb")}
        limits = ", ".join(f"{name} {value}" for name, value in wanted.items() if value is not None)
        if limits:
            self.logger.info(f"sandbox: not enforced: {limits}")
        if self._may_use_network and not self._shares_network:
            self.logger.info("sandbox: no network, though the task may use one; give it one with `network: host`")

    @property
    def _may_use_network(self) -> bool:
        return self.network_policy.network_mode != NetworkMode.NO_NETWORK

    @override
    async def stop(self, delete: bool) -> None:
        """Ends it. What it kept is always removed: nothing could enter it again."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await asyncio.shield(sandbox.stop())

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        who = self._resolve_user(user)
        try:
            done = await self._running.run(
                ["bash", "-c", command],
                env={**self._image.env, **(self._merge_env(env) or {})},
                cwd=cwd or self._image.workdir,
                # A working folder that the agent has removed does not keep the verifier from its verdict.
                otherwise=None if cwd else "/",
                user=self._image.user if who is None else str(who),
                timeout=timeout_sec or None,
            )
        except TimeoutError:
            # As Harbor's own environments put it.
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds") from None
        callback = self._output_callback()
        if callback is not None:
            if done.out:
                await callback(done.out, "stdout")
            if done.err:
                await callback(done.err, "stderr")
        return ExecResult(stdout=done.out, stderr=done.err, return_code=done.code)

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        source = Path(source_path)
        await self._running.put_file(Member(source.resolve(), source.name), target_path)

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self._running.put(members_of(Path(source_dir)), target_dir)

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._running.get_file(source_path, Path(target_path))

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        left_out = await self._running.get(source_dir, Path(target_dir))
        if left_out:
            self.logger.warning(f"sandbox: {source_dir}: left out {len(left_out)} entries, such as {left_out[0]}")

    @property
    def _running(self) -> Sandbox:
        if self._sandbox is None:
            raise DenseError("the sandbox is not running")
        return self._sandbox
