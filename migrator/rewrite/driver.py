"""All structures over all files of a project, in the order that works: models, then training code, then the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.catalogue.catalogue import catalogue_of
from migrator.errors import MigrateError
from migrator.facts import FileResult, Left, Pair, Profile, Project, Resolution, Rewritten, Site
from migrator.rewrite.calls import rewrite_calls
from migrator.rewrite.imports import settle
from migrator.rewrite.leftovers import Leftovers
from migrator.rewrite.models.names_used import reads
from migrator.rewrite.models.pairs import targeted
from migrator.rewrite.places import support_place
from migrator.rewrite.session import FileContext, Proposal, apply, surviving
from migrator.rewrite.structures.fit_loop import propose as propose_training
from migrator.rewrite.structures.models import propose_models
from migrator.rewrite.structures.training_facts import informed
from migrator.rewrite.support import emit, extended, public_names
from migrator.rewrite.verification import fault


class Driver:
    """One rewrite of one project."""

    def __init__(
        self, project: Project, catalogue: Catalogue, profile: Profile, select: Sequence[str], ignore: Sequence[str]
    ) -> None:
        self.project, self.profile = project, profile
        self.catalogue = _narrowed(catalogue, select, ignore)
        self.keras = project.inventory.environment.keras
        self.models = propose_models(project, self.catalogue, profile)
        self.support: dict[str, set[str]] = {}

    def run(self) -> Rewritten:
        """Every file, the support modules, and the pairs to prove."""
        files: list[FileResult] = []
        sites: list[Site] = []
        left: list[Left] = []
        for path, resolution in sorted(self.project.resolutions.items()):
            result, found, remaining = self._file(path, resolution)
            files.append(result)
            sites += found
            left += remaining
        for skipped in self.project.inventory.skipped:
            files.append(FileResult(skipped.file, "skipped", skipped.reason, "", ""))
        created = {path: self._support_text(path, names) for path, names in sorted(self.support.items())}
        return Rewritten(tuple(files), tuple(sites), tuple(left), created, tuple(self._pairs()))

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

    def _file(self, path: str, resolution: Resolution) -> tuple[FileResult, list[Site], list[Left]]:
        source = resolution.source
        context = self._context(resolution)
        proposals = [*self.models.proposals.get(path, ()), *propose_training(context)]
        edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = {}
        for proposal in proposals:
            edits |= proposal.edits
        alive = surviving(source.module, edits)
        gone = [node for node in resolution.apis if id(node) not in alive]
        calls = rewrite_calls(source.module, resolution, self.catalogue, self.keras, gone)
        edits |= {node: [new] for node, new in calls.nodes.items() if id(node) in alive}
        leftovers = Leftovers(resolution, self.catalogue, self.keras, surviving(source.module, edits))
        left = leftovers.left([item for proposal in proposals for item in proposal.left], calls.left)
        sites = [site for proposal in proposals for site in proposal.sites]
        if not edits:
            return self._unchanged(path, resolution, left), sites, left
        needed = set().union(calls.imports, *(proposal.imports for proposal in proposals))
        after = self._edited(source.module, edits, needed, path, leftovers, left)
        wrong = fault(source.module, after)
        if wrong is not None:
            left = [*left, Left(path, 1, "file", wrong)]
            return FileResult(path, "skipped", wrong, source.text, source.text), sites, left
        self._note_support(path, after)
        status = "partial" if left or leftovers.any else "full"
        reason = left[0].reason if left else ""
        return FileResult(path, status, reason, source.text, after.code), sites, left  # type: ignore[arg-type]

    def _edited(
        self,
        module: cst.Module,
        edits: dict[cst.CSTNode, Sequence[cst.CSTNode]],
        needed: set[str],
        path: str,
        leftovers: Leftovers,
        left: Sequence[Left],
    ) -> cst.Module:
        changed = apply(module, edits, leftovers.markers(left))
        support = self._support_names(changed)
        if support:
            _, name = support_place(path, self.project)
            needed = needed | {f"from {name} import {', '.join(sorted(support))}"}
        return settle(changed, needed, leftovers.any)

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

    def _unchanged(self, path: str, resolution: Resolution, left: Sequence[Left]) -> FileResult:
        text = resolution.source.text
        reason = left[0].reason if left else "nothing of TensorFlow is in it"
        return FileResult(path, "unchanged", reason, text, text)


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


__all__ = ["Driver", "Proposal"]
