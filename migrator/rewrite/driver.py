"""All structures over all files of a project, in the order that works: models, then training code, then the rest.

Groups of models are taken back until what is rewritten and what stays fit together: see `mixtures` and `verification`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.catalogue.catalogue import catalogue_of
from migrator.errors import MigrateError
from migrator.facts import Definition, FileResult, Left, Pair, Profile, Project, Resolution, Rewritten, Site
from migrator.rewrite.drafts import Draft, draft_of
from migrator.rewrite.imports import settle
from migrator.rewrite.mixtures import Ban, Mixtures
from migrator.rewrite.models.names_used import reads
from migrator.rewrite.models.pairs import targeted
from migrator.rewrite.places import support_place
from migrator.rewrite.positions import Lines
from migrator.rewrite.session import FileContext, apply
from migrator.rewrite.structures.fit_loop import propose as propose_training
from migrator.rewrite.structures.models import Outcome, collected, read_models
from migrator.rewrite.structures.training_facts import informed
from migrator.rewrite.structures.training_group import plan_of
from migrator.rewrite.support import emit, extended, public_names
from migrator.rewrite.verification import fault

Edits = dict[cst.CSTNode, Sequence[cst.CSTNode]]
Written = tuple[FileResult, list[Site], list[Left]]


@dataclass(frozen=True)
class Text:
    """A file's new text, and what is wrong with it."""

    module: cst.Module
    wrong: str


class Driver:
    """One rewrite of one project."""

    def __init__(
        self, project: Project, catalogue: Catalogue, profile: Profile, select: Sequence[str], ignore: Sequence[str]
    ) -> None:
        self.project, self.profile = project, profile
        self.catalogue = _narrowed(catalogue, select, ignore)
        self.keras = project.inventory.environment.keras
        self.lines = {path: Lines(resolution) for path, resolution in project.resolutions.items()}
        self.groups = read_models(project, self.catalogue, profile, self.lines)
        self.models = collected(self.groups, self.lines)
        self.support: dict[str, set[str]] = {}

    def run(self) -> Rewritten:
        """Every file, the support modules, and the pairs to prove."""
        files: list[FileResult] = []
        sites: list[Site] = []
        left: list[Left] = []
        for result, found, remaining in self._settled():
            files.append(result)
            sites += found
            left += remaining
        for skipped in self.project.inventory.skipped:
            files.append(FileResult(skipped.file, "skipped", skipped.reason, "", ""))
        created = {path: self._support_text(path, names) for path, names in sorted(self.support.items())}
        return Rewritten(tuple(files), tuple(sites), tuple(left), created, tuple(self._pairs()))

    def _settled(self) -> list[Written]:
        """Every file, once no group of models has to be taken back any more because of what the others do with it."""
        while True:
            self.models = collected(self.groups, self.lines)
            drafts = [self._draft(resolution) for _, resolution in sorted(self.project.resolutions.items())]
            mixed: list[Left] = []
            if self.models.owners:
                alive = {draft.context.path: draft.alive for draft in drafts}
                mixtures = Mixtures(drafts[0].context, self.models, alive, self.catalogue)
                if self._refused([_explained(ban, drafts) for ban in mixtures.bans]):
                    continue
                mixed = mixtures.left
            left = {
                draft.context.path: draft.left([m for m in mixed if m.file == draft.context.path]) for draft in drafts
            }
            texts = [self._text(draft, left[draft.context.path]) for draft in drafts]
            if any(
                text.wrong and self._refused(self._culprits(draft, text.wrong))
                for draft, text in zip(drafts, texts, strict=True)
            ):
                continue
            return [
                self._written(draft, left[draft.context.path], text) for draft, text in zip(drafts, texts, strict=True)
            ]

    def _refused(self, bans: Sequence[Ban]) -> bool:
        """Takes groups back. Whether there were any."""
        for ban in bans:
            if ban.outcome.reason is None:
                function = ban.item.function
                place = self.lines[function.definition.file]
                ban.outcome.refuse(function, None, ban.reason, "functional", place)
        return bool(bans)

    def _culprits(self, draft: Draft, wrong: str) -> list[Ban]:
        """The groups that make a file wrong: those that do so alone, else all that it is a part of."""
        path = draft.context.path
        touching = [group for group in self.groups if any(file == path for file, _ in group.proposals)]
        alone = [group for group in touching if self._alone(draft, group).wrong]
        groups = alone or touching or self._trained_in(draft)
        return [Ban(group, group.printed[0], f"{path} would be wrong with it: {wrong}", (path, 1)) for group in groups]

    def _alone(self, draft: Draft, group: Outcome) -> Text:
        edits: Edits = {}
        for file, proposal in group.proposals:
            if file == draft.context.path:
                edits |= proposal.edits
        return self._text(replace(draft, edits=edits), ())

    def _trained_in(self, draft: Draft) -> list[Outcome]:
        """The groups whose models the training code of a file works with."""
        uses = plan_of(draft.context).uses
        roots = {root for use in uses if use.file.path == draft.context.path for root in use.roots}
        found = {id(group): group for root, (group, _) in self.models.owners.items() if root in roots}
        return list(found.values())

    def _pairs(self) -> list[Pair]:
        """The pairs of migrate.toml, with the loss, optimizer and data that the project trains its models with."""
        if not self.models.pairs:
            return []
        context = self._context(next(iter(self.project.resolutions.values())))
        return [targeted(pair, self.models.widths.get(pair.name)) for pair in informed(self.models.pairs, context)]

    def _context(self, resolution: Resolution) -> FileContext:
        return FileContext(
            resolution.source, resolution, self.project, self.catalogue, self.profile, self.keras, self.models.facts
        )

    def _draft(self, resolution: Resolution) -> Draft:
        path, context = resolution.source.path, self._context(resolution)
        proposals = [*self.models.proposals.get(path, ()), *propose_training(context)]
        converted = {key for key in self.models.facts if isinstance(key, Definition)}
        return draft_of(context, proposals, self.models.refused.get(path, ()), converted, self.lines[path])

    def _text(self, draft: Draft, left: Sequence[Left]) -> Text:
        """The file with its edits and markers; one without edits gets its markers alone."""
        module, markers = draft.context.source.module, draft.leftovers.markers(left)
        for statement, comments in draft.comments.items():
            markers[statement] = [*comments, *markers.get(statement, [])]
        if not draft.edits and not markers:
            return Text(module, "")
        after = apply(module, draft.edits, markers)
        if draft.edits:
            support = self._support_names(after)
            needed = set(draft.imports)
            if support:
                _, name = support_place(draft.context.path, self.project)
                needed.add(f"from {name} import {', '.join(sorted(support))}")
            after = settle(after, needed, draft.leftovers.any)
        return Text(after, fault(module, after) or "")

    def _written(self, draft: Draft, left: list[Left], text: Text) -> Written:
        path, before = draft.context.path, draft.context.source.text
        if text.wrong:
            left = [*left, Left(path, 1, "file", text.wrong)]
            return FileResult(path, "skipped", text.wrong, before, before), draft.sites, left
        if not draft.edits:
            reason = left[0].reason if left else "nothing of TensorFlow is in it"
            after = text.module.code if left else before
            return FileResult(path, "unchanged", reason, before, after), draft.sites, left
        self._note_support(path, text.module)
        status: Literal["partial", "full"] = "partial" if left or draft.leftovers.any else "full"
        reason = left[0].reason if left else ""
        return FileResult(path, status, reason, before, text.module.code), draft.sites, left

    def _support_names(self, module: cst.Module) -> set[str]:
        """Support pieces that the file reads and does not define itself."""
        read = {name for item in module.body if not _is_import(item) for name in reads(item)}
        own = {item.name.value for item in module.body if isinstance(item, (cst.FunctionDef, cst.ClassDef))}
        return (read & public_names()) - own

    def _note_support(self, path: str, after: cst.Module) -> None:
        names = self._support_names(after)
        if names:
            place, _ = support_place(path, self.project)
            self.support.setdefault(place, set()).update(names)

    def _support_text(self, path: str, names: Iterable[str]) -> str:
        existing = self.project.inventory.root / path
        return extended(existing.read_text(encoding="utf-8"), names) if existing.is_file() else emit(names)


def _explained(ban: Ban, drafts: Sequence[Draft]) -> Ban:
    """The ban with what training code says about the line that causes it, or about the line that this points to."""
    told = {(item.file, item.line): item.reason for draft in drafts for item in draft.told}
    reason = told.get(ban.place, "")
    pointer = _POINTER.search(reason)
    if pointer is not None:
        reason = told.get((pointer.group(1), int(pointer.group(2))), reason)
    return replace(ban, reason=f"{ban.reason}: {reason}") if reason and ban.place[1] else ban


_POINTER = re.compile(r"^it goes together with \w+ in (.+), line (\d+)$")


def _is_import(item: cst.CSTNode) -> bool:
    return isinstance(item, cst.SimpleStatementLine) and isinstance(item.body[0], (cst.Import, cst.ImportFrom))


def _narrowed(catalogue: Catalogue, select: Sequence[str], ignore: Sequence[str]) -> Catalogue:
    """The rules that the user wants applied."""
    known = {rule.id for rule in catalogue.rules}
    for name in (*select, *ignore):
        if name not in known:
            raise MigrateError(f"There is no rule {name!r}. `migrate rules list` shows their ids.")
    if not select and not ignore:
        return catalogue
    return catalogue_of(
        tuple(rule for rule in catalogue.rules if (not select or rule.id in select) and rule.id not in ignore)
    )
