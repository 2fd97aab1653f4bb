"""The command line, driven as a user does."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from eliza_inference import LlamaInfo, Model, TokenTree
from eliza_inference.cli.commands import commands

from conftest import MODEL_FILE, TESTS


def run(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(commands, [str(each) for each in arguments])


@pytest.fixture
def tree_file(tmp_path: Path) -> Path:
    names = {"REPLY": [5, 6], "REPLY_THREAD": [5, 6, 7], "SEND": [8, 9, 10, 11]}
    file = tmp_path / "tree.json"
    file.write_text(TokenTree.from_names(names, names, trigger=[[3, 4]], end=[2], model_id="m").to_json())
    return file


def test_the_demo_says_only_valid_names_in_trie_modes(llama: LlamaInfo) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    cells = [re.split(r"\s{2,}", line.strip()) for line in result.stdout.splitlines()]
    rows = {way: values for way, *values in cells if len(values) == 4 and way != "valid names"}
    assert set(rows) == {"free", "grammar", "grammar up to the name", "trie", "trie, skip-ahead"}
    for way in ("trie", "trie, skip-ahead"):
        valid, _, total = rows[way][0].split()
        assert valid == total
    passes = {way: float(values[2]) for way, values in rows.items()}
    assert passes["trie, skip-ahead"] <= 0.5 * passes["grammar"]
    assert passes["trie, skip-ahead"] <= 0.75 * passes["grammar up to the name"]
    assert rows["trie"][1] == rows["trie, skip-ahead"][1]
    assert "10 of 30 actions: 200 of 200 names valid" in result.stdout
    calls = re.search(
        r"such as (\{.*\}): ([0-9.]+) tokens, ([0-9.]+) of them forced, ([0-9.]+) forward passes; "
        r"without skip-ahead ([0-9.]+)\.",
        " ".join(result.stdout.split()),
    )
    assert calls
    assert json.loads(calls[1])["arguments"] == {}
    tokens, forced, forward_passes, without = map(float, calls.groups()[1:])
    assert forward_passes < tokens / 5 and forced > tokens / 2 and without > tokens
    in_text = re.search(
        r"tool calls in free text, (\d+) of 40, such as '.*\(\{\}\)': ([0-9.]+) tokens, ([0-9.]+) of them forced, "
        r"([0-9.]+) forward passes; without skip-ahead ([0-9.]+)\.",
        " ".join(result.stdout.split()),
    )
    assert in_text
    n_calls, tokens, forced, forward_passes, without = map(float, in_text.groups())
    assert n_calls == 40 and forced > 2 and forward_passes < 0.8 * without and without > tokens - 0.1


def test_generate_writes_text_to_stdout_and_counters_to_stderr(llama: LlamaInfo) -> None:
    result = run("generate", "--model", MODEL_FILE, "--prompt", "User: mute the dev room\nAction:")
    assert result.exit_code == 0, result.output
    assert result.stdout == " MUTE_ROOM\n"
    assert "END_OF_GENERATION" in result.stderr


@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_generate_with_a_trie(llama: LlamaInfo, model: Model, tmp_path: Path, form: str) -> None:
    tree = model.token_tree(["NONE"]) + model.token_tree(["PLAY_MUSIC", "SET_TIMER"], path="other")
    file = tmp_path / "tree"
    file.write_bytes(tree.to_json().encode() if form == "json" else tree.to_msgpack())
    arguments: list[str | Path] = [
        "generate",
        "--model",
        MODEL_FILE,
        "--prompt",
        "User: hello\nAction:",
        "--trie",
        file,
        "--path",
        "other",
    ]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() in ("PLAY_MUSIC", "SET_TIMER")
    assert f"name {result.stdout.strip()}" in result.stderr
    assert "SPAN_END" in result.stderr


def test_generate_with_a_grammar(llama: LlamaInfo, tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.gbnf"
    grammar.write_text('root ::= " NONE"')
    result = run("generate", "--model", MODEL_FILE, "--prompt", "User: hello\nAction:", "--grammar", grammar)
    assert result.stdout == " NONE\n"


def test_a_warning_of_the_library_is_shown(llama: LlamaInfo, model: Model, tmp_path: Path) -> None:
    grammar, tree = tmp_path / "grammar.gbnf", tmp_path / "tree.json"
    grammar.write_text('root ::= " NONE"')
    tree.write_text(model.token_tree(["REPLY"]).to_json())
    options = {"--model": MODEL_FILE, "--prompt": "User: hello\nAction:", "--grammar": grammar, "--trie": tree}
    result = eliza_inference("generate", *(str(part) for option in options.items() for part in option))
    assert result.stdout == " REPLY\n"
    assert "warning: the grammar is switched off" in result.stderr


def test_a_path_without_a_trie_is_a_usage_error() -> None:
    result = run("generate", "--model", MODEL_FILE, "--prompt", "x", "--path", "action")
    assert result.exit_code == 2
    assert "--path needs --trie" in result.stderr


@pytest.mark.parametrize(
    ("option", "content", "pattern"),
    [
        ("--choices", " PLAY_MUSIC\n SET_TIMER\n", " (PLAY_MUSIC|SET_TIMER)"),
        ("--lark", 'start: " " NAME "()"\nNAME: "PLAY_MUSIC" | "SET_TIMER"\n', r" (PLAY_MUSIC|SET_TIMER)\(\)"),
        ("--schema", '{"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 2}', r"\[[^\]]*\]"),
        ("--regex", None, " [A-Z]{3}_x"),
        (
            "--tags",
            '{"tags": [{"begin": " ", "choices": ["PLAY_MUSIC", "SET_TIMER"], "end": "!"}], "at_least": 1, '
            '"stop_after_first": true}',
            "[^ ]* (PLAY_MUSIC|SET_TIMER)!",
        ),
    ],
)
def test_generate_with_a_recognizer(
    llama: LlamaInfo, tmp_path: Path, option: str, content: str | None, pattern: str
) -> None:
    value = pattern
    if content is not None:
        file = tmp_path / "rule"
        file.write_text(content)
        value = str(file)
    result = run("generate", "--model", MODEL_FILE, "--prompt", "User: hello\nAction:", option, value)
    assert result.exit_code == 0, result.output
    assert re.fullmatch(pattern + "\n", result.stdout)
    assert not result.stderr.startswith("name")


def test_generate_counts_what_it_wrote(llama: LlamaInfo) -> None:
    result = run("generate", "--model", MODEL_FILE, "--prompt", "User: hello\nAction:", "--regex", "a")
    assert result.stdout == "a\n"
    assert result.stderr.startswith("1 token, 1 of them forced, 1 forward pass, ")


def test_two_rules_are_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "choices"
    file.write_text("a\n")
    result = run("generate", "--model", MODEL_FILE, "--prompt", "x", "--choices", file, "--regex", "a")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def test_grammar_check_tells_sizes_and_warnings(llama: LlamaInfo, tmp_path: Path) -> None:
    file = tmp_path / "twice.lark"
    file.write_text('start: A "a"\nA: /a+/\n%lexing longest\n')
    for arguments in ([file], [file, "--model", MODEL_FILE]):
        result = run("grammar", "check", *arguments)
        assert result.exit_code == 0, result.output
        sizes, *warnings = result.stdout.splitlines()
        assert sizes.startswith(f"{file}: 2 terminals, ")
        assert any(warning.startswith("warning: ") and "A" in warning for warning in warnings)


def test_generate_tells_the_warnings_of_its_grammar(llama: LlamaInfo, tmp_path: Path) -> None:
    file = tmp_path / "twice.lark"
    file.write_text('start: " " A ["a"]\nA: /a+/\n%lexing longest\n')
    arguments = ("generate", "--model", MODEL_FILE, "--prompt", "a", "--lark", file, "--max-tokens", "2")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert re.match(r"warning: 2:1: A can take in the \"a\"", result.stderr), result.stderr


def test_generate_names_the_option_that_is_wrong(llama: LlamaInfo) -> None:
    generate = ("generate", "--model", MODEL_FILE, "--prompt", "a")
    assert "Error: --regex: at byte 0: " in run(*generate, "--regex", "(a").stderr
    for option, value in (("--temperature", "-1"), ("--top-p", "7"), ("--context-size", "-3")):
        result = run(*generate, option, value)
        assert result.exit_code == 2
        assert f"'{option}'" in result.stderr


def test_grammar_check_tells_what_is_wrong_and_where(tmp_path: Path) -> None:
    file = tmp_path / "bad.lark"
    ambiguous = 'start: start "+" start | "1"\n%conflicts refuse'
    for text, message in (("start: a", r":1:8: .*a"), (ambiguous, r":\d+:\d+: [^$]*\+")):
        file.write_text(text)
        result = run("grammar", "check", file)
        assert result.exit_code == 1
        assert re.match(f"Error: {re.escape(str(file))}{message}", result.stderr), result.stderr
    file.write_bytes(b'start: "\xff"')
    result = run("grammar", "check", file)
    assert result.exit_code == 1
    assert f"Error: {file}: not UTF-8" in result.stderr


def test_grammar_check_knows_the_notation_by_the_suffix(tmp_path: Path) -> None:
    for name, text in (("a.gbnf", 'root ::= "(" root ")" | .'), ("a.ebnf", 'root ::= "(" root\n ")" | [^]')):
        file = tmp_path / name
        file.write_text(text)
        result = run("grammar", "check", file)
        assert result.exit_code == 0, result.output
        assert re.match(rf"{re.escape(str(file))}: \d+ terminals?, ", result.stdout), result.stdout
    file.write_text("root ::= .")
    result = run("grammar", "check", file)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {file}:1:10: "), result.stderr


def test_schema_check_tells_size_and_notes_or_what_is_wrong_and_where(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "string", "format": "colour"}')
    result = run("schema", "check", file)
    assert result.exit_code == 0, result.output
    size, warning = result.stdout.splitlines()
    assert re.fullmatch(rf"{re.escape(str(file))}: 38 bytes, compiled in [0-9.]+ ms to [0-9]+ bytes", size)
    assert warning.startswith("warning: ") and "colour" in warning
    file.write_text('{"pattern": "(a)\\\\1"}')
    result = run("schema", "check", file)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {file}: at #/pattern: "), result.stderr
    assert result.stderr.endswith(" unsupported: it is not enforced\n")
    file.write_text('{"type": "int"}')
    assert run("schema", "check", file).stderr == f'Error: {file}: at #/type: no type is called "int"\n'
    file.write_text('{"pattern": "(a)\\\\1"}')
    result = run("schema", "check", file, "--lenient")
    assert result.exit_code == 0 and "warning: at #/pattern: " in result.stdout
    file.write_bytes(b'{"const": "\xff"}')
    assert f"Error: {file}: not UTF-8" in run("schema", "check", file).stderr


def test_schema_allowed_tells_what_may_and_must_follow(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object", "properties": {"n": {"minimum": 30, "maximum": 59}}, "required": ["n"]}')
    arguments = ("schema", "allowed", file, "--space", "compact")
    assert run(*arguments).stdout == 'may follow: {\nmust follow: {"n":\n'
    file.write_text('{"type": "integer", "minimum": 30, "maximum": 59}')
    assert run(*arguments).stdout == "may follow: 3..5\n"
    assert run(*arguments, "--after", "5").stdout == "may follow: 0..9\n"
    assert run(*arguments, "--after", "51").stdout == "may follow:\nmay end here\n"
    result = run(*arguments, "--after", "5x")
    assert result.exit_code == 1
    assert result.stderr == "Error: --after: at byte 1: no valid document continues with 'x'\n"
    other = tmp_path / "other.json"
    other.write_text('{"const": 12, "enum": [3]}')
    file.write_text('{"$ref": "http://h/a"}')
    documents = ("--document", "http://h/a", other, "--document", "http://h/b", other)
    assert run(*arguments, *documents, "--draft", "4").stdout == "may follow: 3\nmust follow: 3\n"
    assert f'{file}: at #/$ref: there is no "http://h/a"' in run(*arguments).stderr


def test_tags_check_and_allowed(tmp_path: Path) -> None:
    file = tmp_path / "tags.json"
    file.write_text('{"tags": [{"begin": "<a>", "choices": ["b"], "end": "</a>"}], "at_least": 1}')
    result = run("tags", "check", file)
    assert result.exit_code == 0, result.output
    sizes = rf"{re.escape(str(file))}: \d+ states of free text, \d+ bytes, compiled in [0-9.]+ ms\n"
    assert re.fullmatch(sizes, result.stdout)
    assert run("tags", "allowed", file, "--after", "x<a>").stdout == "may follow: b\nmust follow: b</a>\n"
    assert run("tags", "allowed", file, "--after", "<a>b</a>").stdout.endswith("may end here\n")
    result = run("tags", "allowed", file, "--after", "<a>c")
    assert result.stderr == "Error: --after: at byte 3: no text with these tags continues with 'c'\n"
    file.write_text('{"tags": [{"begin": "<a>", "regex": "("}]}')
    assert run("tags", "check", file).stderr.startswith(f"Error: {file}: tags[0]: ")


def test_an_error_is_a_message_without_a_traceback(llama: LlamaInfo, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF")
    result = run("generate", "--model", damaged, "--prompt", "x")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "damaged.gguf" in result.stderr


def test_trie_show_draws_choices_forced_runs_and_names(tree_file: Path) -> None:
    result = run("trie", "show", tree_file)
    assert result.exit_code == 0, result.output
    summary, *drawing = result.stdout.rstrip().splitlines()
    assert summary.startswith("for the model m: 3 names, ")
    assert [line.rstrip() for line in drawing] == [
        "action  3 names  after 3 4",
        "├── 5 → 6  REPLY  may end here with 2",
        "│   └── 7  REPLY_THREAD",
        "└── 8 → 9 10 11  SEND",
    ]


def test_trie_show_with_a_model_shows_texts(llama: LlamaInfo, model: Model, tmp_path: Path) -> None:
    file = tmp_path / "tree.json"
    file.write_text(model.token_tree(["SET_TIMER"]).to_json())
    result = run("trie", "show", file, "--model", MODEL_FILE)
    assert result.exit_code == 0, result.output
    assert "at most 1 legal token at a step" in result.stdout
    line = result.stdout.rstrip().splitlines()[-1]
    pieces = line.removeprefix("└── ").removesuffix("  SET_TIMER").replace(" → ", " ").split(" ")
    assert "".join(pieces) == "␣SET_TIMER"
    assert len(pieces) == len(model.tokenize(" SET_TIMER"))


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"{", "not JSON"),
        (b"\x81", "not MessagePack"),
        (b"", "neither JSON"),
        (b'{"modelId":"","descriptors":[{"path":"a","leaves":[]}]}', "descriptors[0].leaves"),
    ],
)
def test_trie_show_of_a_bad_payload_says_where(tmp_path: Path, payload: bytes, message: str) -> None:
    file = tmp_path / "bad"
    file.write_bytes(payload)
    result = run("trie", "show", file)
    assert result.exit_code == 1
    assert message in result.stderr


def test_doctor_tells_what_is_found(llama: LlamaInfo) -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "ABI" in result.stdout
    assert Path(llama.path).name in result.stdout
    assert llama.version in result.stdout
    assert "all is well" in result.stdout


def eliza_inference(*arguments: str, cwd: str | Path = "/", **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "eliza_inference.cli", *arguments],
        env=os.environ | {"COLUMNS": "300"} | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def with_python_path(folder: Path) -> str:
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def test_doctor_tells_what_to_do_without_a_libllama() -> None:
    result = eliza_inference("doctor", ELIZA_INFERENCE_LLAMA="/missing/libllama.so")
    assert result.returncode == 1
    assert "ELIZA_INFERENCE_LLAMA: /missing/libllama.so" in result.stdout


def test_doctor_finds_the_libllama_of_an_installed_python_package(llama: LlamaInfo, tmp_path: Path) -> None:
    package = tmp_path / "llama_cpp"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('the package is located, not imported')")
    for file in Path(llama.path).parent.iterdir():
        name = "libllama.so" if file == Path(llama.path) else file.name
        (package / "lib" / name).symlink_to(file)
    result = eliza_inference("doctor", ELIZA_INFERENCE_LLAMA="", PYTHONPATH=with_python_path(tmp_path))
    assert result.returncode == 0, result.stdout
    assert str(package / "lib" / "libllama.so") in result.stdout


def test_doctor_finds_the_libllama_of_a_node_package(llama: LlamaInfo) -> None:
    result = eliza_inference("doctor", cwd=TESTS / "llama", ELIZA_INFERENCE_LLAMA="")
    assert result.returncode == 0, result.stdout
    assert "@node-llama-cpp" in result.stdout


def test_doctor_tells_that_the_library_is_missing() -> None:
    result = eliza_inference("doctor", ELIZA_INFERENCE_LIBRARY="/missing/libelizainference.so")
    assert result.returncode == 1
    assert "/missing/libelizainference.so: not a usable libelizainference" in result.stdout


def test_doctor_tells_that_a_library_is_another_one(llama: LlamaInfo) -> None:
    result = eliza_inference("doctor", ELIZA_INFERENCE_LIBRARY=llama.path)
    assert result.returncode == 1
    assert "not a usable libelizainference" in result.stdout


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('no click', name='click')")
    result = eliza_inference("doctor", PYTHONPATH=with_python_path(tmp_path))
    assert result.returncode == 1
    assert "needs the package click: pip install click rich" in result.stderr


def test_generate_writes_a_schema_with_the_options_that_end_answers(llama: LlamaInfo, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    members = {"a": {"enum": [1, 2]}, "b": {"const": "x"}}
    schema.write_text(json.dumps({"type": "object", "properties": members, "required": ["a", "b"]}))
    given = ("generate", "--model", MODEL_FILE, "--prompt", "User: hello\nAction:")
    written = run(*given, "--schema", schema)
    assert written.stdout.strip() in ('{"a":1,"b":"x"}', '{"a":2,"b":"x"}')
    spaced = run(*given, "--schema", schema, "--space", "spaced")
    assert spaced.stdout.strip() in ('{"a": 1, "b": "x"}', '{"a": 2, "b": "x"}')
    assert "--space needs --schema" in run(*given, "--space", "spaced").stderr
