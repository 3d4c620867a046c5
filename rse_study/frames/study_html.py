"""HTML summary of a study for notebooks: question, state and contrasts."""

from html import escape

import pandas as pd

from rse_study.results.frame_columns import COLUMNS
from rse_study.results.study_record import StudyRecord

MOST_ROWS = 12
HEADINGS = ("row", "seeds", "mean difference", "95%, all rows at once", "verdict")


def study_html(record: StudyRecord, state: str, contrasts: pd.DataFrame) -> str:
    """Return the HTML that Jupyter shows for a study, with the objective's contrasts."""
    objective = contrasts[contrasts["metric"] == ""]
    frames = ", ".join(f"<code>.{name}</code>" for name in COLUMNS)
    parts = [
        f"<h3>{escape(record.title or record.name)}</h3>",
        f"<p><i>{escape(record.question)}</i></p>" if record.question else "",
        f"<p>{escape(record.kind)}, {escape(state)}.</p>",
        _table(objective) if len(objective) else "<p>It compares no rows with a baseline.</p>",
        f"<p>Frames: {frames}; <code>.describe(FRAME)</code> says what their columns mean.</p>",
    ]
    return "\n".join(part for part in parts if part)


def _table(contrasts: pd.DataFrame) -> str:
    first = contrasts.iloc[0]
    head = "".join(f'<th style="text-align:left">{heading}</th>' for heading in HEADINGS)
    rows = "\n".join(_line(row) for row in contrasts.head(MOST_ROWS).to_dict("records"))
    left = len(contrasts) - MOST_ROWS
    more = f"<p>{left} more in <code>.contrasts</code>.</p>" if left > 0 else ""
    caption = f"{first['measure']}: each row minus {first['minus']}"
    return f"<p>{escape(caption)}</p>\n<table><tr>{head}</tr>\n{rows}\n</table>{more}"


def _line(row: dict[str, object]) -> str:
    decides = "anytime" if row["criterion"] == "anytime" else "simultaneous"
    texts = (
        str(row["row"]),
        str(row["num_seeds"]),
        _signed(row["mean"]),
        _interval(row[f"{decides}_low"], row[f"{decides}_high"]),
        str(row["verdict"]),
    )
    return "<tr>" + "".join(f'<td style="text-align:left">{escape(text)}</td>' for text in texts) + "</tr>"


def _signed(value: object) -> str:
    return "" if pd.isna(value) else f"{value:+.2f}"


def _interval(low: object, high: object) -> str:
    return "fewer than 3 seeds" if pd.isna(low) else f"[{_signed(low)}, {_signed(high)}]"
