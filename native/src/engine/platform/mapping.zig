//! The content of files, mapped or copied, read only.

const std = @import("std");
const builtin = @import("builtin");
const file = @import("file.zig");
const gpa = @import("memory.zig").gpa;

/// A file in memory. While it is mapped the file must not change.
pub const Mapping = struct {
    bytes: []align(alignment) const u8,
    is_copy: bool = false,

    /// Of every mapping's start. Pages are aligned to more.
    pub const alignment = 64;

    /// Maps the whole file; `close` unmaps it.
    pub fn open(path: [:0]const u8) error{ Unreadable, Empty }!Mapping {
        return .{ .bytes = try if (builtin.os.tag == .windows) windows.map(path) else posix.map(path, posix.flags) };
    }

    /// The same, for reading a small part of it.
    pub fn openLazily(path: [:0]const u8) error{ Unreadable, Empty }!Mapping {
        return .{ .bytes = try if (builtin.os.tag == .windows) windows.map(path) else posix.map(path, .{ .TYPE = .PRIVATE }) };
    }

    /// Reads the whole file; `close` frees it. Whatever happens to the file then makes no difference.
    pub fn read(path: [:0]const u8) error{ OutOfMemory, Unreadable, Empty }!Mapping {
        const content = try file.readAll(gpa, path);
        defer gpa.free(content);
        if (content.len == 0) return error.Empty;
        const bytes = try gpa.alignedAlloc(u8, .@"64", content.len);
        @memcpy(bytes, content);
        return .{ .bytes = bytes, .is_copy = true };
    }

    /// Afterwards nothing may point into `bytes`.
    pub fn close(mapping: Mapping) void {
        if (mapping.is_copy) return gpa.free(mapping.bytes);
        if (builtin.cpu.arch.isWasm()) unreachable; // nothing is mapped there
        if (builtin.os.tag == .windows) windows.unmap(mapping.bytes) else posix.unmap(mapping.bytes);
    }
};

const Error = error{ Unreadable, Empty };
const Bytes = []align(Mapping.alignment) const u8;

const posix = struct {
    fn map(path: [:0]const u8, how: std.c.MAP) Error!Bytes {
        const fd = std.c.open(path, .{ .ACCMODE = .RDONLY, .CLOEXEC = true });
        if (fd < 0) return error.Unreadable;
        defer _ = close(fd);
        const size = seek(fd, 0, std.c.SEEK.END);
        if (size == 0) return error.Empty;
        const length = std.math.cast(usize, size) orelse return error.Unreadable;
        const address = mapAt(null, length, .{ .READ = true }, how, fd, 0);
        if (@intFromPtr(address) == std.math.maxInt(usize)) return error.Unreadable; // MAP_FAILED
        const first: [*]align(Mapping.alignment) const u8 = @ptrCast(@alignCast(address));
        return first[0..length];
    }

    /// On 32-bit processors the plain functions of glibc and bionic take 32-bit offsets, and Zig passes 64 bits.
    const has_narrow_offsets = builtin.os.tag == .linux and @sizeOf(usize) == 4 and !builtin.abi.isMusl();
    const seek = if (has_narrow_offsets) lseek64 else std.c.lseek;
    const mapAt = if (has_narrow_offsets) mmap64 else std.c.mmap;

    /// The standard library's is a name that Apple keeps for itself.
    extern "c" fn close(file: c_int) c_int;
    extern "c" fn lseek64(file: c_int, offset: i64, whence: c_int) i64;
    extern "c" fn mmap64(
        address: ?*align(std.heap.page_size_min) anyopaque,
        length: usize,
        protection: std.c.PROT,
        flags: std.c.MAP,
        file: c_int,
        offset: i64,
    ) *anyopaque;

    /// Linux reads the file ahead: the checksum needs all of it.
    const flags: std.c.MAP = if (builtin.os.tag == .linux) .{ .TYPE = .PRIVATE, .POPULATE = true } else .{ .TYPE = .PRIVATE };

    fn unmap(bytes: Bytes) void {
        _ = std.c.munmap(@ptrCast(@alignCast(@constCast(bytes.ptr))), bytes.len);
    }
};

const windows = struct {
    extern "kernel32" fn CreateFileW([*:0]const u16, u32, u32, ?*anyopaque, u32, u32, ?*anyopaque) callconv(.winapi) *anyopaque;
    extern "kernel32" fn GetFileSizeEx(*anyopaque, *i64) callconv(.winapi) c_int;
    extern "kernel32" fn CreateFileMappingW(*anyopaque, ?*anyopaque, u32, u32, u32, ?[*:0]const u16) callconv(.winapi) ?*anyopaque;
    extern "kernel32" fn MapViewOfFile(*anyopaque, u32, u32, u32, usize) callconv(.winapi) ?*anyopaque;
    extern "kernel32" fn UnmapViewOfFile(*const anyopaque) callconv(.winapi) c_int;
    extern "kernel32" fn CloseHandle(*anyopaque) callconv(.winapi) c_int;

    const generic_read = 0x80000000;
    const share_read = 1;
    const open_existing = 3;
    const page_readonly = 2;
    const file_map_read = 4;
    const invalid_handle = std.math.maxInt(usize);

    fn map(path: [:0]const u8) Error!Bytes {
        var wide: [4096:0]u16 = undefined;
        if (path.len >= wide.len) return error.Unreadable;
        wide[std.unicode.wtf8ToWtf16Le(&wide, path) catch return error.Unreadable] = 0;
        const handle = CreateFileW(&wide, generic_read, share_read, null, open_existing, 0, null);
        if (@intFromPtr(handle) == invalid_handle) return error.Unreadable;
        defer _ = CloseHandle(handle);
        var size: i64 = undefined;
        if (GetFileSizeEx(handle, &size) == 0) return error.Unreadable;
        if (size == 0) return error.Empty;
        const length = std.math.cast(usize, size) orelse return error.Unreadable;
        const section = CreateFileMappingW(handle, null, page_readonly, 0, 0, null) orelse return error.Unreadable;
        defer _ = CloseHandle(section);
        const address = MapViewOfFile(section, file_map_read, 0, 0, 0) orelse return error.Unreadable;
        const first: [*]align(Mapping.alignment) const u8 = @ptrCast(@alignCast(address));
        return first[0..length];
    }

    fn unmap(bytes: Bytes) void {
        _ = UnmapViewOfFile(bytes.ptr);
    }
};

test "a file is mapped, and read, as it is" {
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const path = try std.fmt.allocPrintSentinel(std.testing.allocator, ".zig-cache/tmp/{s}/mapped", .{scratch.sub_path}, 0);
    defer std.testing.allocator.free(path);
    for ([_]*const fn ([:0]const u8) error{ OutOfMemory, Unreadable, Empty }!Mapping{ &openAny, &Mapping.read }) |get| {
        try std.testing.expectError(error.Unreadable, get("/nonexistent/mapped"));
        try file.writeAll(std.testing.allocator, path, &.{});
        try std.testing.expectError(error.Empty, get(path));
        try file.writeAll(std.testing.allocator, path, &.{"content"});
        const mapping = try get(path);
        defer mapping.close();
        try std.testing.expectEqualStrings("content", mapping.bytes);
    }
}

test "a file is mapped where standard input is closed" {
    if (builtin.os.tag == .windows) return error.SkipZigTest;
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const path = try std.fmt.allocPrintSentinel(std.testing.allocator, ".zig-cache/tmp/{s}/mapped", .{scratch.sub_path}, 0);
    defer std.testing.allocator.free(path);
    try file.writeAll(std.testing.allocator, path, &.{"content"});
    const input = std.c.dup(0);
    _ = posix.close(0);
    defer if (input >= 0) {
        _ = std.c.dup2(input, 0);
        _ = posix.close(input);
    };
    const mapping = try Mapping.open(path);
    defer mapping.close();
    try std.testing.expectEqualStrings("content", mapping.bytes);
}

fn openAny(path: [:0]const u8) error{ OutOfMemory, Unreadable, Empty }!Mapping {
    return Mapping.open(path);
}
