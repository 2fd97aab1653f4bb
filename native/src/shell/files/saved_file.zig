//! The format of saved files, which are used as they are mapped: a header with version and checksum, a list of the arrays, and the
//! arrays. A struct is written as its arrays and numbers, in the order of its fields, so that writer and reader cannot disagree.
//!
//! The checksum detects corruption, not tampering: what a file says is checked where it is used, before anything relies on it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const file = @import("engine").file;
const Mapping = @import("engine").mapping.Mapping;
const firstUnreadable = @import("../compile/utf8_text.zig").firstUnreadable;

/// What a file holds.
pub const Kind = enum(u32) { vocabulary = 1, constraint = 2 };

/// ELIZA_OPEN_* of the header.
pub const How = packed struct(u32) {
    /// Someone trustworthy wrote it: what it says is not checked.
    trusted: bool = false,
    /// Read into memory, not mapped.
    copy: bool = false,
    _: u30 = 0,
};

/// Changes whenever anything that is written changes: a file of another version is refused.
const version = 16;
const magic = "ELIZA\x00IM".*;

const Header = extern struct {
    magic: [8]u8,
    version: u32,
    /// 0x01020304 on the machine that wrote it.
    byte_order: u32,
    kind: u32,
    n_sections: u32,
    /// That of the vocabulary it is for.
    fingerprint: u64,
    file_bytes: u64,
    /// Wyhash of all that follows the header, with the fingerprint as its seed.
    checksum: u64,
    _: [16]u8 = @splat(0),
};

const Section = extern struct { offset: u64, length: u64 };

comptime {
    std.debug.assert(@sizeOf(Header) == alignment);
}

const alignment = Mapping.alignment;
const byte_order = 0x01020304;

/// Collects arrays, then writes them as one file. Arrays are not copied: they must live until `write`.
pub const Writer = struct {
    arena: Allocator,
    arrays: ArrayList([]const u8) = .empty,

    /// `value` points to a slice of numbers, a number, or a struct of these. `Reader.get` must be called for the same types in the
    /// same order.
    pub fn put(w: *Writer, value: anytype) Allocator.Error!void {
        const T = @TypeOf(value.*);
        switch (@typeInfo(T)) {
            .pointer => try w.putArray(std.mem.sliceAsBytes(value.*)),
            .@"struct" => |info| {
                if (info.layout == .@"extern") return w.putBytes(std.mem.asBytes(value));
                inline for (comptime std.meta.fieldNames(T)) |name| try w.put(&@field(value, name));
            },
            else => try w.putBytes(std.mem.asBytes(value)),
        }
    }

    // Not inline: there is a call for each field of what is saved.

    noinline fn putArray(w: *Writer, bytes: []const u8) Allocator.Error!void {
        try w.arrays.append(w.arena, bytes);
    }

    noinline fn putBytes(w: *Writer, bytes: []const u8) Allocator.Error!void {
        try w.putArray(try w.arena.dupe(u8, bytes));
    }

    /// Writes the file, or replaces it, at once or not at all. ELIZA_ERR_IO: it cannot be written.
    pub fn write(w: *Writer, path: []const u8, kind: Kind, fingerprint: u64, diag: *Diagnostic) diagnostic.Error!void {
        try checkPath(path, diag);
        w.tryWrite(path, kind, fingerprint) catch |e| return switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Unwritable => diag.fail(.io, "{f} cannot be written", .{quoted(path)}),
        };
    }

    fn tryWrite(w: *Writer, path: []const u8, kind: Kind, fingerprint: u64) error{ OutOfMemory, Unwritable }!void {
        const sections = try w.arena.alloc(Section, w.arrays.items.len);
        var parts: ArrayList([]const u8) = .empty;
        const header = try w.arena.create(Header);
        try parts.append(w.arena, std.mem.asBytes(header));
        try parts.append(w.arena, std.mem.sliceAsBytes(sections));
        var at: u64 = @sizeOf(Header) + std.mem.sliceAsBytes(sections).len;
        for (w.arrays.items, sections) |array, *section| {
            const start = std.mem.alignForward(u64, at, alignment);
            try parts.append(w.arena, padding[0..@intCast(start - at)]);
            try parts.append(w.arena, array);
            section.* = .{ .offset = start, .length = array.len };
            at = start + array.len;
        }
        var hash: std.hash.Wyhash = .init(fingerprint);
        for (parts.items[1..]) |part| hash.update(part);
        header.* = .{
            .magic = magic,
            .version = version,
            .byte_order = byte_order,
            .kind = @backingInt(kind),
            .n_sections = @intCast(sections.len),
            .fingerprint = fingerprint,
            .file_bytes = at,
            .checksum = hash.final(),
        };
        const own_path = try w.arena.dupeSentinel(u8, path, 0);
        try file.writeAll(w.arena, own_path, parts.items);
    }

    const padding: [alignment]u8 = @splat(0);
};

/// What it gives are slices of the mapping, which the caller closes when it needs none of them any more.
pub const Reader = struct {
    mapping: Mapping,
    fingerprint: u64,
    sections: []const Section,
    next: usize = 0,

    /// Maps a file, or reads it, and checks its header, its checksum, which reads it whole, and its list of arrays. The caller
    /// owns `mapping`.
    /// ELIZA_ERR_IO: it cannot be read. ELIZA_ERR_FILE_INVALID: of another kind or version, or damaged.
    pub fn open(gpa: Allocator, path: []const u8, kind: Kind, how: How, diag: *Diagnostic) diagnostic.Error!Reader {
        try checkPath(path, diag);
        const own_path = gpa.dupeSentinel(u8, path, 0) catch return diag.outOfMemory();
        defer gpa.free(own_path);
        const mapping = (if (how.copy) Mapping.read(own_path) else Mapping.open(own_path)) catch |e| return switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Unreadable => diag.fail(.io, "{f} cannot be opened", .{quoted(path)}),
            error.Empty => damaged(path, diag),
        };
        errdefer mapping.close();
        const header = try readHeader(mapping, path, kind, diag);
        const list = mapping.bytes[@sizeOf(Header)..];
        const n = header.n_sections;
        const is_whole = n <= list.len / @sizeOf(Section) and std.hash.Wyhash.hash(header.fingerprint, list) == header.checksum;
        if (!is_whole) return damaged(path, diag);
        const sections: []const Section = @as([*]const Section, @ptrCast(@alignCast(list.ptr)))[0..n];
        for (sections) |section| {
            const is_inside = section.offset % alignment == 0 and section.offset <= mapping.bytes.len and
                section.length <= mapping.bytes.len - section.offset;
            if (!is_inside) return damaged(path, diag);
        }
        return .{ .mapping = mapping, .fingerprint = header.fingerprint, .sections = sections };
    }

    fn readHeader(mapping: Mapping, path: []const u8, kind: Kind, diag: *Diagnostic) diagnostic.Error!*const Header {
        if (mapping.bytes.len < @sizeOf(Header)) return damaged(path, diag);
        const header: *const Header = @ptrCast(mapping.bytes.ptr);
        const what = if (kind == .vocabulary) "vocabulary" else "constraint";
        if (!std.mem.eql(u8, &header.magic, &magic) or header.kind != @backingInt(kind)) {
            return diag.fail(.file_invalid, "{f} is not the file of a {s}", .{ quoted(path), what });
        }
        if (header.version != version or header.byte_order != byte_order) {
            return diag.fail(.file_invalid, "{f} was written by another version of this library: write it again", .{quoted(path)});
        }
        if (header.file_bytes != mapping.bytes.len) return damaged(path, diag);
        return header;
    }

    /// The next value, which `Writer.put` was given with the type `T`. Slices stay in the mapping, and must not be written to even if
    /// `T` would allow it.
    pub fn get(r: *Reader, comptime T: type) error{Damaged}!T {
        switch (@typeInfo(T)) {
            .pointer => |info| {
                const bytes = try r.nextSection();
                if (bytes.len % @sizeOf(info.child) != 0) return error.Damaged;
                const first: [*]align(alignment) const info.child = @ptrCast(bytes.ptr);
                const items = first[0 .. bytes.len / @sizeOf(info.child)];
                return if (info.attrs.@"const") items else @constCast(items);
            },
            .@"struct" => |info| {
                if (info.layout == .@"extern") return r.number(T);
                var value: T = undefined;
                inline for (comptime std.meta.fieldNames(T)) |name| @field(value, name) = try r.get(@FieldType(T, name));
                return value;
            },
            else => return r.number(T),
        }
    }

    fn number(r: *Reader, comptime T: type) error{Damaged}!T {
        const bytes = try r.nextSection();
        if (bytes.len != @sizeOf(T)) return error.Damaged;
        var value: T = undefined;
        @memcpy(std.mem.asBytes(&value), bytes);
        return value;
    }

    noinline fn nextSection(r: *Reader) error{Damaged}![]align(alignment) const u8 {
        if (r.next == r.sections.len) return error.Damaged;
        const at = r.sections[r.next];
        r.next += 1;
        return @alignCast(r.mapping.bytes[@intCast(at.offset)..][0..@intCast(at.length)]);
    }
};

fn checkPath(path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    if (std.mem.findScalar(u8, path, 0) != null) return diag.fail(.invalid_arg, "the path has a zero byte", .{});
}

/// Fails with ELIZA_ERR_FILE_INVALID, for a file whose checksum is right.
pub fn unsound(path: []const u8, diag: *Diagnostic) diagnostic.Error {
    return diag.fail(.file_invalid, "{f} is damaged: what it says does not fit together", .{quoted(path)});
}

/// Fails with ELIZA_ERR_FILE_INVALID unless every binding can read a text of the file, and C all of it.
pub fn checkText(text: []const u8, what: []const u8, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    const at = firstUnreadable(text) orelse return;
    return diag.fail(.file_invalid, "{f} is damaged: {s}: byte {d} is zero or not UTF-8", .{ quoted(path), what, at });
}

/// Fails with ELIZA_ERR_FILE_INVALID.
pub fn damaged(path: []const u8, diag: *Diagnostic) diagnostic.Error {
    return diag.fail(.file_invalid, "{f} is damaged: its checksum is wrong, or it is not whole", .{quoted(path)});
}

test "an array that does not lie in the file is refused, though the checksum is right" {
    const gpa = std.testing.allocator;
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const path = try std.fmt.allocPrint(gpa, ".zig-cache/tmp/{s}/saved", .{scratch.sub_path});
    defer gpa.free(path);
    const own_path = try gpa.dupeSentinel(u8, path, 0);
    defer gpa.free(own_path);
    const first = @sizeOf(Header) + alignment; // the list of one section, then padding
    const size = first + 8;
    const Case = struct { offset: u64, length: u64, fits: bool };
    for ([_]Case{
        .{ .offset = first, .length = 8, .fits = true },
        .{ .offset = first, .length = 0, .fits = true },
        .{ .offset = first, .length = 9, .fits = false },
        .{ .offset = first, .length = std.math.maxInt(u64), .fits = false },
        .{ .offset = first + 1, .length = 1, .fits = false },
        .{ .offset = first + alignment, .length = 0, .fits = false },
        .{ .offset = 0 -% @as(u64, alignment), .length = alignment, .fits = false },
        .{ .offset = 0 -% @as(u64, alignment), .length = 2 * alignment, .fits = false },
    }) |case| {
        var bytes: [size]u8 = @splat(7);
        bytes[@sizeOf(Header)..][0..@sizeOf(Section)].* = std.mem.toBytes(Section{ .offset = case.offset, .length = case.length });
        bytes[0..@sizeOf(Header)].* = std.mem.toBytes(Header{
            .magic = magic,
            .version = version,
            .byte_order = byte_order,
            .kind = @backingInt(Kind.vocabulary),
            .n_sections = 1,
            .fingerprint = 5,
            .file_bytes = size,
            .checksum = std.hash.Wyhash.hash(5, bytes[@sizeOf(Header)..]),
        });
        try file.writeAll(gpa, own_path, &.{&bytes});
        var diag: Diagnostic = .{};
        var reader = Reader.open(gpa, path, .vocabulary, .{}, &diag) catch {
            try std.testing.expect(!case.fits and diag.status == .file_invalid);
            continue;
        };
        defer reader.mapping.close();
        try std.testing.expect(case.fits);
        try std.testing.expectEqual(case.length, (try reader.get([]const u8)).len);
    }
}

test "structs of arrays come back, and a changed byte is found" {
    const gpa = std.testing.allocator;
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const path = try std.fmt.allocPrint(gpa, ".zig-cache/tmp/{s}/saved", .{scratch.sub_path});
    defer gpa.free(path);
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    const Thing = struct { numbers: []const u32, n: u64, flags: [3]u8, empty: []const u16 };
    var diag: Diagnostic = .{};
    var writer: Writer = .{ .arena = arena.allocator() };
    try writer.put(&Thing{ .numbers = &.{ 1, 2, 3 }, .n = 7, .flags = .{ 4, 5, 6 }, .empty = &.{} });
    try writer.write(path, .vocabulary, 99, &diag);

    var reader = try Reader.open(gpa, path, .vocabulary, .{}, &diag);
    const thing = try reader.get(Thing);
    try std.testing.expectEqualSlices(u32, &.{ 1, 2, 3 }, thing.numbers);
    try std.testing.expectEqual(7, thing.n);
    try std.testing.expectEqual([3]u8{ 4, 5, 6 }, thing.flags);
    try std.testing.expectEqual(0, thing.empty.len);
    try std.testing.expectEqual(99, reader.fingerprint);
    try std.testing.expectError(error.Damaged, reader.get(u8));
    const whole = try gpa.dupe(u8, reader.mapping.bytes);
    defer gpa.free(whole);
    reader.mapping.close();

    try std.testing.expectError(error.Failed, Reader.open(gpa, path, .constraint, .{}, &diag));
    const own_path = try gpa.dupeSentinel(u8, path, 0);
    defer gpa.free(own_path);
    for (0..whole.len) |i| {
        if (i >= @offsetOf(Header, "_") and i < @sizeOf(Header)) continue;
        whole[i] ^= 1;
        defer whole[i] ^= 1;
        try file.writeAll(gpa, own_path, &.{whole});
        try std.testing.expectError(error.Failed, Reader.open(gpa, path, .vocabulary, .{}, &diag));
        try std.testing.expectEqual(.file_invalid, diag.status);
    }
    try file.writeAll(gpa, own_path, &.{whole[0 .. whole.len - 1]});
    try std.testing.expectError(error.Failed, Reader.open(gpa, path, .vocabulary, .{}, &diag));
}
