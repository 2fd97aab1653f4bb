//! Finds libllama and binds it, once for the life of the process.

const std = @import("std");
const builtin = @import("builtin");
const Api = @import("api.zig").Api;
const layouts = @import("layout.zig");
const load_advice = @import("load_advice.zig");
const native_log = @import("native_log.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const dynlib = @import("dynlib.zig");
const environment = @import("engine").environment;
const file = @import("engine").file;
const gpa = @import("engine").memory.gpa;
const Mutex = @import("engine").mutex.Mutex;

/// A bound libllama. Immutable; never freed.
pub const Runtime = struct {
    api: Api,
    layout: *const layouts.Layout,
    /// Its default parameters.
    defaults: layouts.Probe,
    path: [:0]const u8,
    version: [:0]const u8,
    /// The caller or the environment named this copy: others in the process do not matter.
    chosen: bool,
    /// How many of its backends there are, which run models; null if it has no such function.
    backendCount: ?*const fn () callconv(.c) usize,
};

/// Binds the file that the caller names; if `path` is empty, the one of the environment, a loaded one, or one
/// beside this library. Fails if another is bound. Safe from any thread.
pub fn load(path: []const u8, d: *Diagnostic) diagnostic.Error!*const Runtime {
    try native_log.refuseWithin(d);
    mutex.lock();
    defer mutex.unlock();
    if (current) |runtime| {
        if (path.len == 0 or std.mem.eql(u8, path, runtime.path) or std.mem.eql(u8, path, requested_path)) return runtime;
        return d.fail(.state, "libllama is already loaded from {s}; it cannot be replaced by {s}", .{ runtime.path, path });
    }
    try refuseUnverifiedPlatform(d);
    return if (path.len > 0) loadFile(path, d) else search(d);
}

/// The libllama that the host of a sampler uses: the one that is loaded. Fails if there are several and none
/// was chosen. Safe from any thread.
pub fn ofProcess(d: *Diagnostic) diagnostic.Error!*const Runtime {
    try native_log.refuseWithin(d);
    mutex.lock();
    defer mutex.unlock();
    if (current) |runtime| {
        if (runtime.chosen or is_only_one) return runtime;
    }
    try refuseUnverifiedPlatform(d);
    const runtime = try attachLoaded(d) orelse
        return d.fail(.abi_mismatch, "no libllama is loaded in this process: load it before making a sampler", .{});
    is_only_one = true;
    return runtime;
}

/// The bound libllama; null if there is none. Safe from any thread.
pub fn bound() ?*const Runtime {
    mutex.lock();
    defer mutex.unlock();
    return current;
}

const environment_name = "ELIZA_INFERENCE_LLAMA";

/// A function that only libllama defines.
const libllama_symbol = "llama_model_load_from_file";

var mutex: Mutex = .{};
var current: ?*const Runtime = null;
var requested_path: []const u8 = "";
var is_only_one = false;

fn refuseUnverifiedPlatform(d: *Diagnostic) diagnostic.Error!void {
    if (layouts.supported) return;
    return d.fail(.abi_mismatch, "libllama's struct layouts are not known for {t} with {d}-bit pointers", .{
        builtin.cpu.arch, @bitSizeOf(usize),
    });
}

fn search(d: *Diagnostic) diagnostic.Error!*const Runtime {
    var buffer: [4096]u8 = undefined;
    if (environment.get(environment_name, &buffer)) |path| {
        if (path.len > 0) return loadFile(path, d);
    }
    if (try attachLoaded(d)) |runtime| return runtime;
    const folder = ownFolder(&buffer);
    if (try besideThisLibrary(folder, d)) |path| {
        defer gpa.free(path);
        return loadOpened(path, false, d);
    }
    return d.fail(.abi_mismatch, "no libllama found: none is loaded in this process, there is none in {s}, and {s} is not set: " ++
        "load one before, or set it to the path of one", .{
        folder, environment_name,
    });
}

fn loadFile(path: []const u8, d: *Diagnostic) diagnostic.Error!*const Runtime {
    if (std.mem.findScalar(u8, path, 0) != null) return d.fail(.invalid_arg, "the path of libllama contains a NUL byte", .{});
    const terminated = gpa.dupeSentinel(u8, path, 0) catch return d.outOfMemory();
    defer gpa.free(terminated);
    const copy = gpa.dupe(u8, path) catch return d.outOfMemory();
    errdefer gpa.free(copy);
    const runtime = try loadOpened(terminated, true, d);
    requested_path = copy;
    return runtime;
}

fn loadOpened(path: [:0]const u8, chosen: bool, d: *Diagnostic) diagnostic.Error!*const Runtime {
    const before = dynlib.findLoaded(gpa, libllama_symbol) catch return d.outOfMemory();
    defer freeFound(before);
    var reason: dynlib.Reason = .{};
    const library = dynlib.open(path, &reason) orelse
        return d.fail(.abi_mismatch, "{s} cannot be loaded: {s}{s}", .{ path, reason.text(), load_advice.of(path, reason.text()) });
    errdefer library.close();
    const address = library.lookup(libllama_symbol) orelse
        return d.fail(.abi_mismatch, "{s} is not libllama: it has no {s}", .{ path, libllama_symbol });
    const shared = for (before) |found| {
        if (found.address == address) break true;
    } else false;
    return bind(library, address, path, .{ .chosen = chosen, .shared = shared }, d);
}

fn attachLoaded(d: *Diagnostic) diagnostic.Error!?*const Runtime {
    const found = dynlib.findLoaded(gpa, libllama_symbol) catch return d.outOfMemory();
    defer gpa.free(found);
    if (found.len == 1) {
        if (current) |runtime| {
            found[0].library.close();
            return runtime;
        }
        errdefer found[0].library.close();
        var buffer: [4096]u8 = undefined;
        const path = dynlib.pathOfAddress(found[0].address, &buffer) orelse "(this program)";
        return try bind(found[0].library, found[0].address, path, .{ .chosen = false, .shared = true }, d);
    }
    defer for (found) |each| each.library.close();
    if (found.len == 0) return null;
    var first: [1024]u8 = undefined;
    var second: [1024]u8 = undefined;
    return d.fail(.abi_mismatch, "{d} copies of libllama are loaded ({s}, {s}): choose one with eliza_inference_llama_load or {s}", .{
        found.len,
        dynlib.pathOfAddress(found[0].address, &first) orelse "?",
        dynlib.pathOfAddress(found[1].address, &second) orelse "?",
        environment_name,
    });
}

fn freeFound(found: []dynlib.Found) void {
    for (found) |each| each.library.close();
    gpa.free(found);
}

const Origin = struct {
    chosen: bool,
    /// Someone else loaded it too, and owns its log and backends.
    shared: bool,
};

fn bind(library: dynlib.Library, address: *anyopaque, path: []const u8, origin: Origin, d: *Diagnostic) diagnostic.Error!*const Runtime {
    const runtime = gpa.create(Runtime) catch return d.outOfMemory();
    errdefer gpa.destroy(runtime);
    if (runtime.api.load(library)) |missing|
        return d.fail(.abi_mismatch, "{s} has no function {s}; supported are llama.cpp {s}", .{ path, missing, layouts.known_names });
    var buffer: [4096]u8 = undefined;
    runtime.path = gpa.dupeSentinel(u8, dynlib.pathOfAddress(address, &buffer) orelse path, 0) catch return d.outOfMemory();
    errdefer gpa.free(runtime.path);
    runtime.version = versionText(&runtime.api) catch return d.outOfMemory();
    errdefer gpa.free(runtime.version);
    runtime.chosen = origin.chosen;
    runtime.defaults = .{
        .model = layouts.probe(runtime.api.llama_model_default_params),
        .context = layouts.probe(runtime.api.llama_context_default_params),
    };
    runtime.layout = runtime.defaults.match() orelse
        return d.fail(.abi_mismatch, "{s} (version {s}) has a struct layout that is not known: model parameters of {d} bytes, " ++
            "context parameters of {d}; supported are llama.cpp {s}", .{
            path, runtime.version, runtime.defaults.model.len, runtime.defaults.context.len, layouts.known_names,
        });
    if (!origin.shared) {
        runtime.api.llama_log_set(native_log.receive, null);
        runtime.api.llama_backend_init();
    }
    runtime.backendCount = @ptrCast(@alignCast(symbol(library, "ggml_backend_reg_count")));
    loadBackends(library, runtime);
    current = runtime;
    return runtime;
}

/// Its own version if it tells one; else that of its tensor library, and the commit.
fn versionText(api: *const Api) error{OutOfMemory}![:0]const u8 {
    if (api.llama_version) |version| return gpa.dupeSentinel(u8, std.mem.span(version()), 0);
    const version = api.ggml_version orelse return gpa.dupeSentinel(u8, "unknown", 0);
    const commit: [*:0]const u8 = if (api.ggml_commit) |commit| commit() else "unknown";
    return std.mem.concatWithSentinel(gpa, u8, &.{ "ggml ", std.mem.span(version()), ", commit ", std.mem.span(commit) }, 0);
}

/// Some builds keep the code for each processor in files beside them, loaded on demand.
fn loadBackends(library: dynlib.Library, runtime: *const Runtime) void {
    const count = runtime.backendCount orelse return;
    const load_all: *const fn ([*:0]const u8) callconv(.c) void =
        @ptrCast(@alignCast(symbol(library, "ggml_backend_load_all_from_path") orelse return));
    if (count() > 0) return;
    const folder = gpa.dupeSentinel(u8, folderOf(runtime.path), 0) catch return;
    defer gpa.free(folder);
    load_all(folder);
}

/// On some systems a look-up in a library does not search those that it depends on.
fn symbol(library: dynlib.Library, name: [*:0]const u8) ?*anyopaque {
    if (library.lookup(name)) |address| return address;
    const found = dynlib.findLoaded(gpa, name) catch return null;
    defer freeFound(found);
    return if (found.len == 1) found[0].address else null;
}

fn ownFolder(buffer: []u8) []const u8 {
    return folderOf(dynlib.pathOfAddress(&load, buffer) orelse "");
}

fn folderOf(path: []const u8) []const u8 {
    const separators = if (builtin.os.tag == .windows) "/\\" else "/";
    return if (std.mem.findLastAny(u8, path, separators)) |end| path[0..end] else ".";
}

fn besideThisLibrary(folder: []const u8, d: *Diagnostic) diagnostic.Error!?[:0]u8 {
    const terminated = gpa.dupeSentinel(u8, folder, 0) catch return d.outOfMemory();
    defer gpa.free(terminated);
    const name = file.firstName(gpa, terminated, isLibraryName) catch return d.outOfMemory();
    defer if (name) |text| gpa.free(text);
    return std.mem.concatWithSentinel(gpa, u8, &.{ folder, "/", name orelse return null }, 0) catch return d.outOfMemory();
}

/// "libllama.so", "libllama.v0.5.0.so", "libllama.dylib", "llama.dll"; not "libllama-common.so".
fn isLibraryName(name: []const u8) bool {
    const start, const end = switch (builtin.os.tag) {
        .windows => .{ "llama.", ".dll" },
        .macos, .ios => .{ "libllama.", ".dylib" },
        else => .{ "libllama.", ".so" },
    };
    if (!std.mem.startsWith(u8, name, start)) return false;
    return std.mem.endsWith(u8, name, end) and name.len >= start.len + end.len - 1;
}

test "names of libllama" {
    if (builtin.os.tag != .linux) return error.SkipZigTest;
    try std.testing.expect(isLibraryName("libllama.so"));
    try std.testing.expect(isLibraryName("libllama.v0.5.0.so"));
    try std.testing.expect(!isLibraryName("libllama-common.so"));
    try std.testing.expect(!isLibraryName("libllama."));
    try std.testing.expect(!isLibraryName("libggml.so"));
}

test "the folder of a path" {
    try std.testing.expectEqualStrings("/a/b", folderOf("/a/b/c.so"));
    try std.testing.expectEqualStrings(".", folderOf("c.so"));
}
