"""SPEC: how an input array is described in one line.

`dtype[dims]`, with `name=` in front where inputs are named and a distribution behind where the usual one does not fit:
`float32[8,28,28,1]` (standard normal), `float32[8,3]:uniform(0,1)`, `int32[8,64]:int(0,1000)`,
`mask=bool[8,64]:bernoulli(0.8)`. A dimension may be a name, such as `batch`, that is given its size later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from migrator.errors import MigrateError

Distribution = Literal["normal", "uniform", "int", "bernoulli"]

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *INTEGERS, "bool")

_SPEC = re.compile(
    r"\s*(?:(?P<name>\w+)\s*=\s*)?(?P<dtype>\w+)\s*\[(?P<dims>[^\[\]]*)\]"
    r"\s*(?::\s*(?P<distribution>\w+)\s*\((?P<arguments>[^()]*)\)\s*)?"
)


@dataclass(frozen=True)
class Spec:
    """One input array. `low` and `high` bound `uniform` and `int` (`high` excluded), `p` is the share of True."""

    name: str | None
    dtype: str
    dims: tuple[int | str, ...]
    distribution: Distribution
    low: float | None = None
    high: float | None = None
    p: float | None = None


def parse_spec(text: str) -> Spec:
    """Reads a SPEC.

    Raises:
        MigrateError: `text` is not one; says what is wrong with it and how it is written.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise MigrateError(f"'{text}' describes no input. Write it like float32[8,28,28,1] or int32[8,64]:int(0,1000).")
    dtype = match["dtype"]
    if dtype not in DTYPES:
        raise MigrateError(f"'{dtype}' in '{text}' is no array type. Known are {', '.join(DTYPES)}.")
    dims = tuple(_dimension(part, text) for part in match["dims"].split(",")) if match["dims"].strip() else ()
    if match["distribution"] is None:
        return _usual(text, match["name"], dtype, dims)
    numbers = _numbers(match["arguments"], text)
    return _distributed(text, match["name"], dtype, dims, match["distribution"], numbers)


def _dimension(part: str, text: str) -> int | str:
    part = part.strip()
    if part.isdecimal() and int(part) > 0:
        return int(part)
    if part.isidentifier():
        return part
    raise MigrateError(f"'{part}' in '{text}' is no size. A size is a whole number above 0 or a name such as batch.")


def _numbers(arguments: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in arguments.split(","))
    except ValueError:
        raise MigrateError(f"'({arguments})' in '{text}' should hold numbers, as in uniform(0,1).") from None


def _usual(text: str, name: str | None, dtype: str, dims: tuple[int | str, ...]) -> Spec:
    if dtype in FLOATS:
        return Spec(name, dtype, dims, "normal")
    if dtype == "bool":
        return Spec(name, dtype, dims, "bernoulli", p=0.5)
    raise MigrateError(f"'{text}' does not say which numbers to draw. Add a range, as in {text.strip()}:int(0,1000).")


def _distributed(
    text: str, name: str | None, dtype: str, dims: tuple[int | str, ...], distribution: str, numbers: tuple[float, ...]
) -> Spec:
    if distribution == "bernoulli" and dtype == "bool":
        if len(numbers) != 1 or not 0 <= numbers[0] <= 1:
            raise MigrateError(f"bernoulli in '{text}' takes one number from 0 to 1, the share of True.")
        return Spec(name, dtype, dims, "bernoulli", p=numbers[0])
    fits = {"uniform": FLOATS, "int": INTEGERS}.get(distribution, ())
    if dtype not in fits:
        raise MigrateError(
            f"'{distribution}' in '{text}' does not go with {dtype}. "
            "Use uniform(low,high) for floats, int(low,high) for whole numbers, bernoulli(p) for bool."
        )
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise MigrateError(f"{distribution} in '{text}' takes two numbers, the lower one first.")
    if distribution == "int":
        if any(number != int(number) for number in numbers):
            raise MigrateError(f"int in '{text}' takes whole numbers.")
        return Spec(name, dtype, dims, "int", low=int(numbers[0]), high=int(numbers[1]))
    return Spec(name, dtype, dims, "uniform", low=numbers[0], high=numbers[1])
