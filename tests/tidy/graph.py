"""What can be said of imports in any language: a graph from each file to the files that it imports."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

Graph = Mapping[str, Iterable[str]]
Rules = Sequence[tuple[str, Sequence[str]]]
"""Which files may import which: pairs of a pattern of importers and patterns of what they may import. The first pair
whose pattern fits the importer counts."""


def forbidden(graph: Graph, rules: Rules) -> Iterator[str]:
    """Imports that the rules do not allow, and files that no rule speaks of."""
    for importer, imported in sorted(graph.items()):
        allowed = next((allowed for pattern, allowed in rules if re.fullmatch(pattern, importer)), None)
        if allowed is None:
            yield f"{importer}: no rule says what it may import"
            continue
        for file in sorted(set(imported)):
            if not any(re.fullmatch(pattern, file) for pattern in allowed):
                yield f"{importer} imports {file}, which is the wrong way"


def circles(graph: Graph) -> Iterator[str]:
    """Files that import each other, one line for each set of them (Tarjan's strongly connected components)."""
    for component in _components(graph):
        if len(component) > 1 or component[0] in graph.get(component[0], ()):
            yield f"a circle of imports: {', '.join(sorted(component))}"


def dead(graph: Graph, entries: Iterable[str]) -> Iterator[str]:
    """Files that no entry leads to."""
    reached: set[str] = set()
    waiting = [entry for entry in entries if entry in graph]
    while waiting:
        file = waiting.pop()
        if file not in reached:
            reached.add(file)
            waiting += graph.get(file, ())
    return (f"{file}: nobody imports it" for file in sorted(set(graph) - reached))


def _components(graph: Graph) -> list[list[str]]:
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for next_file in graph.get(file, ()):
            if next_file not in index:
                visit(next_file)
                low[file] = min(low[file], low[next_file])
            elif next_file in stack:
                low[file] = min(low[file], index[next_file])
        if low[file] == index[file]:
            at = stack.index(file)
            found.append(stack[at:])
            del stack[at:]

    for file in sorted(graph):
        if file not in index:
            visit(file)
    return found
