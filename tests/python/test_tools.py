"""Tools, tool choices and response formats in the shapes of several APIs: tests/tool_calls/tools.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import Budget, Constraint, ElizaError, LimitError, Matcher, Step, Vocabulary, tool_templates

from json_schema_texts import accepts, byte_vocabulary

FILE = json.loads((Path(__file__).parent.parent / "tool_calls" / "tools.json").read_text(encoding="utf-8"))
Json = Any


def case_id(case: Json) -> Any:
    return case.get("name")


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


@pytest.mark.parametrize("case", FILE["shapes"], ids=case_id)
def test_shapes_of_tools(vocabulary: Vocabulary, case: Json) -> None:
    constraint = Constraint.tool_arguments(vocabulary, case["tool"])
    assert all(accepts(constraint, text) for text in case["legal"])
    assert not any(accepts(constraint, text) for text in case["illegal"])


@pytest.mark.parametrize("case", FILE["wrong"], ids=case_id)
def test_wrong_tools(vocabulary: Vocabulary, case: Json) -> None:
    with pytest.raises(ElizaError, match=re.escape(case["message"])) as failed:
        Constraint.tool_arguments(vocabulary, case["tool"])
    assert failed.value.message.startswith(case["message"])
    said = case["message"].replace("tool.", "tools[0].").replace("tool:", "tools[0]:")
    with pytest.raises(ElizaError, match=re.escape(said)):
        Constraint.tool_calls(vocabulary, [case["tool"]], template="harmony")


@pytest.mark.parametrize("case", FILE["choices"], ids=case_id)
def test_choices(vocabulary: Vocabulary, case: Json) -> None:
    tools = [{"name": name} for name in "abc"]
    calls = [f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>' for name in "abc"]
    constraint = Constraint.tool_calls(vocabulary, tools, case["choice"], template="hermes")
    legal = [name for name, call in zip("abc", calls, strict=True) if accepts(constraint, call)]
    assert legal == case["names"]
    assert accepts(constraint, "text") != case["required"]
    if legal:
        assert accepts(constraint, 2 * calls["abc".index(legal[0])]) == case["parallel"]


@pytest.mark.parametrize("case", FILE["wrong_choices"], ids=case_id)
def test_wrong_choices(vocabulary: Vocabulary, case: Json) -> None:
    with pytest.raises(ElizaError, match=re.escape(case["message"])):
        Constraint.tool_calls(vocabulary, [{"name": "a"}], case["choice"], template="hermes")


@pytest.mark.parametrize("case", FILE["response_formats"], ids=case_id)
def test_response_formats(vocabulary: Vocabulary, case: Json) -> None:
    constraint = Constraint.response_format(vocabulary, case["format"])
    assert constraint is not None
    assert all(accepts(constraint, text) for text in case["legal"])
    assert not any(accepts(constraint, text) for text in case["illegal"])


@pytest.mark.parametrize("case", FILE["wrong_response_formats"], ids=case_id)
def test_wrong_response_formats(vocabulary: Vocabulary, case: Json) -> None:
    with pytest.raises(ElizaError, match=re.escape(case["message"])):
        Constraint.response_format(vocabulary, case["format"])


def test_bad_tools_are_left_out(vocabulary: Vocabulary) -> None:
    case = FILE["skipped"]
    call = Constraint.tool_call(vocabulary, case["tools"], skip_bad_tools=True)
    assert call is not None
    calls = Constraint.tool_calls(vocabulary, case["tools"], template="hermes", skip_bad_tools=True)
    for constraint, text in ((call, case["legal"]), (calls, f"<tool_call>\n{case['legal']}\n</tool_call>")):
        assert len(constraint.warnings) == len(case["warnings"])
        for warning, expected in zip(sorted(constraint.warnings), sorted(case["warnings"]), strict=True):
            assert warning.startswith(expected)
        assert accepts(constraint, text)
        assert not accepts(constraint, text.replace("good", "odd"))


def test_all_tools_may_be_left_out(vocabulary: Vocabulary) -> None:
    bad = FILE["skipped"]["tools"][1:3]
    constraint = Constraint.tool_calls(vocabulary, bad, template="hermes", skip_bad_tools=True)
    assert len(constraint.warnings) == 2
    assert accepts(constraint, "text")
    assert not accepts(constraint, "<tool_call>")
    with pytest.raises(ElizaError, match=r'none is left; left out: tool "never"'):
        Constraint.tool_calls(vocabulary, bad, "required", template="hermes", skip_bad_tools=True)
    with pytest.raises(ElizaError, match=r'none is left: left out: tool "never"'):
        Constraint.tool_call(vocabulary, bad, skip_bad_tools=True)


def test_no_tool_is_left_out_because_time_is_up(vocabulary: Vocabulary) -> None:
    tools = [{"name": f"f{i}", "parameters": {"type": "object"}} for i in range(3000)]
    budget = Budget(ms_max=1)
    with pytest.raises(LimitError, match="ms_max"):
        Constraint.tool_call(vocabulary, tools, skip_bad_tools=True, budget=budget)
    with pytest.raises(LimitError, match="ms_max"):
        Constraint.tool_calls(vocabulary, tools, template="llama_function", skip_bad_tools=True, budget=budget)


@pytest.mark.parametrize("template", tool_templates())
def test_a_thousand_tools_fit_every_template(vocabulary: Vocabulary, template: str) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    tools = [{"name": f"mcp_server_name_tool_number_{i}", "inputSchema": schema} for i in range(1000)]
    constraint = Constraint.tool_calls(vocabulary, tools, template=template)
    form = tool_templates()[template]["calls"][0]
    before = form.get("row", {}).get("begin", "") + form["before_name"]
    for name, is_legal in (("mcp_server_name_tool_number_99", True), ("mcp_server_name_tool_number_x", False)):
        matcher = Matcher(constraint)
        refused = [byte for byte in f"{before}{name}".encode() if Step.REFUSED in matcher.accept(byte)]
        assert (refused == []) == is_legal
