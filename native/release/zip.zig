//! zip OUTPUT (NAME PATH)...: writes an archive without compression, always the same for the same files.
//!
//! A NAME that ends with a slash is a folder: all files of the folder PATH go there, under their names.

const std = @import("std");

const Entry = struct { name: []const u8, content: []const u8 };

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    var entries: std.ArrayList(Entry) = .empty;
    var rest = arguments[2..];
    while (rest.len > 0) : (rest = rest[2..]) {
        if (std.mem.endsWith(u8, rest[0], "/")) {
            try addFolder(init, &entries, rest[0], rest[1]);
        } else {
            try entries.append(arena, .{ .name = rest[0], .content = try read(init, rest[1]) });
        }
    }
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = arguments[1], .data = try archive(arena, entries.items) });
}

fn addFolder(init: std.process.Init, entries: *std.ArrayList(Entry), prefix: []const u8, path: []const u8) !void {
    const arena = init.arena.allocator();
    const first = entries.items.len;
    var folder = try std.Io.Dir.cwd().openDir(init.io, path, .{ .iterate = true });
    defer folder.close(init.io);
    var walker = try folder.walk(arena);
    while (try walker.next(init.io)) |found| {
        if (found.kind != .file) continue;
        try entries.append(arena, .{
            .name = try std.mem.concat(arena, u8, &.{ prefix, found.path }),
            .content = try folder.readFileAlloc(init.io, found.path, arena, .unlimited),
        });
    }
    std.mem.sort(Entry, entries.items[first..], {}, byName);
}

fn byName(_: void, a: Entry, b: Entry) bool {
    return std.mem.lessThan(u8, a.name, b.name);
}

fn read(init: std.process.Init, path: []const u8) ![]u8 {
    return std.Io.Dir.cwd().readFileAlloc(init.io, path, init.arena.allocator(), .unlimited);
}

fn archive(arena: std.mem.Allocator, entries: []const Entry) ![]u8 {
    var output: std.ArrayList(u8) = .empty;
    var directory: std.ArrayList(u8) = .empty;
    for (entries) |entry| {
        const local: std.zip.LocalFileHeader = .{
            .signature = std.zip.local_file_header_sig,
            .version_needed_to_extract = version_2_0,
            .flags = @bitCast(@as(u16, 0)),
            .compression_method = .store,
            .last_modification_time = 0,
            .last_modification_date = first_of_1980,
            .crc32 = std.hash.Crc32.hash(entry.content),
            .compressed_size = @intCast(entry.content.len),
            .uncompressed_size = @intCast(entry.content.len),
            .filename_len = @intCast(entry.name.len),
            .extra_len = 0,
        };
        const central: std.zip.CentralDirectoryFileHeader = .{
            .signature = std.zip.central_file_header_sig,
            .version_made_by = version_2_0,
            .version_needed_to_extract = local.version_needed_to_extract,
            .flags = local.flags,
            .compression_method = local.compression_method,
            .last_modification_time = local.last_modification_time,
            .last_modification_date = local.last_modification_date,
            .crc32 = local.crc32,
            .compressed_size = local.compressed_size,
            .uncompressed_size = local.uncompressed_size,
            .filename_len = local.filename_len,
            .extra_len = 0,
            .comment_len = 0,
            .disk_number = 0,
            .internal_file_attributes = 0,
            .external_file_attributes = 0,
            .local_file_header_offset = @intCast(output.items.len),
        };
        for ([_][]const u8{ std.mem.asBytes(&local), entry.name, entry.content }) |part| try output.appendSlice(arena, part);
        for ([_][]const u8{ std.mem.asBytes(&central), entry.name }) |part| try directory.appendSlice(arena, part);
    }
    const end: std.zip.EndRecord = .{
        .signature = std.zip.end_record_sig,
        .disk_number = 0,
        .central_directory_disk_number = 0,
        .record_count_disk = @intCast(entries.len),
        .record_count_total = @intCast(entries.len),
        .central_directory_size = @intCast(directory.items.len),
        .central_directory_offset = @intCast(output.items.len),
        .comment_len = 0,
    };
    for ([_][]const u8{ directory.items, std.mem.asBytes(&end) }) |part| try output.appendSlice(arena, part);
    return output.items;
}

const version_2_0 = 20;
const first_of_1980 = 1 << 5 | 1;
