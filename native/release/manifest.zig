//! manifest OUTPUT SUMS VERSION ABI (PATH TRIPLE FILE)...: writes what a release consists of.
//!
//! SUMS gets the SHA-256 of all files and of the manifest, as `sha256sum --check` reads it. ABI is the manifest of the
//! header. PATH is the file's path in the release, TRIPLE the platform of a library, "-" for any other file.

const std = @import("std");
const exports = @import("exports.zig");

const Manifest = struct {
    name: []const u8 = "libelizainference",
    version: []const u8,
    abi_version: u32,
    files: []File,
};

const File = struct {
    path: []const u8,
    bytes: usize,
    sha256: [64]u8,
    /// Null: not a library.
    target: ?[]const u8,
    exports: ?[]const []const u8,
};

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    const output, const sums, const version, const abi = .{ arguments[1], arguments[2], arguments[3], arguments[4] };
    var files: std.ArrayList(File) = .empty;
    var rest = arguments[5..];
    while (rest.len > 0) : (rest = rest[3..]) {
        const content = try read(init, rest[2]);
        const is_library = !std.mem.eql(u8, rest[1], "-");
        try files.append(arena, .{
            .path = rest[0],
            .bytes = content.len,
            .sha256 = sha256(content),
            .target = if (is_library) rest[1] else null,
            .exports = if (is_library) try exports.names(arena, content) else null,
        });
    }
    const manifest: Manifest = .{
        .version = version,
        .abi_version = try abiVersion(arena, try read(init, abi)),
        .files = files.items,
    };
    const json = try std.json.Stringify.valueAlloc(arena, manifest, .{ .whitespace = .indent_2 });
    const text = try std.mem.concat(arena, u8, &.{ json, "\n" });
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = output, .data = text });
    var lines: std.ArrayList(u8) = .empty;
    for (manifest.files) |file| try lines.print(arena, "{s}  {s}\n", .{ file.sha256, file.path });
    try lines.print(arena, "{s}  manifest.json\n", .{sha256(text)});
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = sums, .data = lines.items });
}

fn sha256(content: []const u8) [64]u8 {
    var digest: [32]u8 = undefined;
    std.crypto.hash.sha2.Sha256.hash(content, &digest, .{});
    return std.fmt.bytesToHex(digest, .lower);
}

fn read(init: std.process.Init, path: []const u8) ![]u8 {
    return std.Io.Dir.cwd().readFileAlloc(init.io, path, init.arena.allocator(), .unlimited);
}

fn abiVersion(arena: std.mem.Allocator, abi: []const u8) !u32 {
    const Abi = struct { abi_version: u32 };
    return (try std.json.parseFromSliceLeaky(Abi, arena, abi, .{ .ignore_unknown_fields = true })).abi_version;
}
