"""The repository is tidy."""

import re

import pytest

from runner.step import ROOT
from runner.tasks import TASKS
from tidy import python, tests_run, text, typescript, wording, zig
from tidy.tree import Tree, repository


@pytest.fixture(scope="module")
def tree() -> Tree:
    return repository()


def test_zig_imports_run_one_way_and_reach_every_file(tree: Tree) -> None:
    assert len(tree.under(zig.SOURCE, suffix=".zig")) > 100
    expect_none(zig.problems(tree))


def test_the_map_shows_the_rooms_and_what_they_import(tree: Tree) -> None:
    rows = re.findall(r"^\| `(\w+/\w+)` \|.*\| ([\w, ]*)\|$", tree.text("ARCHITECTURE.md"), re.MULTILINE)
    shown = {room: set(re.findall(r"\w+", imported)) for room, imported in rows}
    engine = {f"engine/{room}": set(used.split()) for room, used in zig.ENGINE.items()}
    shell = {f"shell/{room}": {"engine", *used.split()} for room, used in zig.SHELL.items()}
    assert shown == engine | shell


def test_python_imports_run_one_way_and_reach_every_file(tree: Tree) -> None:
    assert len(tree.under(python.PACKAGE, suffix=".py")) > 30
    expect_none(python.problems(tree))


def test_typescript_imports_run_one_way_and_reach_every_file(tree: Tree) -> None:
    assert len(tree.under(typescript.SOURCE, suffix=".ts")) > 30
    expect_none(typescript.problems(tree))


def test_a_runner_picks_up_every_test(tree: Tree) -> None:
    commands = [command for task in TASKS.values() for step in task.steps for command in step.commands]
    folders = [command[3] for command in commands if command[1:3] == ["-m", "pytest"]]
    assert len(folders) == 10
    expect_none(tests_run.problems(tree, [re.sub(f"^{re.escape(str(ROOT))}/", "", folder) for folder in folders]))


def test_lines_are_short_and_links_lead_somewhere(tree: Tree) -> None:
    expect_none(text.problems(tree))


def test_the_words_are_those_of_the_glossary(tree: Tree) -> None:
    assert len(wording.banned_phrases(tree.text(wording.GLOSSARY))) > 30
    expect_none(wording.problems(tree))


def expect_none(problems: list[str]) -> None:
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
