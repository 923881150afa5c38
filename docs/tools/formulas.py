"""Write formulas as MathML, which current browsers draw without fetching anything."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def add_renderer(app: Any) -> None:
    """Register the renderer that ``html_math_renderer = "mathml"`` names."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_write_inline, None), block_renderers=(_write_block, None)
    )


def _mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    """Convert a formula, without space around the bar of "j given i"."""
    bar = '<mo stretchy="false">|</mo>'
    text: str = tex2mathml(node.astext(), as_block=as_block)
    return text.replace(bar, bar.replace("<mo", '<mo lspace="0" rspace="0"'))


def _write_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node))
    raise nodes.SkipNode


def _write_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(_mathml(node, as_block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode
