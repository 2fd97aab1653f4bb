"""What is planted in a copy of the repository is found."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tidy import graph, python, tests_run, text, typescript, wording, zig
from tidy.tree import Tree, folder, repository

PACKAGE = python.PACKAGE
ENGINE, SHELL = f"{zig.SOURCE}/engine", f"{zig.SOURCE}/shell"


class Copy:
    """A copy of what the repository has in some folders."""

    def __init__(self, root: Path, *folders: str) -> None:
        self.root = root
        tree = repository()
        for path in tree.under(*folders):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.root / path, root / path)

    def write(self, path: str, content: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content, encoding="utf-8")

    def append(self, path: str, content: str) -> None:
        self.write(path, (self.root / path).read_text(encoding="utf-8") + content)

    def tree(self) -> Tree:
        return folder(self.root)


def new_problems(copy: Copy, find: Callable[[Tree], list[str]], plant: Callable[[], None]) -> list[str]:
    before = find(copy.tree())
    plant()
    return [problem for problem in find(copy.tree()) if problem not in before]


@pytest.fixture
def native(tmp_path: Path) -> Copy:
    return Copy(tmp_path, zig.SOURCE)


@pytest.fixture
def package(tmp_path: Path) -> Copy:
    return Copy(tmp_path, PACKAGE)


@pytest.fixture
def bun_package(tmp_path: Path) -> Copy:
    return Copy(tmp_path, typescript.SOURCE)


def test_a_circle_of_zig_files(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{ENGINE}/platform/clock.zig", 'const one = @import("one.zig");\n')
        native.write(f"{ENGINE}/platform/one.zig", 'const clock = @import("clock.zig");\n')

    assert new_problems(native, zig.problems, plant) == [
        f"a circle of imports: {ENGINE}/platform/clock.zig, {ENGINE}/platform/one.zig"
    ]


def test_a_zig_import_from_a_room_that_is_above(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{ENGINE}/payload/limits.zig", 'const trie = @import("../trie/trie.zig");\n')

    found = new_problems(native, zig.problems, plant)
    assert f"{ENGINE}/payload/limits.zig imports {ENGINE}/trie/trie.zig, which is the wrong way" in found


def test_a_zig_import_from_a_room_beside(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{SHELL}/files/files.zig", 'const loader = @import("../llama/loader.zig");\n')

    found = new_problems(native, zig.problems, plant)
    assert found == [f"{SHELL}/files/files.zig imports {SHELL}/llama/loader.zig, which is the wrong way"]


def test_a_way_around_the_wall_between_modules(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{SHELL}/files/files.zig", 'const clock = @import("../../engine/platform/clock.zig");\n')
        native.append(f"{ENGINE}/platform/clock.zig", 'const config = @import("config");\n')

    assert new_problems(native, zig.problems, plant) == [
        f"{SHELL}/files/files.zig imports {ENGINE}/platform/clock.zig, which is the wrong way",
        f'{ENGINE}/platform/clock.zig imports the module "config", which is the wrong way',
    ]


def test_a_dead_zig_file(native: Copy) -> None:
    def plant() -> None:
        native.write(f"{ENGINE}/base/unused.zig", "pub const x = 1;\n")

    assert new_problems(native, zig.problems, plant) == [f"{ENGINE}/base/unused.zig: nobody imports it"]


def test_a_zig_file_that_only_tests_use(native: Copy) -> None:
    def plant() -> None:
        native.write(f"{ENGINE}/base/unused.zig", 'test "x" {\n    try y();\n}\n')
        native.append(f"{ENGINE}/engine.zig", 'test {\n    _ = @import("base/unused.zig");\n}\n')

    assert new_problems(native, zig.problems, plant) == [f"{ENGINE}/base/unused.zig: nobody imports it"]


def test_zig_tests_that_are_in_no_list(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{SHELL}/files/files.zig", 'const more = @import("more.zig");\n')
        native.write(f"{SHELL}/files/more.zig", 'test "x" {\n    try y();\n}\n')

    assert new_problems(native, zig.problems, plant) == [
        f"{SHELL}/files/more.zig has tests, and is not in the list of its module's root"
    ]


def test_a_new_room_needs_a_rule(native: Copy) -> None:
    def plant() -> None:
        native.append(f"{ENGINE}/engine.zig", 'pub const x = @import("attic/x.zig");\n')
        native.write(f"{ENGINE}/attic/x.zig", "pub const x = 1;\n")

    assert new_problems(native, zig.problems, plant) == [f"{ENGINE}/attic/x.zig: no rule says what it may import"]


def test_a_circle_of_python_files_for_types_alone(package: Copy) -> None:
    def plant() -> None:
        package.append(f"{PACKAGE}/_load_advice.py", "if TYPE_CHECKING:\n    from eliza_inference import _one\n")
        package.write(f"{PACKAGE}/_one.py", "def one():\n    import eliza_inference._load_advice\n")

    assert new_problems(package, python.problems, plant) == [
        f"a circle of imports: {PACKAGE}/_load_advice.py, {PACKAGE}/_one.py"
    ]


def test_a_python_import_of_the_wrong_way(package: Copy) -> None:
    def plant() -> None:
        package.append(f"{PACKAGE}/span_config.py", "from eliza_inference.llama import llama_info\n")

    assert new_problems(package, python.problems, plant) == [
        f"{PACKAGE}/span_config.py imports {PACKAGE}/llama.py, which is the wrong way"
    ]


def test_a_dead_python_file(package: Copy) -> None:
    def plant() -> None:
        package.write(f"{PACKAGE}/unused.py", "from eliza_inference.errors import ElizaError\n")

    assert new_problems(package, python.problems, plant) == [f"{PACKAGE}/unused.py: nobody imports it"]


def test_a_circle_of_typescript_files(bun_package: Copy) -> None:
    def plant() -> None:
        bun_package.append(f"{typescript.SOURCE}/structs.ts", 'export type { One } from "./one";\n')
        bun_package.write(f"{typescript.SOURCE}/one.ts", 'import {\n  a,\n  b,\n} from "./structs";\n')

    assert new_problems(bun_package, typescript.problems, plant) == [
        f"a circle of imports: {typescript.SOURCE}/one.ts, {typescript.SOURCE}/structs.ts"
    ]


def test_a_typescript_import_of_the_wrong_way(bun_package: Copy) -> None:
    def plant() -> None:
        bun_package.append(f"{typescript.SOURCE}/structs.ts", 'const llama = await import("./load-advice");\n')
        bun_package.append(f"{typescript.SOURCE}/load-advice.ts", 'import "./llama";\n')

    found = new_problems(bun_package, typescript.problems, plant)
    assert f"{typescript.SOURCE}/load-advice.ts imports {typescript.SOURCE}/llama.ts, which is the wrong way" in found


def test_a_dead_typescript_file(bun_package: Copy) -> None:
    def plant() -> None:
        bun_package.write(f"{typescript.SOURCE}/unused.ts", 'import { z } from "./structs";\n')

    assert new_problems(bun_package, typescript.problems, plant) == [
        f"{typescript.SOURCE}/unused.ts: nobody imports it"
    ]


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("tests/python/more.py", "def test_x() -> None:\n    pass\n", "pytest reads files named test_*.py only"),
        ("tests/other/test_x.py", "def test_x() -> None:\n    pass\n", "is in no folder that tests/run.py gives"),
        ("bindings-ts/test/more.ts", 'test("x", () => {});\n', "bun reads files named *.test.ts only"),
        ("bindings-ts/src/x.test.ts", 'test("x", () => {});\n', "is not in bindings-ts/test"),
        ("tests/native/more_test.c", "int main(void) { return 0; }\n", "is compiled by nobody"),
        ("tests/release/java/MoreTest.java", "class MoreTest {}\n", "is compiled by nobody"),
    ],
)
def test_a_test_that_no_runner_picks_up(tmp_path: Path, path: str, content: str, problem: str) -> None:
    copy = Copy(tmp_path)
    copy.write("tests/native/build.py", 'compile("abi_test")\n')
    copy.write(path, content)
    (found,) = tests_run.problems(copy.tree(), ["tests/python"])
    assert found.startswith(path) and problem in found


@pytest.mark.parametrize(
    ("path", "line", "problem"),
    [
        ("native/x.zig", "/" * 141, "native/x.zig:2: 141 characters; at most 140"),
        ("x.py", "#" * 121, "x.py:2: 121 characters; at most 120"),
        ("x.ts", "/" * 121, "x.ts:2: 121 characters; at most 120"),
        ("x.toml", "url = https://registry.npm" + "js.org/x", "x.toml:2: names the host of a registry"),
        ("x.md", "see " + "/home" + "/someone/x", "x.md:2: names a path of one machine"),
        ("x.md", "[x](missing.md#part)", "x.md: the link to missing.md#part leads nowhere"),
        ("x.md", "[x](x.md#part)", "x.md: the link to x.md#part leads to no heading"),
        ("x.md", "[x](#part)", "x.md: the link to #part leads to no heading"),
    ],
)
def test_a_line_that_does_not_belong(tmp_path: Path, path: str, line: str, problem: str) -> None:
    copy = Copy(tmp_path)
    copy.write(path, f"\n{line}\n")
    assert text.problems(copy.tree()) == [problem]


def test_a_phrase_that_the_glossary_bans(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    copy.write(wording.GLOSSARY, "## Words to avoid\n\n| not | but |\n|---|---|\n| goes on, behind the | continues |\n")
    copy.write("a.md", "It Goes On.\nThe look-behind the pattern has; ongoes on.\n")
    assert wording.problems(copy.tree()) == ['a.md:1: "goes on": GLOSSARY.md says continues']


def test_links_that_lead_somewhere(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    copy.write(
        "a/b.md", "# A part: `x`\n[up](../c.md#one-two) [here](#a-part-x) [folder](../a) [out](https://example.org/x)\n"
    )
    copy.write("c.md", "## One, two\n")
    assert text.problems(copy.tree()) == []


def test_circles_are_found_whole_and_apart() -> None:
    imports = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["d"], "e": ["a"]}
    assert sorted(graph.circles(imports)) == ["a circle of imports: a, b, c", "a circle of imports: d"]
