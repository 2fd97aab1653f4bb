//! identify STRIPPED WHOLE OUTPUT: a copy of WHOLE, the same library with its symbols, under the id of STRIPPED, by which
//! debuggers and crash reporters find one for the other: the build-id of ELF, the UUID of Mach-O.

const std = @import("std");

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    const stripped, const whole = .{ try read(init, arguments[1]), try read(init, arguments[2]) };
    const from, const to = .{ try idOf(stripped), try idOf(whole) };
    if (from.len != to.len) return error.IdsDifferInLength;
    @memcpy(to, from);
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = arguments[3], .data = whole });
}

fn read(init: std.process.Init, path: []const u8) ![]u8 {
    return std.Io.Dir.cwd().readFileAlloc(init.io, path, init.arena.allocator(), .unlimited);
}

fn idOf(file: []u8) ![]u8 {
    if (std.mem.startsWith(u8, file, "\x7fELF")) return buildId(file);
    if (std.mem.startsWith(u8, file, "\xcf\xfa\xed\xfe")) return uuid(file);
    return error.NotALibrary;
}

/// After the head of its note, which little-endian processors of either width write the same.
fn buildId(file: []u8) ![]u8 {
    const head = "\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00";
    const place = std.mem.find(u8, file, head) orelse return error.NoId;
    if (file.len - place < head.len + 20) return error.NotALibrary;
    return file[place + head.len ..][0..20];
}

fn uuid(file: []u8) ![]u8 {
    var command: usize = @sizeOf(std.macho.mach_header_64);
    const end = command + std.mem.readInt(u32, file[20..24], .little);
    if (end > file.len) return error.NotALibrary;
    while (end - command >= 24) {
        const kind = std.mem.readInt(u32, file[command..][0..4], .little);
        if (kind == @backingInt(std.macho.LC.UUID)) return file[command + 8 ..][0..16];
        const size = std.mem.readInt(u32, file[command + 4 ..][0..4], .little);
        if (size < 8 or size > end - command) return error.NotALibrary;
        command += size;
    }
    return error.NoId;
}
