"""How figures and facts read on the page. Pure functions from JSON values to text."""

from __future__ import annotations

from typing import Any

NONE = "–"

ASKS = {
    "build": "Do both construct, with the same trainable parameters, dropout rates, frozen parts and regularisers?",
    "weights": "Does every variable map to exactly one parameter, under a known layout?",
    "init": "Freshly built, do both start from the same distributions?",
    "forward": "From the same weights, do both give the same outputs in double precision?",
    "onnx": "Do both ONNX exports agree with their own framework and with each other?",
    "gradient": "Same loss, and the same gradient of every parameter and input?",
    "train": "Do both follow the same trajectory when trained on the same batches?",
    "state": "Same moving statistics and other non-trainable state afterwards?",
    "compile": "Does compiling keep outputs and gradients, and where does the graph break?",
}
GRADES = {
    "exact": "rewritten without a second look",
    "review": "rewritten, worth a look",
    "manual": "needs a person",
    "blocked": "has no counterpart",
    "no_rule": "not in the catalogue yet",
}
SIGNS = {"pass": "✓", "fail": "✗", "error": "✗", "unsupported": "○", "skipped": "○"}


def number(value: Any) -> str:
    """Three significant digits; powers of ten with a real minus where the value is very large or small."""
    if value is None:
        return NONE
    text = f"{value:.3g}"
    mantissa, _, power = text.partition("e")
    return f"{mantissa} × 10{_superscript(int(power))}" if power else text.replace("-", "−")


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def fixed(value: Any, digits: int = 1) -> str:
    """`12.3`; thousands are grouped."""
    return NONE if value is None else f"{value:,.{digits}f}".replace("-", "−")


def percent(value: Any, digits: int = 1) -> str:
    """A fraction as a percentage."""
    return NONE if value is None else f"{100 * value:.{digits}f}%"


def size(value: Any) -> str:
    """Bytes in MiB, or GiB from one on."""
    if value is None:
        return NONE
    return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"


def times(value: Any) -> str:
    """A ratio: `1.84×`."""
    return NONE if value is None else f"{value:.2f}×"


def seconds(value: Any) -> str:
    """`0.4 s`, `73 s`."""
    if value is None:
        return NONE
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 file`, `3 files`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def sign(verdict: str) -> str:
    """A mark that stands before the verdict's word, never instead of it."""
    return SIGNS.get(verdict, "○")


def asks(check: str) -> str:
    """The question a check asks."""
    return ASKS.get(check, "")


def grade_means(grade: str) -> str:
    """What a grade means, in a few words."""
    return GRADES.get(grade, "")


FILTERS = {
    "number": number,
    "fixed": fixed,
    "percent": percent,
    "size": size,
    "times": times,
    "seconds": seconds,
    "counted": counted,
    "sign": sign,
    "asks": asks,
    "grade_means": grade_means,
}
