"""`rules/*.toml` into a Catalogue. Each fault is reported with its file and entry; nothing is guessed or skipped."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrator.catalogue.catalogue import Catalogue, catalogue_of
from migrator.catalogue.checks import check
from migrator.catalogue.signature import parse_signature
from migrator.errors import MigrateError
from migrator.facts import Example, Rule, Variant

NOT_RULES = frozenset({"effort.toml", "differences.toml"})  # other data that lives in the same folder

_TYPES: dict[str, type | tuple[type, ...]] = {
    "id": str, "tf": str, "also": list, "torch": str, "build": str, "structure": str, "guide": str, "fill": dict,
    "ignore": list, "refuse": list, "grade": str, "keras": list, "hazards": list, "differences": list, "weights": dict,
    "example": dict, "proof": str, "doc": str, "family": str, "reference": str, "when": dict, "variant": list,
    "tensors": list, "skip": str,
}  # fmt: skip
_EXAMPLE: dict[str, type | tuple[type, ...]] = {
    "before": str, "after": str, "given": dict, "atol": (int, float), "reason": str, "more": list,
}  # fmt: skip
_VARIANT: dict[str, type | tuple[type, ...]] = {"when": dict, "torch": str, "fill": dict}


def load_rules(folders: Sequence[Path]) -> Catalogue:
    """The rules of all TOML files directly in these folders, in alphabetical order of files.

    Raises MigrateError for a missing folder, a file that is no TOML, and every fault of an entry.
    """
    rules: list[Rule] = []
    for folder in folders:
        if not folder.is_dir():
            raise MigrateError(f"There is no rules folder {folder}. Correct `rules` in the configuration.")
        for path in sorted(folder.glob("*.toml")):
            if path.name not in NOT_RULES:
                rules.extend(_rules_of(path))
    return catalogue_of(tuple(rules))


def _rules_of(path: Path) -> list[Rule]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MigrateError(f"{path} is no valid TOML: {error}.") from None
    family = content.pop("family", path.stem)
    entries = content.pop("rule", None)
    if content or not isinstance(family, str):
        raise MigrateError(f"{path}: unknown key `{next(iter(content), 'family')}` outside of [[rule]].")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries) or not entries:
        raise MigrateError(f"{path} holds no [[rule]] entry. Move it out of the rules folder, or add one.")
    return [
        rule_of(entry, f"{path.parent.name}/{path.name}", family, number) for number, entry in enumerate(entries, 1)
    ]


def rule_of(entry: Mapping[str, Any], file: str, family: str, number: int = 1) -> Rule:
    """One checked rule. Raises MigrateError naming file and entry (by id, else by its number in the file)."""
    where = f"{file}, entry `{entry['id']}`" if isinstance(entry.get("id"), str) else f"{file}, entry {number}"
    _check_keys(entry, _TYPES, where)
    for key in ("id", "tf"):
        if key not in entry:
            raise MigrateError(f"{where} lacks `{key}`.")
    try:
        rule = _rule(entry, file, family)
        check(rule, "grade" in entry)
    except MigrateError as error:
        raise MigrateError(f"{where}: {error.message}") from None
    return rule


def _rule(entry: Mapping[str, Any], file: str, family: str) -> Rule:
    fields = {key: value for key, value in entry.items() if key not in {"tf", "example", "variant"}}
    for key in ("also", "ignore", "refuse", "keras", "hazards", "differences", "tensors"):
        if key in fields:
            fields[key] = tuple(fields[key])
    name, parameters = parse_signature(entry["tf"])
    fields.setdefault("family", family)
    fields.setdefault("grade", "manual" if "guide" in entry else "exact")
    unlike_numbers = "torch" not in entry or fields["family"] == "layer"
    fields.setdefault("proof", "fixture" if unlike_numbers else "numeric")
    if parameters is None and "torch" in entry:
        fields.setdefault("reference", entry["torch"])
    text = json.dumps([entry, fields["family"]], sort_keys=True)
    return Rule(
        tf=name,
        parameters=parameters or (),
        constant=parameters is None,
        example=_example(entry["example"]) if "example" in entry else None,
        variants=tuple(_variant(item) for item in entry.get("variant", ())),
        file=file,
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
        **{"also": (), **fields},
    )


def _example(table: Mapping[str, Any]) -> Example:
    _check_keys(table, _EXAMPLE, "the example")
    for key in ("before", "after"):
        if key not in table:
            raise MigrateError(f"the example lacks `{key}`.")
    fields = {"given": {}, "atol": 0.0, **table}
    fields["more"] = tuple(table.get("more", ()))
    return Example(**fields)


def _variant(table: Mapping[str, Any]) -> Variant:
    _check_keys(table, _VARIANT, "a variant")
    if "when" not in table or "torch" not in table:
        raise MigrateError("a variant needs both `when` and `torch`.")
    return Variant(**table)


def _check_keys(table: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]], where: str) -> None:
    for key, value in table.items():
        if key not in types:
            raise MigrateError(f"{where} has the unknown key `{key}`. Known are: {', '.join(types)}.")
        if not isinstance(value, types[key]):
            raise MigrateError(f"{where}: `{key}` has the wrong type {type(value).__name__}.")
        if isinstance(value, dict) and key in {"fill", "weights", "given", "when"}:
            _check_texts(value.values(), key, where)
        if isinstance(value, list) and key not in {"variant", "keras"}:
            _check_texts(value, key, where)


def _check_texts(values: Any, key: str, where: str) -> None:
    if not all(isinstance(value, str) for value in values):
        raise MigrateError(f"{where}: every value in `{key}` must be a text in quotes.")
