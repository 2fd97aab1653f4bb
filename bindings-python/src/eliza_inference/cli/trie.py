"""Drawing a token tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from eliza_inference.cli.payload import read_payload
from eliza_inference.cli.plural import counted
from eliza_inference.constraint import Constraint, ConstraintInfo
from eliza_inference.model import Model
from eliza_inference.token_tree import (
    TokenTree,
    TokenTreeDescriptor,
    TokenTreePart,
    TokenTrieNode,
    build_token_trie,
)
from eliza_inference.vocabulary import Vocabulary

TokenText = Callable[[int], str]


def show(console: Console, payload: Path, model_path: Path | None) -> None:
    """Prints the tree of each descriptor; compiles it first, so that a bad one is told as such."""
    tree = read_payload(payload)
    if model_path is None:
        info = Constraint(Vocabulary(_size_for(tree)), tree).info
        drawings = _draw(tree, str)
    else:
        with Model(model_path) as model:
            info = Constraint(model.vocabulary, tree).info
            drawings = _draw(tree, lambda token: _visible(model.detokenize([token], unparse_special=True)))
    console.print(_summary(tree, info), highlight=False, soft_wrap=True)
    for drawing in drawings:
        console.print(drawing, highlight=False)


def draw_descriptor(descriptor: TokenTreeDescriptor, token_text: TokenText) -> Tree:
    """The trie of a descriptor: a line for every choice, with the tokens that it forces."""
    end = " or ".join(token_text(token) for token in descriptor.end)
    drawing = Tree(_title(descriptor, counted(len(descriptor.leaves), "name"), token_text))
    waiting = [(drawing, build_token_trie(descriptor.leaves))]
    while waiting:
        branch, node = waiting.pop()
        for child in node.children.values():
            forced, last = _forced_run(child)
            line = Text(token_text(child.token_id), "bold")
            if forced:
                line.append(" → " + _run(forced, token_text), "cyan")
            if last.leaf_name is not None:
                line.append(f"  {last.leaf_name}", "green")
                if last.children:
                    line.append(f"  may end here{f' with {end}' if end else ''}", "yellow")
            waiting.append((branch.add(line), last))
    return drawing


def _draw(tree: TokenTree, token_text: TokenText) -> list[Tree]:
    return [
        Tree(_title(descriptor, f"a text: {descriptor.language}", token_text))
        if isinstance(descriptor, TokenTreePart)
        else draw_descriptor(descriptor, token_text)
        for descriptor in tree.descriptors
    ]


def _title(descriptor: TokenTreeDescriptor | TokenTreePart, what: str, token_text: TokenText) -> Text:
    title = Text.assemble((descriptor.path, "bold"), (f"  {what}", "dim"))
    for trigger in descriptor.trigger:
        title.append(f"  after {_run(trigger, token_text)}", "yellow")
    return title


def _forced_run(node: TokenTrieNode) -> tuple[list[int], TokenTrieNode]:
    """The tokens that must follow a node, and the node where a choice, or a name, is reached."""
    tokens = []
    while not node.is_terminal and len(node.children) == 1:
        (node,) = node.children.values()
        tokens.append(node.token_id)
    return tokens, node


def _run(tokens: list[int] | tuple[int, ...], token_text: TokenText) -> str:
    return " ".join(token_text(token) for token in tokens)


def _visible(text: str) -> str:
    """White space and control characters made visible, so that tokens can be told apart."""
    return "".join("␣" if each == " " else each if each.isprintable() else repr(each)[1:-1] for each in text)


def _summary(tree: TokenTree, info: ConstraintInfo) -> Text:
    model = f"for the model {tree.model_id}: " if tree.model_id else ""
    return Text(
        f"{model}{counted(info.n_leaves, 'name')}, {counted(info.n_nodes, 'node')}, "
        f"longest {counted(info.longest_leaf_tokens, 'token')}, "
        f"at most {counted(info.widest_node, 'legal token')} at a step, {counted(info.retained_bytes, 'byte')}",
        "dim",
    )


def _size_for(tree: TokenTree) -> int:
    """The smallest vocabulary that has all tokens of the tree."""
    highest = 0
    for descriptor in tree.descriptors:
        for tokens in (descriptor.end, *descriptor.trigger, *(leaf.tokens for leaf in descriptor.leaves)):
            highest = max(highest, *tokens, 0)
    return highest + 1
