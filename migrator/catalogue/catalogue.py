"""All rules, found by canonical name and Keras generation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from migrator.errors import MigrateError
from migrator.facts import Rule


@dataclass(frozen=True)
class Catalogue:
    """The loaded rules in the order of their files. Made by `catalogue_of`, which rejects names claimed twice."""

    rules: tuple[Rule, ...]
    index: Mapping[tuple[str, int], Rule]

    def find(self, api: str, keras: int = 3) -> Rule | None:
        """The rule whose `tf` or `also` is this canonical name, for this generation of Keras."""
        return self.index.get((api, keras))

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)


def catalogue_of(rules: tuple[Rule, ...]) -> Catalogue:
    """The catalogue of these rules. Raises MigrateError when an id, or a name for one Keras, occurs twice."""
    index: dict[tuple[str, int], Rule] = {}
    ids: dict[str, Rule] = {}
    for rule in rules:
        other = ids.setdefault(rule.id, rule)
        if other is not rule:
            raise MigrateError(f"{rule.file}: the id `{rule.id}` is already taken in {other.file}. Choose another one.")
        for name in (rule.tf, *rule.also):
            for keras in rule.keras:
                claimed = index.setdefault((name, keras), rule)
                if claimed is not rule:
                    raise MigrateError(
                        f"{rule.file}, entry `{rule.id}`: {name} already belongs to entry `{claimed.id}` "
                        f"in {claimed.file} for Keras {keras}. Remove one, or give each its own `keras`."
                    )
    return Catalogue(rules, index)
