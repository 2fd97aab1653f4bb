"""The table of answers, and the report."""

from datetime import date
from pathlib import Path

from bench import machine
from bench.answers.measure import Row, n_questions, questions
from bench.answers.models import MODELS
from bench.paths import REPORTS
from bench.tables import Table

ABOUT = """
`python -m bench answers`. Each model answers {n} short requests under {schemas} JSON Schemas
(`bench/answers/requests.json`), greedily, by a stream of this library, with at most {max_tokens} tokens. An answer is
complete if the document was when the stream ended, and valid if `jsonschema` finds it so; of the rest the text was cut
off. Models: {models}.
"""


def table(rows: dict[str, list[Row]]) -> Table:
    heading = ["options"]
    for name in rows:
        heading += [f"{name}: complete", "valid", "tokens"]
    by_row = zip(*rows.values(), strict=True)
    return Table(heading, [[of[0].name, *(cell for row in of for cell in _cells(row))] for of in by_row])


def by_schema(rows: dict[str, list[Row]]) -> Table:
    """Complete answers of each schema."""
    cells = []
    for model, measured in rows.items():
        for row in measured:
            counts = [sum(a.is_complete for a in row.answers if a.schema == name) for name in questions()]
            cells.append([model, row.name, *map(str, counts)])
    return Table(["model", "options: complete answers of", *questions()], cells, n_left=2)


def texts(rows: dict[str, list[Row]]) -> list[str]:
    """Each answer, so that its content can be judged."""
    return [
        f"{model} | {row.name} | {answer.request} | {'complete' if answer.is_complete else 'cut off'} | {answer.text}"
        for model, measured in rows.items()
        for row in measured
        for answer in row.answers
    ]


def write(rows: dict[str, list[Row]], max_tokens: int, loads: tuple[str, str]) -> Path:
    about = ABOUT.format(
        n=n_questions(),
        schemas=len(questions()),
        max_tokens=max_tokens,
        models="; ".join(f"{MODELS[name].name} (PyPI: {', '.join(MODELS[name].packages)})" for name in rows),
    )
    facts = [*map(list, machine.description().items()), ["load", f"{loads[0]} before, {loads[1]} after"]]
    sections = [
        f"# Answers that end, {date.today().isoformat()}",
        Table(["", ""], facts, n_left=2).markdown(),
        about.strip(),
        table(rows).markdown(),
        by_schema(rows).markdown(),
    ]
    path = REPORTS / f"{date.today().isoformat()}-answers.md"
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return path


def _cells(row: Row) -> list[str]:
    return [f"{row.n_complete} of {len(row.answers)}", str(row.n_valid), f"{row.n_tokens:,}"]
