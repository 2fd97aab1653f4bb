//! Shared libraries of this process: opening them, finding symbols, listing those that are loaded.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const builtin = @import("builtin");

const system = switch (builtin.os.tag) {
    .linux, .macos, .ios => posix,
    .windows => windows,
    else => @compileError("no dynamic loading for this system"),
};

/// A reference to a loaded library. Unless it is closed, the library stays for the life of the process.
pub const Library = struct {
    handle: *anyopaque,

    /// Gives the reference back; its symbols must not be used again.
    pub fn close(library: Library) void {
        system.release(library.handle);
    }

    /// The address of a symbol; null if there is none.
    pub fn lookup(library: Library, name: [*:0]const u8) ?*anyopaque {
        return system.lookup(library.handle, name);
    }
};

/// Loads a file. Null if that fails: `reason` says why, or is empty if the system gives none.
pub fn open(path: [*:0]const u8, reason: *Reason) ?Library {
    return .{ .handle = system.open(path, reason) orelse return null };
}

/// Why `open` failed, in the system's words, cut to the buffer.
pub const Reason = struct {
    buffer: [512]u8 = undefined,
    len: usize = 0,

    /// Lent by the reason.
    pub fn text(reason: *const Reason) []const u8 {
        return reason.buffer[0..reason.len];
    }

    fn set(reason: *Reason, message: []const u8) void {
        reason.len = @min(message.len, reason.buffer.len);
        @memcpy(reason.buffer[0..reason.len], message[0..reason.len]);
    }
};

/// The distinct addresses of `name` in the program and its loaded libraries: usually none or one. The caller
/// frees the list and closes each library.
pub fn findLoaded(gpa: std.mem.Allocator, name: [*:0]const u8) error{OutOfMemory}![]Found {
    var found: ArrayList(Found) = .empty;
    errdefer found.deinit(gpa);
    var loaded = try system.loadedLibraries(gpa);
    defer loaded.deinit(gpa);
    for (loaded.items) |handle| {
        const address = system.lookup(handle, name);
        if (address == null or contains(found.items, address.?)) {
            system.release(handle);
        } else try found.append(gpa, .{ .library = .{ .handle = handle }, .address = address.? });
    }
    return found.toOwnedSlice(gpa);
}

fn contains(found: []const Found, address: *anyopaque) bool {
    for (found) |other| if (other.address == address) return true;
    return false;
}

/// An address and the library that it was found in.
pub const Found = struct { library: Library, address: *anyopaque };

/// The path of the library that contains an address, written to `buffer`; null if it is unknown or too long.
pub fn pathOfAddress(address: *const anyopaque, buffer: []u8) ?[]const u8 {
    return system.pathOfAddress(address, buffer);
}

const posix = struct {
    fn open(path: [*:0]const u8, reason: *Reason) ?*anyopaque {
        if (std.c.dlopen(path, .{ .NOW = true })) |handle| return handle;
        if (std.c.dlerror()) |message| reason.set(std.mem.span(message));
        return null;
    }

    fn lookup(handle: *anyopaque, name: [*:0]const u8) ?*anyopaque {
        return std.c.dlsym(handle, name);
    }

    fn release(handle: *anyopaque) void {
        _ = std.c.dlclose(handle);
    }

    const Handles = ArrayList(*anyopaque);

    /// Collects the names first: opening a library during the walk may deadlock.
    fn loadedLibraries(gpa: std.mem.Allocator) error{OutOfMemory}!Handles {
        var names: Names = .{ .gpa = gpa };
        defer names.deinit();
        try names.collect();
        var handles: Handles = .empty;
        errdefer handles.deinit(gpa);
        try handles.ensureTotalCapacity(gpa, names.list.items.len + 1);
        if (std.c.dlopen(null, .{ .LAZY = true })) |program| handles.appendAssumeCapacity(program);
        for (names.list.items) |name| {
            const handle = std.c.dlopen(name, .{ .LAZY = true, .NOLOAD = true }) orelse continue;
            handles.appendAssumeCapacity(handle);
        }
        return handles;
    }

    const Names = struct {
        gpa: std.mem.Allocator,
        list: ArrayList([:0]const u8) = .empty,
        out_of_memory: bool = false,

        fn deinit(names: *Names) void {
            for (names.list.items) |name| names.gpa.free(name);
            names.list.deinit(names.gpa);
        }

        fn collect(names: *Names) error{OutOfMemory}!void {
            if (comptime builtin.os.tag.isDarwin()) {
                for (0..std.c._dyld_image_count()) |i| try names.add(std.mem.span(std.c._dyld_get_image_name(@intCast(i))));
            } else {
                _ = std.c.dl_iterate_phdr(visit, names);
            }
            if (names.out_of_memory) return error.OutOfMemory;
        }

        fn visit(info: *std.c.dl_phdr_info, _: usize, data: ?*anyopaque) callconv(.c) c_int {
            const names: *Names = @ptrCast(@alignCast(data.?));
            const name = info.name orelse return 0;
            names.add(std.mem.span(name)) catch {
                names.out_of_memory = true;
                return 1;
            };
            return 0;
        }

        fn add(names: *Names, name: []const u8) error{OutOfMemory}!void {
            if (name.len == 0) return;
            const copy = try names.gpa.dupeSentinel(u8, name, 0);
            errdefer names.gpa.free(copy);
            try names.list.append(names.gpa, copy);
        }
    };

    const DlInfo = extern struct {
        fname: ?[*:0]const u8,
        fbase: ?*anyopaque,
        sname: ?[*:0]const u8,
        saddr: ?*anyopaque,
    };

    extern "c" fn dladdr(address: *const anyopaque, info: *DlInfo) c_int;

    fn pathOfAddress(address: *const anyopaque, buffer: []u8) ?[]const u8 {
        var info: DlInfo = undefined;
        if (dladdr(address, &info) == 0) return null;
        const path = std.mem.span(info.fname orelse return null);
        if (path.len > buffer.len) return null;
        @memcpy(buffer[0..path.len], path);
        return buffer[0..path.len];
    }
};

const windows = struct {
    const Module = *anyopaque;
    const path_units_max = 4096;

    extern "kernel32" fn LoadLibraryExW([*:0]const u16, ?*anyopaque, u32) callconv(.winapi) ?Module;
    extern "kernel32" fn GetProcAddress(Module, [*:0]const u8) callconv(.winapi) ?*anyopaque;
    extern "kernel32" fn GetLastError() callconv(.winapi) u32;
    extern "kernel32" fn GetCurrentProcess() callconv(.winapi) *anyopaque;
    extern "kernel32" fn K32EnumProcessModules(*anyopaque, [*]Module, u32, *u32) callconv(.winapi) c_int;
    extern "kernel32" fn GetModuleHandleExW(u32, *const anyopaque, *Module) callconv(.winapi) c_int;
    extern "kernel32" fn GetModuleFileNameW(Module, [*]u16, u32) callconv(.winapi) u32;

    /// Searches the library's folder for what it depends on.
    const load_with_altered_search_path = 0x8;
    const from_address_unchanged_refcount = 0x4 | 0x2;

    fn open(path: [*:0]const u8, reason: *Reason) ?Module {
        var wide: [path_units_max]u16 = undefined;
        const text = std.mem.span(path);
        if (text.len >= wide.len) {
            reason.set("the path is too long");
            return null;
        }
        const length = std.unicode.wtf8ToWtf16Le(&wide, text) catch {
            reason.set("the path is not UTF-8");
            return null;
        };
        wide[length] = 0;
        return LoadLibraryExW(wide[0..length :0], null, load_with_altered_search_path) orelse {
            var buffer: [64]u8 = undefined;
            reason.set(std.fmt.bufPrint(&buffer, "Windows error {d}", .{GetLastError()}) catch "");
            return null;
        };
    }

    fn lookup(module: Module, name: [*:0]const u8) ?*anyopaque {
        return GetProcAddress(module, name);
    }

    /// Listing modules takes no reference, so there is none to give back: what was opened stays.
    fn release(_: Module) void {}

    fn loadedLibraries(gpa: std.mem.Allocator) error{OutOfMemory}!ArrayList(Module) {
        var modules: ArrayList(Module) = .empty;
        errdefer modules.deinit(gpa);
        var wanted: usize = 256;
        while (true) {
            try modules.resize(gpa, wanted);
            var bytes: u32 = 0;
            const room: u32 = @intCast(wanted * @sizeOf(Module));
            if (K32EnumProcessModules(GetCurrentProcess(), modules.items.ptr, room, &bytes) == 0) bytes = 0;
            const count = bytes / @sizeOf(Module);
            if (count <= wanted) {
                modules.shrinkRetainingCapacity(count);
                return modules;
            }
            wanted = count;
        }
    }

    fn pathOfAddress(address: *const anyopaque, buffer: []u8) ?[]const u8 {
        var module: Module = undefined;
        if (GetModuleHandleExW(from_address_unchanged_refcount, address, &module) == 0) return null;
        var wide: [path_units_max]u16 = undefined;
        const length = GetModuleFileNameW(module, &wide, wide.len);
        if (length == 0 or length == wide.len or std.unicode.calcWtf8Len(wide[0..length]) > buffer.len) return null;
        return buffer[0..std.unicode.wtf16LeToWtf8(buffer, wide[0..length])];
    }
};

test "the program finds its own symbols, once" {
    const gpa = std.testing.allocator;
    const found = try findLoaded(gpa, "dlopen");
    defer gpa.free(found);
    try std.testing.expectEqual(1, found.len);
    var buffer: [4096]u8 = undefined;
    try std.testing.expect(pathOfAddress(found[0].address, &buffer) != null);
    const none = try findLoaded(gpa, "eliza_no_such_symbol");
    defer gpa.free(none);
    try std.testing.expectEqual(0, none.len);
}

test "a file that is no library gives a reason" {
    var reason: Reason = .{};
    try std.testing.expect(open("/nonexistent/libnothing.so", &reason) == null);
    try std.testing.expect(reason.text().len > 0);
}
