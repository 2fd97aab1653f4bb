//! The names that a shared library exports, out of ELF of 32 and 64 bits, Mach-O and PE files.

const std = @import("std");

/// `NotALibrary`: none of these formats, or damaged.
pub const Error = error{ OutOfMemory, NotALibrary };

/// Sorted by bytes. Names may be slices of `file`; the rest is in `arena`.
pub fn names(arena: std.mem.Allocator, file: []const u8) Error![][]const u8 {
    const image: Image = .{ .bytes = file };
    var found: std.ArrayList([]const u8) = .empty;
    if (std.mem.startsWith(u8, file, "\x7fELF\x01")) {
        try elf(image, .narrow, arena, &found);
    } else if (std.mem.startsWith(u8, file, "\x7fELF\x02")) {
        try elf(image, .wide, arena, &found);
    } else if (std.mem.startsWith(u8, file, "\xcf\xfa\xed\xfe")) {
        try macho(image, arena, &found);
    } else if (std.mem.startsWith(u8, file, "MZ")) {
        try pe(image, arena, &found);
    } else return error.NotALibrary;
    std.mem.sort([]const u8, found.items, {}, lessThan);
    return found.items;
}

fn lessThan(_: void, a: []const u8, b: []const u8) bool {
    return std.mem.lessThan(u8, a, b);
}

/// Little-endian numbers and terminated strings at offsets of the file.
const Image = struct {
    bytes: []const u8,

    fn int(image: Image, comptime T: type, at: usize) error{NotALibrary}!T {
        if (at > image.bytes.len or image.bytes.len - at < @sizeOf(T)) return error.NotALibrary;
        return std.mem.readInt(T, image.bytes[at..][0..@sizeOf(T)], .little);
    }

    fn string(image: Image, at: usize) error{NotALibrary}![]const u8 {
        if (at >= image.bytes.len) return error.NotALibrary;
        const end = std.mem.findScalarPos(u8, image.bytes, at, 0) orelse return error.NotALibrary;
        return image.bytes[at..end];
    }
};

const Width = enum { narrow, wide };

/// The defined symbols of the dynamic symbol table.
fn elf(image: Image, comptime width: Width, arena: std.mem.Allocator, found: *std.ArrayList([]const u8)) Error!void {
    const wide = width == .wide;
    const Word = if (wide) u64 else u32;
    const section_table: usize = @intCast(try image.int(Word, if (wide) 0x28 else 0x20));
    const section_bytes: usize = try image.int(u16, if (wide) 0x3a else 0x2e);
    const n_sections = try image.int(u16, if (wide) 0x3c else 0x30);
    const offset_field, const size_field, const link_field = if (wide) .{ 0x18, 0x20, 0x28 } else .{ 0x10, 0x14, 0x18 };
    for (0..n_sections) |i| {
        const section = section_table + i * section_bytes;
        if (try image.int(u32, section + 4) != @backingInt(std.elf.SHT.DYNSYM)) continue;
        const symbols: usize = @intCast(try image.int(Word, section + offset_field));
        const size: usize = @intCast(try image.int(Word, section + size_field));
        const link: usize = try image.int(u32, section + link_field);
        const strings: usize = @intCast(try image.int(Word, section_table + link * section_bytes + offset_field));
        const symbol_bytes, const section_field = if (wide) .{ 24, 6 } else .{ 16, 14 };
        var symbol = symbols;
        while (symbol < symbols + size) : (symbol += symbol_bytes) {
            if (try image.int(u16, symbol + section_field) == 0) continue; // not defined here
            try found.append(arena, try image.string(strings + try image.int(u32, symbol)));
        }
    }
}

/// The names of the export trie, without the underscore that C names have.
fn macho(image: Image, arena: std.mem.Allocator, found: *std.ArrayList([]const u8)) Error!void {
    const n_commands = try image.int(u32, 16);
    var command: usize = @sizeOf(std.macho.mach_header_64);
    for (0..n_commands) |_| {
        const kind: std.macho.LC = @fromBackingInt(try image.int(u32, command));
        const field: usize = switch (kind) {
            .DYLD_INFO, .DYLD_INFO_ONLY => 40,
            .DYLD_EXPORTS_TRIE => 8,
            else => 0,
        };
        if (field != 0 and try image.int(u32, command + field + 4) != 0) {
            const trie = try image.int(u32, command + field);
            try walkTrie(image, trie, 0, "", 0, arena, found);
        }
        command += try image.int(u32, command + 4);
    }
}

fn walkTrie(
    image: Image,
    trie: usize,
    node: usize,
    prefix: []const u8,
    depth: usize,
    arena: std.mem.Allocator,
    found: *std.ArrayList([]const u8),
) Error!void {
    if (depth > 256) return error.NotALibrary;
    var at = trie + node;
    const terminal_bytes = try uleb(image, &at);
    if (terminal_bytes > 0) try found.append(arena, if (std.mem.startsWith(u8, prefix, "_")) prefix[1..] else prefix);
    at += terminal_bytes;
    const n_children = try image.int(u8, at);
    at += 1;
    for (0..n_children) |_| {
        const edge = try image.string(at);
        at += edge.len + 1;
        const child = try uleb(image, &at);
        try walkTrie(image, trie, child, try std.mem.concat(arena, u8, &.{ prefix, edge }), depth + 1, arena, found);
    }
}

fn uleb(image: Image, at: *usize) error{NotALibrary}!usize {
    var value: usize = 0;
    for (0..5) |i| {
        const byte = try image.int(u8, at.*);
        at.* += 1;
        value |= @as(usize, byte & 0x7f) << @intCast(7 * i);
        if (byte & 0x80 == 0) return value;
    }
    return error.NotALibrary;
}

/// The names of the export directory.
fn pe(image: Image, arena: std.mem.Allocator, found: *std.ArrayList([]const u8)) Error!void {
    const coff: usize = try image.int(u32, 0x3c) + 4;
    const n_sections = try image.int(u16, coff + 2);
    const optional = coff + 20;
    const sections = optional + try image.int(u16, coff + 16);
    const directory = try fileOffset(image, sections, n_sections, try image.int(u32, optional + 112));
    const n_names = try image.int(u32, directory + 24);
    const pointers = try fileOffset(image, sections, n_sections, try image.int(u32, directory + 32));
    for (0..n_names) |i| {
        const name = try fileOffset(image, sections, n_sections, try image.int(u32, pointers + 4 * i));
        try found.append(arena, try image.string(name));
    }
}

fn fileOffset(image: Image, sections: usize, n_sections: usize, address: u32) error{NotALibrary}!usize {
    for (0..n_sections) |i| {
        const section = sections + 40 * i;
        const start = try image.int(u32, section + 12);
        const size = try image.int(u32, section + 16);
        if (address >= start and address - start < size) return address - start + try image.int(u32, section + 20);
    }
    return error.NotALibrary;
}
