"""Parity results as lines of text: a table of checks for each pair, the place of a fault, what was accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from migrator.facts import Check, PairResult


def to_text(results: Iterable[PairResult]) -> str:
    """All pairs, one below the other."""
    return "\n".join(line for result in results for line in lines(result))


def lines(result: PairResult) -> Iterator[str]:
    """One pair: its verdict, then a line for each check; figures are relative."""
    yield f"{result.name}: {result.verdict}"
    if not result.checks and result.reason:
        yield from (f"  {line}" for line in result.reason.splitlines())
    if result.checks:
        yield f"  {'check':<9} {'verdict':<12} {'error':>8} {'floor':>8} {'needed':>8}"
    for check in result.checks:
        yield _line(check)
    if result.first_divergence:
        yield "  first divergence"
        yield from (f"    {name.replace('_', ' ')}: {value}" for name, value in result.first_divergence.items())
    for difference in result.differences:
        effect = difference.get("effect")
        told = f" (it changes trained state by {effect:.2g})" if effect is not None else ""
        yield f"  accepted: {difference['id']}, {difference['because']}{told}"


def _line(check: Check) -> str:
    figures = " ".join(_figure(value) for value in (check.error, check.floor, check.needed))
    return f"  {check.id:<9} {check.verdict:<12} {figures}  {check.reason}".rstrip()


def _figure(value: float | None) -> str:
    return f"{'-' if value is None else format(value, '.2g'):>8}"
