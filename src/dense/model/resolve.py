"""From the name of a model to what is asked: a provider's model, or a program on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from urllib.parse import urlsplit

from dense.errors import UnknownModel
from dense.model.programs import COMMAND, PROGRAMS
from dense.model.programs.command import words_of
from dense.model.providers import ALIASES, PROVIDERS, ModelSpec, host_of

PROGRAM_NAMES = ", ".join(name for name in PROGRAMS if name != COMMAND)


def resolve(name: str, *, base_url: str | None = None, environment: Mapping[str, str]) -> ModelSpec:
    """The model of a name: `PROVIDER/NAME`, `http://host:port/v1#NAME` for any OpenAI-compatible server,
    `exec:COMMAND`, or `claude-code` or another program, with or without `/MODEL`."""
    if (program := _program(name, base_url)) is not None:
        return program
    if name.startswith(("http://", "https://")):
        url, _, model = name.partition("#")
        return ModelSpec(PROVIDERS["openai-compatible"], _named(model, name), _checked(base_url or url))
    short, _, model = name.partition("/")
    provider = PROVIDERS.get(ALIASES.get(short.lower(), short.lower()))
    if provider is None:
        raise UnknownModel(
            f"--model {name}: no provider {short!r}; write PROVIDER/NAME with one of {', '.join(PROVIDERS)}, "
            f"http://host:port/v1#NAME, {PROGRAM_NAMES} with or without /MODEL, or exec:COMMAND"
        )
    variable = f"{provider.name.upper().replace('-', '_')}_BASE_URL"
    url = base_url or environment.get(variable) or provider.base_url
    if not url:
        raise UnknownModel(f"--model {name}: where is it? Give --base-url, or set {variable}")
    return ModelSpec(provider, _named(model, name), _checked(url))


def find_program(spec: ModelSpec, environment: Mapping[str, str]) -> None:
    """Raise `UnknownModel` if the program that is asked is not installed."""
    program = words_of(spec.name)[0] if spec.provider.name == COMMAND else PROGRAMS[spec.provider.name].executable
    if shutil.which(program, path=environment.get("PATH")) is None:
        raise UnknownModel(f"{spec}: {program} is not on the PATH: install it, or name another model")


def _program(name: str, base_url: str | None) -> ModelSpec | None:
    """The program of a name; None if it names none."""
    kind, sign, model = name.partition(":")
    if kind != COMMAND or not sign:
        kind, sign, model = name.partition("/")
        if kind not in PROGRAMS or kind == COMMAND:
            return None
        model = _named(model, name) if sign else ""
        if model.startswith("-"):
            raise UnknownModel(f"--model {name}: no model has such a name")
    else:
        words_of(model)
    if base_url is not None:
        raise UnknownModel(f"--model {name}: a program has no address; leave out --base-url")
    return ModelSpec(PROGRAMS[kind].provider, model, "")


def _named(model: str, whole: str) -> str:
    if not model.strip():
        raise UnknownModel(f"--model {whole}: which model? Write PROVIDER/NAME, or http://host:port/v1#NAME")
    return model.strip()


def _checked(url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnknownModel(f"the base URL {parts.scheme}://{host_of(parts)} is no http:// or https:// address")
    return url.strip().rstrip("/")
