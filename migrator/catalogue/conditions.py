"""The vocabulary of `when`: what a template may ask about an argument before it is used.

A condition is a word from `WORDS`, a word with `not ` in front, or `=<literal>` for one exact value; several may be
joined by `|`, and one of them must hold. The key is a parameter's name, or `@` for the place the call stands in. What
the words mean for code is decided in the rewriter.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "given": "passed, and not with its default value",
    "absent": "left out, or passed with its default value",
    "number": "a literal number",
    "integer": "a literal whole number",
    "whole": "literal whole numbers, alone or in lists",
    "numbers": "literal numbers, alone or in lists, at least one of them not whole",
    "sequence": "a literal list or tuple",
    "nested": "a literal list or tuple of lists or tuples",
    "string": "a literal string",
    "boolean": "True or False, written out",
    "size": "a length or a literal number: an element of a shape, `len(...)`",
    "scalar": "a whole number by its form: a literal, an element of a shape, `len(...)`, arithmetic of these",
    "name": "a plain name, attribute or literal, which may be evaluated twice",
    "float": "a floating dtype",
    "int": "an integer dtype",
    "bool": "the boolean dtype",
}
PLACES: dict[str, str] = {
    "indexed": "the call is followed by one index, as in `tf.shape(x)[0]`",
    "shape": "the call is the shape that another operation is given, as in `tf.reshape(y, tf.shape(x))`",
}
# parameters that hold a shape, in every signature
SHAPES = frozenset({"shape", "dims", "size"})

# parameters that hold a dtype, in every signature
DTYPES = frozenset({"dtype", "out_type", "output_type"})


def alternatives(condition: str) -> list[str]:
    """The conditions joined by `|`."""
    return [part.strip() for part in condition.split("|")]


def known(key: str, condition: str) -> bool:
    """Whether the condition is part of the vocabulary for this key."""
    vocabulary = PLACES if key == "@" else WORDS
    return all(
        part.removeprefix("not ") in vocabulary or (key != "@" and part.removeprefix("not ").startswith("="))
        for part in alternatives(condition)
    )


def settles(condition: str) -> bool:
    """Whether a condition pins an argument down, so that the template need not mention it."""
    return all(part == "absent" or part.startswith("=") for part in alternatives(condition))
