"""What all answers have in common, and a parser for what models really write.

The answer of each question is beside the question. Reasons come before verdicts in every answer, so that the verdict
follows from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Self, cast, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct
from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from dense.tree import Label

NONE = "none"
"""What a model is asked to write where it has nothing to say."""


class BadAnswer(ValueError):
    """A reply that cannot be used. The text says why, for the one who is asked again."""


class Answer(Struct, frozen=True, kw_only=True):
    """The base of all answers: unknown fields are ignored, because models like to add some."""

    @classmethod
    def validated(cls, value: Any) -> Self:
        """The answer that a JSON value is; `ValidationError` if it is none."""
        return _adapter(cls).validate_python(value)

    @classmethod
    def salvaged(cls, reply: str) -> Any:
        """What of a reply that is no valid JSON is enough for an answer, as a JSON value; None if nothing is."""
        del reply

    def json(self) -> str:
        """The answer as a model would write it."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic knows what models do to types, and takes a struct for an object of its fields."""
        types, names = get_type_hints(cls, include_extras=True), cls.__struct_fields__
        defaults = (NODEFAULT,) * (len(names) - len(cls.__struct_defaults__)) + cls.__struct_defaults__
        fields = {
            name: core_schema.typed_dict_field(handler.generate_schema(types[name]), required=default is NODEFAULT)
            for name, default in zip(names, defaults, strict=True)
        }
        return core_schema.no_info_after_validator_function(
            lambda value: cls(**value), core_schema.typed_dict_schema(fields)
        )


def listed(numbers: Iterable[int]) -> str:
    """The first of these numbers, and how many more there are."""
    known = list(numbers)
    return ", ".join(map(str, known[:20])) + (f" and {len(known) - 20} more" if len(known) > 20 else "")


@cache
def _adapter[A: Answer](model: type[A]) -> TypeAdapter[A]:
    return TypeAdapter(model)


def _text(value: Any) -> Any:
    """Models put lists and objects where text was asked for."""
    if value is None:
        return NONE
    if isinstance(value, list):
        value = cast("list[Any]", value)
        return (
            "; ".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value) or NONE
        )
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def _free_text(value: Any) -> Any:
    """A field that decides nothing must not cost the answer, whatever a model puts there."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number(value: Any) -> Any:
    """Models write numbers as text, or with a sign or a point that changes nothing."""
    try:
        number = float(value) if isinstance(value, str | float) else value
    except ValueError:
        return value
    return int(number) if isinstance(number, float) and number.is_integer() else number


type FreeText = Annotated[str, BeforeValidator(_free_text)]
type OptionalText = Annotated[str, BeforeValidator(_text)]
type RequiredText = Annotated[str, Field(min_length=1)]
type LabelNumber = Annotated[Label, BeforeValidator(_number)]
type WholeNumber = Annotated[int, BeforeValidator(_number)]


_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


def parse[A: Answer](reply: str, model: type[A]) -> A:
    """The answer in a reply. Fences, thinking and words around the JSON are tolerated; anything else is a
    `BadAnswer`."""
    try:
        return model.validated(_json_in(reply, model))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in error.errors()[:8]]
        raise BadAnswer("; ".join(problems)) from None


def _json_in(reply: str, model: type[Answer]) -> Any:
    text = _THINKING.sub("", reply).strip()
    starts = [start for start in (text.find("{"), text.find("[")) if start >= 0]
    if not starts:
        raise BadAnswer("no JSON in the reply")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[min(starts) :])
    except (ValueError, RecursionError) as error:
        if (value := model.salvaged(text)) is None:
            raise BadAnswer(f"not valid JSON: {error}") from None
    return value
