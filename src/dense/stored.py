"""What this program stored as JSON, read back: a file of another version is refused with one sentence."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from dense.errors import DenseError


class _Stored(Struct):
    schema: str = ""


def decode_stored[T: Struct](content: bytes, kind: type[T], where: object, advice: str) -> T:
    """The value in a JSON text, of a kind that is tagged with its schema.

    Raises `DenseError`, which ends with the advice, if the schema is another one, and msgspec's error for the rest.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError:
        written, expected = msgspec.json.decode(content, type=_Stored).schema, kind.__struct_config__.tag
        if written == expected:
            raise
        raise DenseError(
            f"{where}: has the schema {written or 'of nothing'}, this version reads {expected}: {advice}"
        ) from None
