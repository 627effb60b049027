"""Training curves as inline SVG that takes its colours from the page, so that it is readable in light and dark.

matplotlib draws with stand-in colours; they are exchanged for the page's variables afterwards. Text stays text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from migrator.errors import MigrateError

Series = Mapping[str, Sequence[Sequence[float]]]  # side -> seeds -> one value an epoch

_INK, _SOFT, _LINE, _PYTORCH = "#010203", "#010204", "#010205", "#010206"
# side -> colour, dashes, width of the median, what lies on top: dashes over a line show both where they coincide
_SIDES = {"tensorflow": (_INK, (0, (3.5, 2.5)), 1.5, 3, "TensorFlow"), "torch": (_PYTORCH, "solid", 3.0, 2, "PyTorch")}
_VARIABLES = {
    _INK: "var(--ink)",
    _SOFT: "var(--soft)",
    _LINE: "var(--line)",
    _PYTORCH: "var(--accent)",
}
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "migrate",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _SOFT,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "text.color": _INK,
    "axes.grid": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
}


def curves(series: Series, label: str, identifier: str, description: str) -> str:
    """Both sides' curves over the epochs: each seed thin, the median thick. `identifier` keeps ids apart on the page.

    Raises MigrateError where matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MigrateError("The curves need matplotlib: pip install 'tf2torch-migrator[cpu]'.") from None
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(5.2, 3.1), layout="constrained")
        axes = figure.subplots()
        for side, runs in series.items():
            _draw(axes, side, runs)
        axes.set_xlabel("epoch")
        axes.set_ylabel(label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False)
        drawn = io.StringIO()
        figure.savefig(
            drawn, format="svg", transparent=True, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    return _for_page(drawn.getvalue(), identifier, description)


def _draw(axes: Any, side: str, runs: Sequence[Sequence[float]]) -> None:
    colour, dashes, width, above, name = _SIDES[side]
    style = {"color": colour, "linestyle": dashes, "zorder": above}
    for run in runs:
        axes.plot(range(1, len(run) + 1), run, linewidth=0.7, alpha=0.4, **style)
    middle = median(runs)
    axes.plot(range(1, len(middle) + 1), middle, linewidth=width, label=name, **style)


def median(runs: Sequence[Sequence[float]]) -> list[float]:
    """The median over seeds, as far as at least half of them got: some may have stopped early."""
    lengths = sorted((len(run) for run in runs), reverse=True)
    if not lengths:
        return []
    reach = lengths[(len(lengths) - 1) // 2]
    return [float(np.median([run[epoch] for run in runs if len(run) > epoch])) for epoch in range(reach)]


def _for_page(svg: str, identifier: str, description: str) -> str:
    """Without prologue and metadata, ids made unique, colours from the page, and words for those who cannot see it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{identifier}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{identifier}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    head, _, rest = svg.partition(">")
    return f'{head} role="img" aria-label="{_attribute(description)}">{rest}'


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
