"""Every resolved use becomes a finding: its rule, its grade, its minutes, one sentence.

The grade is the rule's, unless the call itself says more: an argument that the rule cannot carry over makes the call
work for a person, whatever the rule promises for the usual case.
"""

from __future__ import annotations

from migrator.assess import arguments
from migrator.assess.table import EffortTable
from migrator.catalogue import Catalogue
from migrator.catalogue.signature import same_value
from migrator.facts import Call, Finding, Grade, Project, Rule

AUTOMATIC: tuple[Grade, ...] = ("exact", "review")
LAYER_ARGUMENTS = frozenset(("name", "input_shape", "batch_input_shape", "input_dim", "input_length"))
LAYER_DEFAULTS = frozenset((("trainable", "True"), ("dtype", "None"), ("dtype", "'float32'"), ("dtype", '"float32"')))


def findings(project: Project, catalogue: Catalogue, table: EffortTable) -> tuple[Finding, ...]:
    """One finding for each call of the project, in the order of files and lines."""
    keras = project.inventory.environment.keras
    seen: set[str] = set()
    found = []
    for path in sorted(project.resolutions):
        for call in project.resolutions[path].calls:
            rule = catalogue.find(call.api, keras)
            grade, message = _judge(call, rule)
            first, again = table.grades[grade or "no_rule"]
            cost = again if call.api in seen else first
            seen.add(call.api)
            minutes = round(cost.expected, 2)
            found.append(Finding(call, rule.id if rule else None, grade, minutes, message))
    return tuple(found)


def _judge(call: Call, rule: Rule | None) -> tuple[Grade | None, str]:
    if rule is None:
        return None, f"No rule for {call.api} yet: look it up and move it by hand."
    problem = _refusal(call, rule) if rule.grade in AUTOMATIC else None
    if problem is not None:
        return "manual", problem
    if rule.guide is not None:
        return rule.grade, rule.guide.strip()
    if rule.torch is not None and call.use == "call":
        return rule.grade, f"Becomes {_shown(rule.torch)}."
    return rule.grade, rule.doc.strip() or f"Moved by the rule {rule.id}."


def _refusal(call: Call, rule: Rule) -> str | None:
    """Why the rewriter will leave this call alone although it has a rule; None where it will not."""
    if call.site is None:
        return None
    defaults = {parameter.name: parameter.default for parameter in rule.parameters}
    for name, value in arguments.given(call, rule.parameters).items():
        text = arguments.text(value)
        default = defaults.get(name)
        if name in rule.refuse and not (default is not None and same_value(text, default)):
            return f"The argument {name}={text} has no counterpart that the rule {rule.id} knows."
        if name not in defaults and not _harmless(rule, name, text):
            return f"The argument {name} is not one that the rule {rule.id} knows."
    star = arguments.star(call)
    if star and rule.structure is None and not any(parameter.variadic for parameter in rule.parameters):
        return f"`{star}` hides which arguments the call passes."
    return None


def _harmless(rule: Rule, name: str, text: str) -> bool:
    """Arguments that every layer takes beside its own, and that change nothing; stars in the signature take all."""
    if any(parameter.variadic for parameter in rule.parameters) or not rule.parameters:
        return True
    if rule.family != "layer":
        return False
    return name in LAYER_ARGUMENTS or (name, text) in LAYER_DEFAULTS


def _shown(template: str) -> str:
    line = " ".join(template.split())
    return line if len(line) <= 90 else line[:87] + "..."
