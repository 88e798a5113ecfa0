"""Makes the options of a command from the fields of structs: a command takes one argument for all options of a kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from dense.errors import WrongUsage
from dense.options import OPTIONS, Entry, FeedbackOptions, describe_default, option_of, options_at, set_options

NO_REDACT = "no_redact"
"""The short form of `--redact false`."""


def with_fields[R](
    entry: Entry = Entry.COMMAND, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give a command an option for each field of its parameters that are structs, and hand it the structs.

    A parameter of type `FeedbackOptions` gets what can be set at `entry`, but those `without`; what the command line
    leaves open comes from the settings files. The fields of any other struct are options of Typer."""
    names = tuple(name for name in options_at(entry) if name not in without)

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        given = inspect.signature(command, eval_str=True).parameters
        shown = {name: list(_parameters(parameter, names)) for name, parameter in given.items()}

        @wraps(command)
        def run(**values: Any) -> R:
            arguments = dict[str, Any]()
            for name, parameter in given.items():
                own = {flag_parameter.name: values[flag_parameter.name] for flag_parameter in shown[name]}
                arguments[name] = _argument(parameter.annotation, own, entry) if _is_struct(parameter) else own[name]
            return command(**arguments)

        parameters = [parameter for expanded in shown.values() for parameter in expanded]
        run.__signature__ = Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _is_struct(parameter: Parameter) -> bool:
    return isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Struct)


def _parameters(parameter: Parameter, names: tuple[str, ...]) -> Iterator[Parameter]:
    """What stands for a parameter on the command line."""
    if not _is_struct(parameter):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
    elif parameter.annotation is not FeedbackOptions:
        for field in fields(parameter.annotation):
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=field.type, default=field.default)
    else:
        for name in names:
            if name == "redact":
                text = typer.Option(flag(NO_REDACT), help="Leave credentials in.")
                yield Parameter(NO_REDACT, Parameter.KEYWORD_ONLY, annotation=Annotated[bool, text], default=False)
            yield Parameter(name, Parameter.KEYWORD_ONLY, annotation=_typer_option(OPTIONS[name]), default=None)


def _typer_option(field: FieldInfo) -> Any:
    """The option of a field. Its value is a text, which the field itself reads: all entries have the same errors."""
    option = option_of(field)
    if not option.kind.metavar:
        return Annotated[bool | None, typer.Option(flag(field.name), help=option.help, show_default=False)]
    default = describe_default(field.name)
    return Annotated[
        str | None,
        typer.Option(
            flag(field.name),
            metavar=option.kind.metavar,
            help=option.help if default == "none" else f"{option.help} [default: {default}]",
            show_default=False,
            autocompletion=lambda: list(option.kind.words),
        ),
    ]


def _argument(kind: type[Struct], values: Mapping[str, Any], entry: Entry) -> Struct:
    if kind is not FeedbackOptions:
        return kind(**values)
    given = {name: value for name, value in values.items() if value is not None}
    if given.pop(NO_REDACT, False):
        if "redact" in given:
            raise WrongUsage("--no-redact and --redact exclude each other: choose one")
        given["redact"] = False
    return set_options(given, entry, _settings(entry), label=flag)


def _settings(entry: Entry) -> FeedbackOptions:
    """What the settings files say. A batch reads none: a table must not depend on whose machine made it."""
    if entry is not Entry.COMMAND:
        return FeedbackOptions()
    from dense.integrations.settings import load_settings

    return load_settings().options


def flag(name: str) -> str:
    """How an option is written on the command line."""
    return f"--{name.replace('_', '-')}"
