//! Properties of characters as ranges of code points, unpacked from the tables of tools/unicode_tables.py.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Range = @import("ast.zig").Range;
const tables = @import("unicode_tables.zig");

/// U+10FFFF, the last one of Unicode.
pub const last_code_point = 0x10ffff;

/// What \p{...} can name.
pub const Property = union(enum) {
    /// Bit c: general category c of the tables.
    categories: u32,
    script: Listed,
    /// Characters that are used with a script, of whatever script they are.
    extensions: Listed,
    /// As `Emoji`.
    binary: Listed,

    pub const Listed = struct { index: u8, negated: bool = false };

    /// What the property's characters leave of all code points, surrogates included.
    pub fn complement(property: Property) Property {
        return switch (property) {
            .categories => |mask| .{ .categories = ~mask & all_categories },
            inline .script, .extensions, .binary => |listed, tag| @unionInit(
                Property,
                @tagName(tag),
                .{ .index = listed.index, .negated = !listed.negated },
            ),
        };
    }

    /// Of a property that is listed: smaller than `numbers_max`, and no other's.
    pub fn number(property: Property) usize {
        return switch (property) {
            .categories => unreachable,
            inline .script, .extensions, .binary => |listed, tag| (@as(usize, @backingInt(tag)) << 8 | listed.index) << 1 |
                @intFromBool(listed.negated),
        };
    }

    pub const numbers_max = 4 << 9;

    const all_categories = (1 << 30) - 1;
};

/// The characters of \d: decimal digits of all scripts.
pub const digit: Property = .{ .categories = tables.digit_mask };
/// The characters of \s: white space.
pub const space: []const Range = &tables.space;

/// A general category, a binary property or a script by its short or its long name, or a value as `sc=Greek`; case, spaces, `-`
/// and `_` do not count. null: no such name.
pub fn find(name: []const u8) ?Property {
    var buffer: [32]u8 = undefined;
    const equals = std.mem.findScalar(u8, name, '=') orelse {
        const loose = loosen(&buffer, name) orelse return null;
        if (indexOf(tables.category_names, loose)) |i| return .{ .categories = tables.category_masks[i] };
        if (indexOf(tables.binary_names, loose)) |i| return .{ .binary = .{ .index = @intCast(i) } };
        if (indexOf(tables.script_names, loose)) |i| return .{ .script = .{ .index = @intCast(i) } };
        return null;
    };
    const key = indexOf("generalcategory,gc;script,sc;scriptextensions,scx", loosen(&buffer, name[0..equals]) orelse return null) orelse
        return null;
    const value = loosen(&buffer, name[equals + 1 ..]) orelse return null;
    const i = indexOf(if (key == 0) tables.category_names else tables.script_names, value) orelse return null;
    return switch (key) {
        0 => .{ .categories = tables.category_masks[i] },
        1 => .{ .script = .{ .index = @intCast(i) } },
        else => .{ .extensions = .{ .index = @intCast(i) } },
    };
}

/// Appends the property's ranges, ascending. Unpacks a whole table: a few thousand steps.
pub fn append(gpa: Allocator, ranges: *ArrayList(Range), property: Property) Allocator.Error!void {
    switch (property) {
        .categories => |mask| try appendCategories(gpa, ranges, mask),
        .script => |script| try appendScript(gpa, ranges, script.index, script.negated),
        .extensions => |script| try appendExtensions(gpa, ranges, script.index, script.negated),
        .binary => |binary| try appendBinary(gpa, ranges, binary.index, binary.negated),
    }
}

/// The characters of \w as UTS #18 has them: letters, marks, decimal digits, connector punctuation,
/// joiners.
pub fn appendWord(gpa: Allocator, ranges: *ArrayList(Range)) Allocator.Error!void {
    const first = ranges.items.len;
    try appendCategories(gpa, ranges, tables.word_mask);
    var at = first;
    for (tables.word_extra) |extra| {
        while (at < ranges.items.len and ranges.items[at].first < extra.first) at += 1;
        try ranges.insert(gpa, at, extra);
    }
}

fn loosen(buffer: []u8, name: []const u8) ?[]const u8 {
    var length: usize = 0;
    for (name) |byte| {
        if (byte == ' ' or byte == '_' or byte == '-') continue;
        if (length == buffer.len) return null;
        buffer[length] = std.ascii.toLower(byte);
        length += 1;
    }
    return buffer[0..length];
}

/// Index of the group that has the name. Groups are separated by `;`, their names by `,`.
fn indexOf(groups: []const u8, name: []const u8) ?usize {
    var index: usize = 0;
    var from: usize = 0;
    for (groups, 0..) |byte, at| {
        const border = byte == ',' or byte == ';';
        if (border and std.mem.eql(u8, groups[from..at], name)) return index;
        if (border) from = at + 1;
        index += @intFromBool(byte == ';');
    }
    return if (std.mem.eql(u8, groups[from..], name)) index else null;
}

const Reader = struct {
    bytes: []const u8,

    fn byte(r: *Reader) u8 {
        defer r.bytes = r.bytes[1..];
        return r.bytes[0];
    }

    fn varint(r: *Reader) u32 {
        var value: u32 = 0;
        var shift: u5 = 0;
        while (true) : (shift += 7) {
            const part = r.byte();
            value |= @as(u32, part & 0x7f) << shift;
            if (part < 0x80) return value;
        }
    }
};

const pairs_of_upper_and_lower = 30;

fn appendCategories(gpa: Allocator, ranges: *ArrayList(Range), mask: u32) Allocator.Error!void {
    var reader: Reader = .{ .bytes = tables.categories };
    var at: u32 = 0;
    while (reader.bytes.len > 0) {
        const head = reader.byte();
        var length: u32 = (head >> 5) + 1;
        if (length == 8) length += reader.varint();
        const category: u5 = @truncate(head);
        if (category != pairs_of_upper_and_lower) {
            if (mask >> category & 1 != 0) try extend(gpa, ranges, at, length);
            at += length;
        } else for (0..length) |_| {
            if (mask & 1 != 0) try extend(gpa, ranges, at, 1);
            if (mask & 2 != 0) try extend(gpa, ranges, at + 1, 1);
            at += 2;
        }
    }
}

fn appendScript(gpa: Allocator, ranges: *ArrayList(Range), script: u8, negated: bool) Allocator.Error!void {
    var reader: Reader = .{ .bytes = tables.scripts };
    var at: u32 = 0;
    while (reader.bytes.len > 0) {
        const found = reader.byte() == script;
        const length = reader.varint();
        if (found != negated) try extend(gpa, ranges, at, length);
        at += length;
    }
}

fn appendBinary(gpa: Allocator, ranges: *ArrayList(Range), index: u8, negated: bool) Allocator.Error!void {
    var of_categories: ArrayList(Range) = .empty;
    defer of_categories.deinit(gpa);
    try appendCategories(gpa, &of_categories, tables.binary_masks[index]);
    var others: ArrayList(Range) = .empty;
    defer others.deinit(gpa);
    var reader: Reader = .{ .bytes = tables.binary };
    for (0..index) |_| for (0..reader.varint()) |_| {
        _ = reader.varint();
    };
    var at: u32 = 0;
    for (0..reader.varint() / 2) |_| {
        at += reader.varint();
        const length = reader.varint();
        try extend(gpa, &others, at, length);
        at += length;
    }
    try sweep(gpa, ranges, &.{ of_categories.items, others.items }, if (negated) 0b1001 else 0b0110);
}

fn appendExtensions(gpa: Allocator, ranges: *ArrayList(Range), script: u8, negated: bool) Allocator.Error!void {
    var own: ArrayList(Range) = .empty;
    var listed: ArrayList(Range) = .empty; // what has extensions, and what has this one
    var with: ArrayList(Range) = .empty;
    defer for ([_]*ArrayList(Range){ &own, &listed, &with }) |list| list.deinit(gpa);
    try appendScript(gpa, &own, script, false);
    var reader: Reader = .{ .bytes = tables.script_extensions };
    var at: u32 = 0;
    while (reader.bytes.len > 0) {
        at += reader.varint();
        const length = reader.varint();
        var found = false;
        for (0..reader.varint()) |_| found = reader.byte() == script or found;
        try extend(gpa, &listed, at, length);
        if (found) try extend(gpa, &with, at, length);
        at += length;
    }
    const truth = 0b11110010;
    try sweep(gpa, ranges, &.{ own.items, listed.items, with.items }, if (negated) ~@as(u8, truth) else truth);
}

/// Appends the code points for which bit b of `truth` is set, where bit i of b says whether list i has them. Lists ascend.
fn sweep(gpa: Allocator, ranges: *ArrayList(Range), lists: []const []const Range, truth: u8) Allocator.Error!void {
    var passed: [3]usize = @splat(0); // edges of each list: where a range begins, and after its end
    var at: u32 = 0;
    while (at <= last_code_point) {
        var bits: u3 = 0;
        var next: u32 = last_code_point + 1;
        for (lists, passed[0..lists.len], 0..) |list, n, i| {
            if (n % 2 == 1) bits |= @as(u3, 1) << @intCast(i);
            if (n < 2 * list.len) next = @min(next, edgeOf(list, n));
        }
        if (truth >> bits & 1 != 0 and next > at) try extend(gpa, ranges, at, next - at);
        for (lists, passed[0..lists.len]) |list, *n| {
            if (n.* < 2 * list.len and edgeOf(list, n.*) == next) n.* += 1;
        }
        at = next;
    }
}

fn edgeOf(list: []const Range, n: usize) u32 {
    const range = list[n / 2];
    return if (n % 2 == 0) range.first else @as(u32, range.last) + 1;
}

fn extend(gpa: Allocator, ranges: *ArrayList(Range), first: u32, length: u32) Allocator.Error!void {
    const last: u21 = @intCast(first + length - 1);
    if (ranges.items.len > 0) {
        const before = &ranges.items[ranges.items.len - 1];
        if (@as(u32, before.last) + 1 == first) {
            before.last = last;
            return;
        }
    }
    try ranges.append(gpa, .{ .first = @intCast(first), .last = last });
}

/// Simple case folding, as Unicode's CaseFolding.txt has it: two characters differ only by case if they fold to the same one.
pub const Folds = struct {
    /// The characters that do not fold to themselves, ascending by `from`.
    pairs: [tables.n_folds]Pair,

    /// `from` folds to `to`.
    pub const Pair = struct { from: u21, to: u21 };

    /// Unpacks the table.
    pub fn init(f: *Folds) void {
        var reader: Reader = .{ .bytes = tables.folds };
        var n: usize = 0;
        var end: u32 = 0;
        while (reader.bytes.len > 0) {
            const first = end + reader.varint();
            const shape = reader.varint();
            const zigzag = reader.varint();
            const delta = @as(i32, @intCast(zigzag >> 1)) ^ -@as(i32, @intCast(zigzag & 1));
            end = first;
            for (0..shape >> 1) |_| {
                f.pairs[n] = .{ .from = @intCast(end), .to = @intCast(@as(i32, @intCast(end)) + delta) };
                n += 1;
                end += (shape & 1) + 1;
            }
            end -= shape & 1;
        }
        std.debug.assert(n == tables.n_folds);
    }

    /// Appends the characters that differ from `character` only by case, without itself. Looks at all pairs.
    pub fn appendVariants(f: *const Folds, gpa: Allocator, ranges: *ArrayList(Range), character: u21) Allocator.Error!void {
        var folded = character;
        for (f.pairs) |pair| if (pair.from == character) {
            folded = pair.to;
        };
        if (folded != character) try ranges.append(gpa, .{ .first = folded, .last = folded });
        for (f.pairs) |pair| {
            if (pair.to == folded and pair.from != character) try ranges.append(gpa, .{ .first = pair.from, .last = pair.from });
        }
    }
};

test "the tables agree with themselves and with characters that everybody knows" {
    const gpa = std.testing.allocator;
    var ranges: ArrayList(Range) = .empty;
    defer ranges.deinit(gpa);
    // The categories partition the code space.
    var total: u32 = 0;
    for (0..30) |category| {
        ranges.clearRetainingCapacity();
        try append(gpa, &ranges, .{ .categories = @as(u32, 1) << @intCast(category) });
        for (ranges.items) |range| total += range.last - range.first + 1;
    }
    try std.testing.expectEqual(last_code_point + 1, total);
    for ([_]struct { []const u8, u21, bool }{
        .{ "Lu", 'A', true },             .{ "Lu", 'a', false },          .{ "lowercase letter", 0x107, true },
        .{ "Greek", 0x3b1, true },        .{ "grek", 'a', false },        .{ "Old_Italic", 0x10300, true },
        .{ "Nd", 0x663, true },           .{ "Cs", 0xd800, true },        .{ "Co", 0x10fffd, true },
        .{ "any", 0x10ffff, true },       .{ "Sc", 0x20ac, true },        .{ "LC", 0x1c5, true },
        .{ "Cyrillic", 0x416, true },     .{ "Zs", ' ', true },           .{ "Lu", 0x100, true },
        .{ "Lu", 0x101, false },          .{ "Ll", 0x101, true },         .{ "Ll", 0x100, false },
        .{ "unassigned", 0x378, true },   .{ "Han", 0x4e00, true },       .{ "Unknown", 0x378, true },
        .{ "Emoji", 0x1f600, true },      .{ "Emoji", 'a', false },       .{ "Uppercase", 'A', true },
        .{ "White_Space", 0x3000, true }, .{ "ID_Start", '1', false },    .{ "idc", '1', true },
        .{ "sc=Hira", 0x30fc, false },    .{ "scx=Hira", 0x30fc, true },  .{ "Script_Extensions=Hiragana", 0x3042, true },
        .{ "gc=Lu", 'A', true },          .{ "scx=Zyyy", 0x30fc, false }, .{ "scx=Zyyy", '1', true },
    }) |case| {
        ranges.clearRetainingCapacity();
        try append(gpa, &ranges, find(case[0]).?);
        var found = false;
        for (ranges.items) |range| found = found or (range.first <= case[1] and case[1] <= range.last);
        try std.testing.expectEqual(case[2], found);
    }
    try std.testing.expectEqual(null, find("Nonsense"));
    try std.testing.expectEqual(null, find("sc=Lu"));
    try std.testing.expectEqual(null, find("Emoji=Yes"));
    try std.testing.expectEqual(null, find(""));
    try std.testing.expectEqual(null, find("a name that is longer than any name of them"));
}

test "folding knows orbits of more than two" {
    const gpa = std.testing.allocator;
    var folds: Folds = undefined;
    folds.init();
    for (folds.pairs[1..], folds.pairs[0 .. folds.pairs.len - 1]) |pair, before| try std.testing.expect(before.from < pair.from);
    for ([_]struct { u21, []const u21 }{
        .{ 'k', &.{ 'K', 0x212a } },
        .{ 0x17f, &.{ 's', 'S' } },
        .{ 0x3c3, &.{ 0x3a3, 0x3c2 } },
        .{ 0xfb05, &.{0xfb06} },
        .{ '1', &.{} },
        .{ 'i', &.{'I'} },
    }) |case| {
        var ranges: ArrayList(Range) = .empty;
        defer ranges.deinit(gpa);
        try folds.appendVariants(gpa, &ranges, case[0]);
        try std.testing.expectEqual(case[1].len, ranges.items.len);
        for (case[1], ranges.items) |expected, range| try std.testing.expectEqual(expected, range.first);
    }
}
