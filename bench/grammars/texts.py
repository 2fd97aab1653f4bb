"""Documents of the grammars: written by rules like theirs, from a seed."""

import json
import random
from collections.abc import Callable

SEED = 20261122
HIRAGANA = [chr(code) for code in range(0x3041, 0x3094)]
KATAKANA = [chr(code) for code in range(0x30A1, 0x30F7)]
WORDS = [
    "本を読む",
    "東京",
    "学校へ行く",
    "今日は天気がいい",
    "コンピュータ",
    "私の名前",
    "ありがとう",
    "新しい",
    "電車",
]
ITEMS = ["apples and pears", "a loaf of bread", "two lemons, ripe", "Käse (250 g)", "coffee - ground", "rice & beans"]
NAMES = ["x", "count", "total_1", "next", "value2", "buffer", "i"]


def json_objects(count: int) -> list[str]:
    """As a model writes them: a little white space, escapes, all kinds of values."""
    source = random.Random(SEED)

    def value(depth: int) -> object:
        kind = source.random()
        if depth > 2 or kind < 0.5:
            return source.choice(
                [source.randint(-999, 99999), round(source.random(), 3), True, None, 'a "quoted" word\n', "Zürich 7"]
            )
        if kind < 0.75:
            return [value(depth + 1) for _ in range(source.randint(0, 4))]
        return {f"key_{n}": value(depth + 1) for n in range(source.randint(1, 4))}

    return [json.dumps({"name": value(0), "items": [value(1), value(1)]}, ensure_ascii=False) for _ in range(count)]


def c_functions(count: int) -> list[str]:
    """Functions of the small C of llama.cpp's c.gbnf."""
    source = random.Random(SEED)

    def expression(depth: int) -> str:
        kind = source.random()
        if depth > 2 or kind < 0.5:
            return source.choice([*NAMES, "0", "42", "1000"])
        if kind < 0.7:
            return expression(depth + 1) + source.choice("+-*/") + expression(depth + 2)
        if kind < 0.85:
            return f"( {expression(depth + 1)} )"
        return f"call({expression(depth + 1)}, {source.choice(NAMES)})"

    def condition() -> str:
        return expression(1) + source.choice(["<", "<=", "==", "!=", ">"]) + expression(2)

    def statement(depth: int) -> str:
        name, kind = source.choice(NAMES), source.random()
        if depth > 2 or kind < 0.4:
            return f"{source.choice(['', 'int ', 'float '])}{name} = {expression(0)};"
        if kind < 0.5:
            return f"print ({expression(0)}, {name});"
        if kind < 0.6:
            return f"while({condition()}){{{statements(depth + 1)}}}"
        if kind < 0.7:
            return f"for(i = 0; {condition()}; i = i+1){{{statements(depth + 1)}}}"
        if kind < 0.85:
            return f"if({condition()}){{{statements(depth + 1)}}}else{{{statements(depth + 1)}}}"
        return source.choice(["// the next one\n", "/* as it was * before */"])

    def statements(depth: int) -> str:
        return "".join(statement(depth) for _ in range(source.randint(1, 3)))

    return [f"int f{n}(int x){{{statements(0)}{statements(0)}return {expression(0)};}}" for n in range(count)]


def japanese(count: int) -> list[str]:
    source = random.Random(SEED)

    def word() -> str:
        made = source.choice([HIRAGANA, KATAKANA])
        return source.choice([source.choice(WORDS), "".join(source.choices(made, k=source.randint(2, 5)))])

    return [" ".join(word() + source.choice(["", "、", "。"]) for _ in range(14)) for _ in range(count)]


def chess(count: int) -> list[str]:
    """Moves as they are written; nobody could play them."""
    source = random.Random(SEED)

    def move() -> str:
        square = source.choice("abcdefgh") + source.choice("12345678")
        taken = source.choice(["", "", "x"])
        kind = source.random()
        if kind < 0.4:
            return source.choice(["", "", source.choice("abcdefgh") + "x"]) + square
        if kind < 0.9:
            return source.choice("NBKQR") + taken + square + source.choice(["", "", "+"])
        return source.choice(["O-O", "O-O-O", square + "=Q"])

    return ["".join(f"{n}. {move()} {move()}\n" for n in range(1, 21)) for _ in range(count)]


def arithmetic(count: int) -> list[str]:
    source = random.Random(SEED)

    def term(depth: int) -> str:
        if depth < 3 and source.random() < 0.3:
            return f"({source.choice(['', ' '])}{expression(depth + 1)})"
        return source.choice(["x", "rate", "y_2", "7", "128", "33"]) + source.choice(["", " "])

    def expression(depth: int) -> str:
        return source.choice("+-*/").join(term(depth) for _ in range(source.randint(1, 4)))

    return ["".join(f"{expression(0)}= {term(3).strip()}\n" for _ in range(6)) for _ in range(count)]


def lists(count: int) -> list[str]:
    source = random.Random(SEED)
    return ["".join(f"- {source.choice(ITEMS)}\n" for _ in range(12)) for _ in range(count)]


def sql_queries(count: int) -> list[str]:
    source = random.Random(SEED)

    def expression(depth: int) -> str:
        kind = source.random()
        if depth > 3 or kind < 0.35:
            return source.choice(["a", "t1.price", "qty", "12", "3.5", "'x y'", "round(a, 2)"])
        if kind < 0.6:
            between = source.choice([" AND ", " OR ", " = ", " + ", "*", " <= "])
            return expression(depth + 1) + between + expression(depth + 1)
        if kind < 0.7:
            return f"({expression(depth + 1)})"
        if kind < 0.8:
            return f"NOT {expression(depth + 1)}"
        if kind < 0.9:
            return f"{expression(depth + 1)} IN (1, 2, a)"
        return f"CASE WHEN {expression(depth + 1)} THEN {expression(depth + 1)} END"

    def query() -> str:
        columns = ", ".join(expression(0) for _ in range(8))
        return f"SELECT {columns} FROM t WHERE {' AND '.join(expression(0) for _ in range(16))};"

    return [query() for _ in range(count)]


def python_modules(count: int) -> list[str]:
    """Functions with blocks in blocks, calls, comprehensions, strings and comments."""
    source = random.Random(SEED)

    def expression(depth: int) -> str:
        kind = source.random()
        if depth > 2 or kind < 0.4:
            return source.choice([*NAMES, "self.items[0]", "42", "0.5", "None", "'a text'", 'f"{x}"'])
        if kind < 0.6:
            return expression(depth + 1) + source.choice([" + ", " * ", " and ", " == ", " not in "]) + expression(2)
        if kind < 0.8:
            return f"{source.choice(NAMES)}({expression(depth + 1)}, key={expression(depth + 1)})"
        if kind < 0.9:
            return f"[{expression(depth + 1)} for i in {source.choice(NAMES)} if {expression(2)}]"
        return f"{{'a': {expression(depth + 1)}, **{source.choice(NAMES)}}}"

    def block(depth: int) -> str:
        return "".join(statement(depth) for _ in range(source.randint(1, 3)))

    def statement(depth: int) -> str:
        space, kind = "    " * depth, source.random()
        if depth > 3 or kind < 0.5:
            return f"{space}{source.choice(['', 'x = ', 'a, b = ', 'return ', 'count += '])}{expression(0)}\n"
        if kind < 0.7:
            return f"{space}if {expression(1)}:\n{block(depth + 1)}{space}else:\n{block(depth + 1)}"
        if kind < 0.8:
            return f"{space}for i, each in enumerate({expression(1)}):\n{block(depth + 1)}"
        if kind < 0.9:
            return f"{space}with open(path) as file:  # it is there\n{block(depth + 1)}"
        return f"{space}try:\n{block(depth + 1)}{space}except ValueError as error:\n{block(depth + 1)}"

    return [
        "".join(f"def {name}(self, x: int = 3, *rest) -> str:\n{block(1)}\n" for name in NAMES[:4])
        for _ in range(count)
    ]


def answers(count: int, call: str) -> list[str]:
    """Free text of a model that thinks, with a call at the end of each paragraph."""
    paragraph = (
        "The user asks for the weather in Berlin. I think that a < b holds, so I look at <functions and 2 << 3 of this"
        " code; let me call a tool now.\n\nFirst, what is the temperature? I do not know it, hence:\n"
    )
    return [(paragraph * 3 + call + "\n") * 4 for _ in range(count)]


def sums(length: int) -> str:
    """Numbers with operators between them, some in parentheses: at least so many characters."""
    source = random.Random(SEED)

    def one() -> str:
        number = str(source.randint(0, 99))
        return f"({number}{source.choice('+*')}{source.randint(0, 9)})" if source.random() < 0.2 else number

    text = one()
    while len(text) < length:
        text += source.choice("+*") + one()
    return text


GBNF_DOCUMENTS: dict[str, Callable[[int], list[str]]] = {
    "json": json_objects,
    "c": c_functions,
    "japanese": japanese,
    "chess": chess,
    "arithmetic": arithmetic,
    "list": lists,
}
