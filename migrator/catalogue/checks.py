"""What makes an entry of the catalogue sound: every parameter has a fate, every automatic rule an example."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from migrator.catalogue.conditions import known, settles
from migrator.catalogue.signature import placeholders
from migrator.errors import MigrateError
from migrator.facts import GRADES, Rule

PROOFS = ("numeric", "distribution", "effect", "fixture")
LAYER_INPUT = "x"  # a layer's template may name the tensor that the layer is applied to
_REWRITE = Path(__file__).resolve().parent.parent / "rewrite"


def check(rule: Rule, graded: bool) -> None:
    """Raises MigrateError, without file and entry, for the first fault found."""
    _check_kind(rule)
    _check_words(rule, graded)
    _check_names(rule)
    if rule.torch is not None:
        for template, when, fill in templates(rule):
            _check_template(rule, template, when, fill)
        _check_example(rule)


Template = tuple[str, Mapping[str, str], Mapping[str, str]]


def templates(rule: Rule) -> list[Template]:
    """Every template of the rule with its conditions and fills, in the order in which they are tried."""
    found: list[Template] = [(variant.torch, variant.when, {**rule.fill, **variant.fill}) for variant in rule.variants]
    if rule.torch is not None:
        found.append((rule.torch, rule.when, rule.fill))
    return found


def _check_kind(rule: Rule) -> None:
    kinds = [key for key in ("torch", "build", "structure", "guide") if getattr(rule, key) is not None]
    if len(kinds) != 1:
        told = " and ".join(f"`{kind}`" for kind in kinds) or "none of them"
        raise MigrateError(f"exactly one of `torch`, `build`, `structure` and `guide` is needed, found {told}.")
    if rule.build is not None and not (_REWRITE / "builders" / f"{rule.build}.py").is_file():
        raise MigrateError(f"there is no builder `{rule.build}` (migrator/rewrite/builders/{rule.build}.py).")
    if (rule.variants or rule.when) and rule.torch is None:
        raise MigrateError("`variant` and `when` go with `torch` only.")


def _check_words(rule: Rule, graded: bool) -> None:
    if rule.grade not in GRADES:
        raise MigrateError(f"the grade {rule.grade!r} is unknown. Use one of {', '.join(GRADES)}.")
    if rule.guide is not None and rule.grade not in ("manual", "blocked"):
        raise MigrateError("a guide is `manual` or `blocked`: nothing is rewritten.")
    if rule.guide is None and (not graded or rule.grade not in ("exact", "review")):
        raise MigrateError("an automatic rule states `grade`: `exact` or `review`.")
    if rule.proof not in PROOFS:
        raise MigrateError(f"the proof {rule.proof!r} is unknown. Use one of {', '.join(PROOFS)}.")
    if not rule.keras or any(generation not in (2, 3) for generation in rule.keras):
        raise MigrateError("`keras` lists the generations 2 and 3, or one of them.")
    if not rule.doc and rule.guide is None:
        raise MigrateError("`doc` is missing: one sentence for a person.")


def _check_names(rule: Rule) -> None:
    names = {parameter.name for parameter in rule.parameters}
    listed: dict[str, tuple[str, ...]] = {
        "ignore": rule.ignore, "refuse": rule.refuse, "fill": tuple(rule.fill), "tensors": rule.tensors,
    }  # fmt: skip
    for key, values in listed.items():
        for name in values:
            if name not in names:
                raise MigrateError(f"`{key}` names `{name}`, which the signature of {rule.tf} does not have.")
    for name in set(rule.ignore) & set(rule.refuse):
        raise MigrateError(f"`{name}` cannot be both ignored and refused.")
    for _, when, _ in templates(rule):
        for name, condition in when.items():
            if name != "@" and name not in names:
                raise MigrateError(f"`when` names `{name}`, which the signature of {rule.tf} does not have.")
            if not known(name, condition):
                raise MigrateError(f"the condition {condition!r} for `{name}` is unknown.")


def _check_template(rule: Rule, template: str, when: Mapping[str, str], fill: Mapping[str, str]) -> None:
    used = set(placeholders(template))
    names = {parameter.name for parameter in rule.parameters}
    allowed = names | ({LAYER_INPUT} if rule.family == "layer" else set())
    for name in sorted(used - allowed):
        raise MigrateError(f"the template uses {{{name}}}, which the signature of {rule.tf} does not have.")
    for name in sorted(used & set(rule.ignore)) + sorted(used & set(rule.refuse)):
        raise MigrateError(f"`{name}` is used in the template and also ignored or refused.")
    settled = {name for name, condition in when.items() if settles(condition)}
    for parameter in rule.parameters:
        if parameter.name not in used | settled | set(rule.ignore) | set(rule.refuse):
            raise MigrateError(
                f"the parameter `{parameter.name}` has no fate in {template!r}: "
                "use it, or list it under `ignore` or `refuse`."
            )
        default = fill.get(parameter.name, parameter.default) or ""
        if parameter.name in used and default.split(".")[0] in ("tf", "keras"):
            goes_with_its_keyword = re.search(rf"\w=\{{{parameter.name}\}}", template)
            if not goes_with_its_keyword and when.get(parameter.name) != "given":
                raise MigrateError(f"the default of `{parameter.name}` is TensorFlow code: state it under `fill`.")


def _check_example(rule: Rule) -> None:
    needs = rule.proof != "fixture" and not rule.constant
    if needs and rule.example is None:
        raise MigrateError("the example is missing: an automatic rule carries its own proof.")
    if rule.example is not None and rule.example.atol > 0 and not rule.example.reason:
        raise MigrateError("a tolerance of its own (`atol`) needs a `reason`.")
