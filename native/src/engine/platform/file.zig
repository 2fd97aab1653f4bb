//! Files and folders by UTF-8 path, through the C library. Errors carry no detail: the caller knows the path
//! and what it wanted.

const std = @import("std");
const builtin = @import("builtin");
const clock = @import("clock.zig");

/// The whole content of a file. The caller frees it.
pub fn readAll(gpa: std.mem.Allocator, path: [:0]const u8) error{ OutOfMemory, Unreadable }![]u8 {
    const file = open(path, .read) orelse return error.Unreadable;
    defer _ = std.c.fclose(file);
    var content: std.ArrayList(u8) = .empty;
    errdefer content.deinit(gpa);
    while (true) {
        try content.ensureUnusedCapacity(gpa, piece_bytes);
        const room = content.unusedCapacitySlice();
        const n = std.c.fread(room.ptr, 1, room.len, file);
        content.items.len += n;
        if (n == 0) break;
    }
    return content.toOwnedSlice(gpa);
}

const piece_bytes = 1 << 16;

/// Reads the first bytes of a file, as many as `buffer` holds. Null if it cannot be opened.
pub fn readStart(path: [:0]const u8, buffer: []u8) ?[]u8 {
    const file = open(path, .read) orelse return null;
    defer _ = std.c.fclose(file);
    return buffer[0..std.c.fread(buffer.ptr, 1, buffer.len, file)];
}

/// Writes the parts one after another, to a file of its own beside `path` that then replaces it: an interrupted write
/// leaves the old content, and of two at a time one is whole.
pub fn writeAll(gpa: std.mem.Allocator, path: [:0]const u8, parts: []const []const u8) error{ OutOfMemory, Unwritable }!void {
    var suffix: [suffix_bytes]u8 = undefined;
    const beside = try std.mem.concatWithSentinel(gpa, u8, &.{ path, ownSuffix(&suffix) }, 0);
    defer gpa.free(beside);
    const file = open(beside, .write) orelse return error.Unwritable;
    var whole = true;
    for (parts) |part| {
        if (std.c.fwrite(part.ptr, 1, part.len, file) != part.len) whole = false;
    }
    if (std.c.fclose(file) != 0) whole = false;
    if (whole and replace(beside, path)) return;
    remove(beside);
    return error.Unwritable;
}

const suffix_bytes = ".0123456789abcdef.partial".len;

/// No two writes have the same, in this process or another.
fn ownSuffix(buffer: *[suffix_bytes]u8) []const u8 {
    var hash: std.hash.Wyhash = .init(clock.nowNs());
    hash.update(std.mem.asBytes(&@intFromPtr(buffer)));
    hash.update(std.mem.asBytes(&n_writes.fetchAdd(1, .monotonic)));
    const pid: u32 = if (builtin.os.tag == .windows) windows.GetCurrentProcessId() else @bitCast(std.c.getpid());
    hash.update(std.mem.asBytes(&pid));
    const digits = "0123456789abcdef";
    var number = hash.final();
    buffer[0] = '.';
    for (buffer[1..17]) |*digit| {
        digit.* = digits[@as(u4, @truncate(number))];
        number >>= 4;
    }
    @memcpy(buffer[17..], ".partial");
    return buffer;
}

var n_writes: std.atomic.Value(u32) = .init(0);

/// The first name, in byte order, of the folder's entries that `wanted` accepts. The caller frees it. Null if
/// there is none, or no such folder.
pub fn firstName(gpa: std.mem.Allocator, folder: [:0]const u8, wanted: *const fn ([]const u8) bool) error{OutOfMemory}!?[]u8 {
    var walk = Walk.start(folder) orelse return null;
    defer walk.end();
    var first: ?[]u8 = null;
    errdefer if (first) |name| gpa.free(name);
    while (walk.next()) |name| {
        if (!wanted(name)) continue;
        if (first) |best| {
            if (!std.mem.lessThan(u8, name, best)) continue;
        }
        const copy = try gpa.dupe(u8, name);
        if (first) |best| gpa.free(best);
        first = copy;
    }
    return first;
}

const Walk = if (builtin.os.tag == .windows) WindowsWalk else PosixWalk;

const PosixWalk = struct {
    folder: *std.c.DIR,

    fn start(path: [:0]const u8) ?PosixWalk {
        return .{ .folder = std.c.opendir(path) orelse return null };
    }

    fn next(walk: *PosixWalk) ?[]const u8 {
        const entry = std.c.readdir(walk.folder) orelse return null;
        // Only as much of the array as the name needs was read.
        const name: [*:0]const u8 = @ptrCast(&entry.name);
        return std.mem.span(name);
    }

    fn end(walk: *PosixWalk) void {
        _ = std.c.closedir(walk.folder);
    }
};

const Mode = enum { read, write };

fn open(path: [:0]const u8, mode: Mode) ?*std.c.FILE {
    if (builtin.os.tag == .windows) return windows.open(path, mode);
    return std.c.fopen(path, if (mode == .read) "rb" else "wbx");
}

fn replace(from: [:0]const u8, to: [:0]const u8) bool {
    if (builtin.os.tag == .windows) return windows.replace(from, to);
    return std.c.rename(from, to) == 0;
}

fn remove(path: [:0]const u8) void {
    if (builtin.os.tag == .windows) return windows.remove(path);
    _ = std.c.unlink(path);
}

const WindowsWalk = struct {
    handle: *anyopaque,
    data: windows.FindData = undefined,
    name: [windows.FindData.name_units * 3]u8 = undefined,
    pending: bool = true,

    fn start(path: [:0]const u8) ?WindowsWalk {
        var wide: windows.WidePath = undefined;
        const pattern = windows.widen(&wide, path, "\\*") orelse return null;
        var walk: WindowsWalk = .{ .handle = undefined };
        walk.handle = windows.FindFirstFileW(pattern, &walk.data);
        return if (walk.handle == windows.invalid_handle) null else walk;
    }

    fn next(walk: *WindowsWalk) ?[]const u8 {
        if (!walk.pending and windows.FindNextFileW(walk.handle, &walk.data) == 0) return null;
        walk.pending = false;
        const name = std.mem.sliceTo(&walk.data.name, 0);
        return walk.name[0..std.unicode.wtf16LeToWtf8(&walk.name, name)];
    }

    fn end(walk: *WindowsWalk) void {
        _ = windows.FindClose(walk.handle);
    }
};

const windows = struct {
    const WidePath = [4096]u16;

    const FindData = extern struct {
        attributes: u32,
        times: [6]u32,
        size_high_low: [2]u32,
        reserved: [2]u32,
        name: [name_units]u16,
        short_name: [14]u16,

        const name_units = 260;
    };

    const invalid_handle: *anyopaque = @ptrFromInt(std.math.maxInt(usize));

    extern "kernel32" fn FindFirstFileW([*:0]const u16, *FindData) callconv(.winapi) *anyopaque;
    extern "kernel32" fn FindNextFileW(*anyopaque, *FindData) callconv(.winapi) c_int;
    extern "kernel32" fn FindClose(*anyopaque) callconv(.winapi) c_int;
    extern "kernel32" fn MoveFileExW([*:0]const u16, [*:0]const u16, u32) callconv(.winapi) c_int;
    extern "kernel32" fn DeleteFileW([*:0]const u16) callconv(.winapi) c_int;
    extern "kernel32" fn GetCurrentProcessId() callconv(.winapi) u32;
    extern "c" fn _wfopen([*:0]const u16, [*:0]const u16) ?*std.c.FILE;

    const replace_existing = 1;

    fn open(path: []const u8, mode: Mode) ?*std.c.FILE {
        var wide: WidePath = undefined;
        const literal = std.unicode.utf8ToUtf16LeStringLiteral;
        const wide_mode = if (mode == .read) literal("rb") else literal("wbx");
        return _wfopen(widen(&wide, path, "") orelse return null, wide_mode);
    }

    fn replace(from: []const u8, to: []const u8) bool {
        var wide_from: WidePath = undefined;
        var wide_to: WidePath = undefined;
        return MoveFileExW(
            widen(&wide_from, from, "") orelse return false,
            widen(&wide_to, to, "") orelse return false,
            replace_existing,
        ) != 0;
    }

    fn remove(path: []const u8) void {
        var wide: WidePath = undefined;
        _ = DeleteFileW(widen(&wide, path, "") orelse return);
    }

    fn widen(buffer: *WidePath, path: []const u8, comptime suffix: []const u8) ?[*:0]const u16 {
        if (path.len + suffix.len >= buffer.len) return null;
        var length = std.unicode.wtf8ToWtf16Le(buffer, path) catch return null;
        for (suffix) |unit| {
            buffer[length] = unit;
            length += 1;
        }
        buffer[length] = 0;
        return buffer[0..length :0];
    }
};

test "what was written is read back, and a failed write leaves nothing" {
    const gpa = std.testing.allocator;
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const folder = try std.fmt.allocPrintSentinel(gpa, ".zig-cache/tmp/{s}", .{scratch.sub_path}, 0);
    defer gpa.free(folder);
    const path = try std.fmt.allocPrintSentinel(gpa, "{s}/b.slot", .{folder}, 0);
    defer gpa.free(path);

    try writeAll(gpa, path, &.{ "one", "", "two" });
    const content = try readAll(gpa, path);
    defer gpa.free(content);
    try std.testing.expectEqualStrings("onetwo", content);

    var start: [3]u8 = undefined;
    try std.testing.expectEqualStrings("one", readStart(path, &start).?);
    const name = (try firstName(gpa, folder, anyFile)).?;
    defer gpa.free(name);
    try std.testing.expectEqualStrings("b.slot", name);
    try std.testing.expectError(error.Unwritable, writeAll(gpa, "/nonexistent/b.slot", &.{"x"}));
    try std.testing.expectError(error.Unreadable, readAll(gpa, "/nonexistent/b.slot"));
}

fn anyFile(name: []const u8) bool {
    return name[0] != '.';
}

test "the suffix of a file that is being written has 16 digits, others each time" {
    var one: [suffix_bytes]u8 = undefined;
    var other: [suffix_bytes]u8 = undefined;
    for ([_]*[suffix_bytes]u8{ &one, &other }) |buffer| {
        const suffix = ownSuffix(buffer);
        try std.testing.expect(suffix[0] == '.' and std.mem.endsWith(u8, suffix, ".partial"));
        for (suffix[1..17]) |digit| try std.testing.expect(std.ascii.isHex(digit));
    }
    try std.testing.expect(!std.mem.eql(u8, &one, &other));
}
