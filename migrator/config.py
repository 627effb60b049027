"""migrate.toml, or `[tool.migrate]` of a pyproject.toml, read into a `Config`; and written for new pairs.

Every key is known or an error that names it and the file: a misspelt `acept` must not switch a difference on or off
silently. Paths and REFs stay as written, relative to the folder of the file; interpreters are made usable as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrator.errors import MigrateError
from migrator.facts import Accept, Named, Pair, Training
from migrator.spec import Spec, parse_spec
from migrator.tables import Table

__all__ = ["CALLS", "FILE", "Config", "Spec", "check_ref", "dump", "find", "load", "parse_spec"]

FILE = "migrate.toml"
CALLS = ("single", "list", "tuple", "dict", "args")
_WRITES = "`migrate rewrite PATH --out DIR` writes one for the models it finds"


@dataclass(frozen=True)
class Config:
    """What a team states about its pairs. `path` is the file read; its folder is what REFs are relative to."""

    path: Path
    pairs: tuple[Pair, ...] = ()
    interpreters: Mapping[str, str] = field(default_factory=dict)  # side -> file, or a name to look up on PATH
    rules: tuple[str, ...] = ()  # folders of the team's own rules, relative to the configuration's folder

    @property
    def folder(self) -> Path:
        """What relative paths and REFs start from."""
        return self.path.parent

    def chosen(self, names: Sequence[str]) -> tuple[Pair, ...]:
        """The pairs called `names` in the file's order, all of them for no names.

        Raises MigrateError where there is no pair of such a name, or none at all.
        """
        known = {pair.name for pair in self.pairs}
        if not known:
            raise MigrateError(f"{self.path} holds no [[pair]]. {_WRITES}.")
        for name in names:
            if name not in known:
                raise MigrateError(f"There is no pair '{name}' in {self.path}; it holds {', '.join(sorted(known))}.")
        return tuple(pair for pair in self.pairs if not names or pair.name in names)


def find(folder: Path) -> Path | None:
    """The configuration file in `folder`: its migrate.toml, else a pyproject.toml with `[tool.migrate]`, else None."""
    if (folder / FILE).is_file():
        return folder / FILE
    pyproject = folder / "pyproject.toml"
    if pyproject.is_file() and "migrate" in _toml(pyproject).get("tool", {}):
        return pyproject
    return None


def load(path: Path) -> Config:
    """Reads a configuration file, or the one in the folder `path`.

    Raises:
        MigrateError: it is missing, unreadable, or holds an unknown key or a value of the wrong kind.
    """
    file = find(path) if path.is_dir() else path
    if file is None:
        raise MigrateError(f"There is no {FILE} in {path.resolve()}. {_WRITES}, or name another with --config.")
    values = _toml(file)
    if file.name == "pyproject.toml":
        values = values.get("tool", {}).get("migrate", {})
    table = Table(values, str(file))
    interpreters = _interpreters(table.table("interpreters"), file.parent)
    rules = table.texts("rules")
    pairs = tuple(_pair(entry, file) for entry in table.tables("pair"))
    table.done()
    names = [pair.name for pair in pairs]
    for name in names:
        if names.count(name) > 1:
            raise MigrateError(f"Two pairs in {file} are called '{name}'. Give each its own name.")
    return Config(file, pairs, interpreters, rules)


def check_ref(text: str, where: str) -> str:
    """`text` unchanged, where it has the form of a REF; raises MigrateError otherwise."""
    place, _, attribute = text.rpartition(":")
    if not place or not all(part.isidentifier() for part in attribute.split(".")):
        raise MigrateError(f"'{text}' ({where}) names no callable. Write it like models.py:build or pkg.models:build.")
    return text


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MigrateError(f"There is no configuration {file}. {_WRITES}, or name another with --config.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MigrateError(f"The configuration {file} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise MigrateError(f"The configuration {file} is not valid TOML: {error}.") from None


def _interpreters(table: Table | None, folder: Path) -> dict[str, str]:
    if table is None:
        return {}
    found = {side: table.maybe_text(side) for side in ("tensorflow", "torch")}
    table.done()
    # never resolved: a virtual environment's python is a link, and following it leaves the environment
    return {side: str(folder / text) if "/" in text or "\\" in text else text for side, text in found.items() if text}


def _pair(table: Table, file: Path) -> Pair:
    name = table.text("name")
    if not re.fullmatch(r"[\w][\w.+-]*", name):
        raise MigrateError(f"The pair name '{name}' in {file} names a folder too: use letters, digits, '.', '_', '-'.")
    table.where = f"pair '{name}' in {file}"
    batch = table.whole("batch", 32)
    pair = Pair(
        name=name,
        tensorflow=check_ref(table.text("tensorflow"), f"'tensorflow' of {table.where}"),
        torch=check_ref(table.text("torch"), f"'torch' of {table.where}"),
        inputs=table.texts("inputs", required=True),
        batch=batch,
        target=table.maybe_text("target"),
        loss=_loss(table.table("loss")),
        optimizer=_named(table.table("optimizer")),
        training=_training(table.table("training"), batch),
        weights=table.maybe_text("weights"),
        accept=tuple(_accept(entry) for entry in table.tables("accept")),
        budget=table.numbers("budget", ("speed", "memory")),
        call=table.maybe_text("call"),
        torch_call=table.maybe_text("torch_call"),
        tensorflow_args=_free(table.table("tensorflow_args")),
    )
    table.done()
    _check_inputs(pair, table.where)
    return pair


def _check_inputs(pair: Pair, where: str) -> None:
    if not pair.inputs:
        raise MigrateError(f"'inputs' of {where} is empty. Describe each input, as in float32[batch,28,28,1].")
    for text in (*pair.inputs, *([pair.target] if pair.target else [])):
        for dim in parse_spec(text).dims:
            if isinstance(dim, str) and dim != "batch":
                raise MigrateError(f"Dimension '{dim}' of '{text}' in {where} has no size. Write a number, or batch.")
    for key, value in (("call", pair.call), ("torch_call", pair.torch_call)):
        if value is not None and value not in CALLS:
            raise MigrateError(f"The key '{key}' in {where} should be one of {', '.join(CALLS)}, not '{value}'.")


def _loss(table: Table | None) -> Named | None:
    if table is None:
        return None
    name, arguments = table.maybe_text("name"), table.rest()
    if name is None and arguments and all(isinstance(value, Mapping) for value in arguments.values()):
        raise MigrateError(
            f"{table.where} gives {'functions of its own' if 'ref' in arguments else 'one loss per output'}, "
            "which this version cannot check yet. Name one loss, or leave the table out."
        )
    if name is None:
        raise MigrateError(f"The key 'name' is missing in {table.where}.")
    return Named(name, arguments)


def _named(table: Table | None) -> Named | None:
    return None if table is None else Named(table.text("name"), table.rest())


def _free(table: Table | None) -> dict[str, Any]:
    return {} if table is None else table.rest()


def _training(table: Table | None, batch: int) -> Training | None:
    if table is None:
        return None
    training = Training(
        data=check_ref(table.text("data"), f"'data' of {table.where}"),
        epochs=table.whole("epochs"),
        metric=table.text("metric"),
        batch=table.whole("batch", batch),
    )
    table.done()
    return training


def _accept(table: Table) -> Accept:
    accept = Accept(id=table.text("id"), because=table.text("because"))
    table.done()
    return accept


# ---------------------------------------------------------------- writing


def dump(pairs: Sequence[Pair], header: str = "") -> str:
    """The text of a migrate.toml that `load` reads back as `pairs`; `header` becomes a comment at its top."""
    import tomlkit

    document = tomlkit.document()
    for line in header.splitlines():
        document.add(tomlkit.comment(line))
    entries = tomlkit.aot()
    for pair in pairs:
        entries.append(tomlkit.item(_entry(pair)))
    document.add("pair", entries)
    return tomlkit.dumps(document)


def _entry(pair: Pair) -> dict[str, Any]:
    """The keys of a `[[pair]]` that say something; plain values first, since a table ends them."""
    import tomlkit

    accept = tomlkit.array().multiline(len(pair.accept) > 1)
    for item in pair.accept:
        inline = tomlkit.inline_table()
        inline.update({"id": item.id, "because": item.because})
        accept.append(inline)
    budget = tomlkit.inline_table()
    budget.update(pair.budget)
    training = pair.training
    plain = {
        "name": pair.name,
        "tensorflow": pair.tensorflow,
        "torch": pair.torch,
        "inputs": list(pair.inputs),
        "target": pair.target,
        "batch": pair.batch,
        "call": pair.call,
        "torch_call": pair.torch_call,
        "weights": pair.weights,
        "accept": accept if pair.accept else None,
        "budget": budget if pair.budget else None,
        "tensorflow_args": dict(pair.tensorflow_args) or None,
        "loss": _call(pair.loss),
        "optimizer": _call(pair.optimizer),
        "training": training
        and {"data": training.data, "epochs": training.epochs, "metric": training.metric, "batch": training.batch},
    }
    return {key: value for key, value in plain.items() if value is not None}


def _call(named: Named | None) -> dict[str, Any] | None:
    if named is None:
        return None
    for key, value in named.arguments.items():
        if value is None:
            raise MigrateError(f"{named.name}({key}=None) cannot be written to a TOML file, which knows no None.")
    return {"name": named.name, **named.arguments}
