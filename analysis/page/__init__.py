"""The HTML of a report: one file that loads nothing, with anchors for its parts."""

from html import escape

from analysis.page.blocks import anchor_name, facts, folded, grid, link, paragraph, section
from analysis.page.document import page, write
from analysis.page.embedding import embedded
from analysis.page.figure_block import figure
from analysis.page.table_block import CellLink, table

__all__ = [
    "CellLink",
    "anchor_name",
    "embedded",
    "escape",
    "facts",
    "figure",
    "folded",
    "grid",
    "link",
    "page",
    "paragraph",
    "section",
    "table",
    "write",
]
