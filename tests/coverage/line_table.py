"""Reads from an ELF file where the code of each source line begins: the line number program of DWARF 5, section 6.2."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOAD = 1
COMPRESSED = 0x800


@dataclass(frozen=True)
class Row:
    address: int
    file: str
    line: int


class Elf:
    """Of 64 bits, little-endian."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit ELF file")
        segments_at, sections_at = struct.unpack_from("<QQ", self.data, 0x20)
        segment_size, n_segments, section_size, n_sections, names = struct.unpack_from("<HHHHH", self.data, 0x36)
        self._segments = [
            struct.unpack_from("<IIQQQQ", self.data, segments_at + i * segment_size) for i in range(n_segments)
        ]
        headers = [struct.unpack_from("<IIQQQQ", self.data, sections_at + i * section_size) for i in range(n_sections)]
        self._sections = {_text(self.data, headers[names][4] + header[0]): header for header in headers}

    def section(self, name: str) -> bytes:
        if name not in self._sections:
            return b""
        _, _, flags, _, offset, size = self._sections[name]
        data = self.data[offset : offset + size]
        return zlib.decompress(data[24:]) if flags & COMPRESSED else data

    def offset(self, address: int) -> int:
        """Where in the file the byte of an address is."""
        for kind, _, offset, start, _, size in self._segments:
            if kind == LOAD and start <= address < start + size:
                return int(offset + address - start)
        raise ValueError(f"{address:#x} is not in the file")


def rows(elf: Elf) -> Iterator[Row]:
    """The last row of each address, of those where a statement begins."""
    reader = Reader(elf.section(".debug_line"))
    strings = {0x1F: elf.section(".debug_line_str"), 0x0E: elf.section(".debug_str")}
    while reader.at < len(reader.data):
        yield from _unit(reader, strings)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, size: int, *, signed: bool = False) -> int:
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little", signed=signed)

    def leb(self) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed_leb(self) -> int:
        start = self.at
        value = self.leb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def text(self) -> str:
        found = _text(self.data, self.at)
        self.at = self.data.index(b"\0", self.at) + 1
        return found


def _unit(reader: Reader, strings: dict[int, bytes]) -> Iterator[Row]:
    length = reader.number(4)
    wide = 8 if length == 0xFFFFFFFF else 4
    if wide == 8:
        length = reader.number(8)
    end = reader.at + length
    if reader.number(2) != 5:
        reader.at = end  # of another language: C that is linked in
        return
    reader.at += 2  # sizes of addresses and segments
    program = reader.number(wide)
    program += reader.at
    minimum, _, _ = reader.number(1), reader.number(1), reader.number(1)
    base, line_range, opcode_base = reader.number(1, signed=True), reader.number(1), reader.number(1)
    lengths = [reader.number(1) for _ in range(opcode_base - 1)]
    folders = [path for path, _ in _entries(reader, strings, wide)]
    files = [_join(folders[folder], path) for path, folder in _entries(reader, strings, wide)]
    reader.at = program
    yield from _Program(reader, files, minimum, base, line_range, opcode_base, lengths).run(end)
    reader.at = end


def _join(folder: str, path: str) -> str:
    return path if path.startswith("/") else f"{folder}/{path}"


def _entries(reader: Reader, strings: dict[int, bytes], wide: int) -> list[tuple[str, int]]:
    """Paths, and the numbers of their folders."""
    formats = [(reader.leb(), reader.leb()) for _ in range(reader.number(1))]
    found = []
    for _ in range(reader.leb()):
        fields: dict[int, str | int] = {1: "", 2: 0}
        for content, form in formats:
            fields[content] = _field(reader, strings, form, wide)
        found.append((str(fields[1]), int(fields[2])))
    return found


def _field(reader: Reader, strings: dict[int, bytes], form: int, wide: int) -> str | int:
    if form in strings:
        return _text(strings[form], reader.number(wide))
    if form == 0x08:
        return reader.text()
    if form == 0x0F:
        return reader.leb()
    sizes = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
    return reader.number(sizes[form])


@dataclass
class _Program:
    reader: Reader
    files: list[str]
    minimum: int
    base: int
    range: int
    opcode_base: int
    lengths: list[int]

    def run(self, end: int) -> Iterator[Row]:
        reader = self.reader
        last: Row | None = None
        address, file, line, begins = 0, 1, 1, True
        while reader.at < end:
            opcode = reader.number(1)
            emits = False
            ends = False
            if opcode >= self.opcode_base:
                advance = opcode - self.opcode_base
                address += advance // self.range * self.minimum
                line += self.base + advance % self.range
                emits = True
            elif opcode == 0:
                next_at = reader.leb()
                next_at += reader.at
                extended = reader.number(1)
                if extended == 1:
                    ends = True
                elif extended == 2:
                    address = reader.number(next_at - reader.at)
                reader.at = next_at
            elif opcode == 1:
                emits = True
            elif opcode == 2:
                address += reader.leb() * self.minimum
            elif opcode == 3:
                line += reader.signed_leb()
            elif opcode == 4:
                file = reader.leb()
            elif opcode == 6:
                begins = not begins
            elif opcode == 8:
                address += (255 - self.opcode_base) // self.range * self.minimum
            elif opcode == 9:
                address += reader.number(2)
            else:
                for _ in range(self.lengths[opcode - 1]):
                    reader.leb()
            if last is not None and (ends or (emits and address != last.address)):
                yield last
                last = None
            if emits:
                last = Row(address, self.files[file], line) if begins else None
            if ends:
                address, file, line, begins = 0, 1, 1, True
