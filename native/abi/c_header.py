"""Reads eliza_inference.h, with a C parser, into what the manifest says of it.

What is not understood is an error, so that the header cannot outgrow this program in silence.
"""

from __future__ import annotations

import re
from typing import Any

from pycparser import CParser, c_ast

from comments import Comments, blank, without_comments
from ownership import Entry, OwnershipError, add_field_owner, add_ownership

POINTER_BYTES = {"32": 4, "64": 8}

# C type -> (how a foreign-function interface passes it, bytes; None for those of a pointer).
NUMBERS: dict[str, tuple[str, int | None]] = {
    "int": ("i32", 4),
    "int32_t": ("i32", 4),
    "uint32_t": ("u32", 4),
    "uint64_t": ("u64", 8),
    "size_t": ("usize", None),
    "float": ("f32", 4),
}
BYTES = {"char", "int8_t", "uint8_t", "void"}

# The types that the header includes; the parser must only know that they are types.
INCLUDED_NAMES = ("int32_t", "uint32_t", "uint64_t", "size_t", "int8_t", "uint8_t")
INCLUDED = "".join(f"typedef int {name};" for name in INCLUDED_NAMES)

ONLY_CPLUSPLUS = re.compile(r"^#ifdef __cplusplus\n.*?^#endif$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r"^#.*$", re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+) +(\S.*?) *$", re.MULTILINE)
INTEGER = re.compile(r"\(?(-?\d+)u?\)?")


class HeaderError(Exception):
    """A declaration that is not understood."""


def read_header(text: str) -> Entry:
    """The manifest of a header; the first size of a struct is its size, since no other is known here."""
    comments = Comments(text)
    code = ONLY_CPLUSPLUS.sub(blank, without_comments(text))
    declarations = Declarations(comments)
    for node in CParser().parse(f'{INCLUDED}\n# 1 "header"\n{DIRECTIVE.sub("", code)}', "included").ext:
        if node.coord.file == "header":
            declarations.add(node)
    constants = []
    for define in DEFINE.finditer(code):
        line = code.count("\n", 0, define.start()) + 1
        constants.append({"name": define[1], "value": integer(define), "section": comments.section(line)})
    version = [constant["value"] for constant in constants if constant["name"] == "ELIZA_INFERENCE_ABI_VERSION"]
    if not version:
        raise HeaderError("ELIZA_INFERENCE_ABI_VERSION is not defined")
    return {"abi_version": version[0], "constants": constants, **declarations.entries()}


def integer(define: re.Match[str]) -> int:
    found = INTEGER.fullmatch(define[2])
    if found is None:
        raise HeaderError(f"#define {define[1]}: {define[2]} is not an integer")
    return int(found[1])


class Declarations:
    def __init__(self, comments: Comments) -> None:
        self.comments = comments
        self.comment_of: dict[str, str] = {}
        self.named: set[str] = set()
        self.aliases: dict[str, Entry] = {}
        self.callbacks: dict[str, Entry] = {}
        self.structs: dict[str, Entry] = {}
        self.functions: dict[str, Entry] = {}

    def entries(self) -> Entry:
        """By kind, each in the order of the header."""
        handles = self.named - self.structs.keys()
        try:
            add_ownership(self.functions, handles, self.comment_of)
        except OwnershipError as error:
            raise HeaderError(str(error)) from error
        return {
            "handles": sorted(handles),
            "aliases": list(self.aliases.values()),
            "callbacks": list(self.callbacks.values()),
            "structs": list(self.structs.values()),
            "functions": list(self.functions.values()),
        }

    def add(self, node: Any) -> None:
        """One declaration of the header."""
        name, type_ = node.name, node.type
        place = {"name": name, "section": self.comments.section(node.coord.line)}
        self.comment_of[name] = self.comments.above(node.coord.line)
        match node, type_:
            case c_ast.Decl(), c_ast.FuncDecl():
                self.functions[name] = place | self.signature(name, type_)
            case c_ast.Decl(), c_ast.Struct(decls=None):
                self.named.add(f"struct {type_.name}")
            case c_ast.Typedef(), c_ast.PtrDecl(type=c_ast.FuncDecl()):
                self.callbacks[name] = place | self.signature(name, type_.type)
            case c_ast.Typedef(), c_ast.PtrDecl():
                self.aliases[name] = place | self.passed(type_, name)
            case c_ast.Typedef(), c_ast.TypeDecl(type=c_ast.Struct(name=tag)) if tag == name:
                self.named.add(name)
                if type_.type.decls is not None:
                    self.structs[name] = place | self.struct(name, type_.type)
            case _:
                raise HeaderError(f"line {node.coord.line}: {name} is no function, struct, callback or pointer")

    def struct(self, name: str, node: Any) -> Entry:
        fields = []
        for declared in node.decls:
            field = {"name": declared.name} | self.passed(declared.type, f"{name}.{declared.name}")
            add_field_owner(field, self.comments.beside(declared.coord.line))
            fields.append(field)
        size = {width: lay_out(fields, width) for width in POINTER_BYTES}
        knows_its_size = fields[0]["name"] == "struct_size"
        return {"size": size, **({"first_size": size} if knows_its_size else {}), "fields": fields}

    def signature(self, name: str, node: Any) -> Entry:
        declared = node.args.params if node.args else []
        types = [spelled(parameter.type) for parameter in declared]
        if types == ["void"]:
            declared = []
        parameters = []
        for i, parameter in enumerate(declared):
            entry = {"name": parameter.name} | self.passed(parameter.type, f"{name}, {parameter.name}")
            if types[i] == "const char *" and types[i + 1 : i + 2] != ["size_t"]:
                entry["ffi"] = "cstring"  # without a length, it ends with a zero
            parameters.append(entry)
        returns = self.passed(node.type, f"what {name} returns")
        if returns["type"] == "const char *":
            returns["ffi"] = "cstring"
        return {"returns": returns, "parameters": parameters}

    def passed(self, node: Any, where: str) -> Entry:
        """A type, and how a foreign-function interface passes it."""
        type_ = spelled(node)
        if type_ in NUMBERS:
            ffi = NUMBERS[type_][0]
        elif type_ in self.callbacks:
            ffi = "callback"
        elif type_ in self.aliases or self.is_pointer(type_):
            ffi = "pointer"
        elif type_ == "void" and where.endswith("returns"):
            ffi = "void"
        else:
            raise HeaderError(f"{where}: the ABI has no place for the type {type_}")
        return {"type": type_, "ffi": ffi}

    def is_pointer(self, type_: str) -> bool:
        pointee = " ".join(word for word in type_.replace("*", " ").split() if word != "const")
        return type_.endswith("*") and pointee in NUMBERS.keys() | BYTES | self.named


def lay_out(fields: list[Entry], width: str) -> int:
    """Puts each field at the next multiple of its size, as every platform that is supported does. Returns the size."""
    end = alignment = 0
    for field in fields:
        size = NUMBERS.get(field["type"], ("", None))[1] or POINTER_BYTES[width]
        at = round_up(end, size)
        field.setdefault("offset", {})[width] = at
        end, alignment = at + size, max(alignment, size)
    return round_up(end, alignment)


def round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def spelled(node: Any) -> str:
    """A type as the header writes it: `const char *`, `eliza_matcher *const *`."""
    if isinstance(node, c_ast.PtrDecl):
        pointee = spelled(node.type)
        return pointee + ("*" if pointee.endswith("*") else " *") + " ".join(node.quals)
    if not isinstance(node, c_ast.TypeDecl) or not isinstance(node.type, (c_ast.Struct, c_ast.IdentifierType)):
        raise HeaderError(f"line {node.coord.line}: arrays, unions and enumerations have no place in the ABI")
    words = ["struct", node.type.name] if isinstance(node.type, c_ast.Struct) else node.type.names
    return " ".join([*node.quals, *words])
