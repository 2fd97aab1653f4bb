//! What to do about a libllama that cannot be loaded. The system's message often does not say: to glibc, a
//! library for another processor is "no such file".

const std = @import("std");
const builtin = @import("builtin");
const file = @import("engine").file;

/// For the end of an error message; "" if there is no advice.
pub fn of(path: [:0]const u8, message: []const u8) []const u8 {
    var buffer: [4096]u8 = undefined;
    if (file.readStart(path, &buffer)) |start| {
        if (processorOf(start)) |processor| {
            if (processor != here) return "; it is for another processor or system: install the one for " ++ here_name;
        }
    }
    for ([_][]const u8{ "failed to map segment", "ermission denied", "not permitted", "code signature" }) |sign| {
        if (std.mem.find(u8, message, sign) != null)
            return "; the system does not let this process execute it: put it in a folder that is not mounted noexec";
    }
    return "";
}

const Processor = enum { elf_x86_64, elf_aarch64, macho_x86_64, macho_aarch64, pe_x86_64, pe_aarch64, another };

const here: Processor = switch (builtin.cpu.arch) {
    .x86_64 => switch (builtin.object_format) {
        .macho => .macho_x86_64,
        .coff => .pe_x86_64,
        else => .elf_x86_64,
    },
    .aarch64 => switch (builtin.object_format) {
        .macho => .macho_aarch64,
        .coff => .pe_aarch64,
        else => .elf_aarch64,
    },
    else => .another,
};

const here_name = @tagName(builtin.os.tag) ++ " " ++ @tagName(builtin.cpu.arch);

/// Null if this is no library, or its start does not tell the processor.
fn processorOf(start: []const u8) ?Processor {
    if (start.len < 64) return null;
    if (std.mem.startsWith(u8, start, "\x7fELF")) return switch (std.mem.readInt(u16, start[18..20], .little)) {
        62 => .elf_x86_64,
        183 => .elf_aarch64,
        else => .another,
    };
    if (std.mem.startsWith(u8, start, "\xcf\xfa\xed\xfe")) return switch (std.mem.readInt(u32, start[4..8], .little)) {
        0x01000007 => .macho_x86_64,
        0x0100000c => .macho_aarch64,
        else => .another,
    };
    if (!std.mem.startsWith(u8, start, "MZ")) return null;
    const header = std.mem.readInt(u32, start[60..64], .little);
    if (header > start.len - 6) return null;
    return switch (std.mem.readInt(u16, start[header + 4 ..][0..2], .little)) {
        0x8664 => .pe_x86_64,
        0xaa64 => .pe_aarch64,
        else => .another,
    };
}

test "a library is told by its start" {
    var start: [64]u8 = @splat(0);
    try std.testing.expectEqual(null, processorOf(&start));
    try std.testing.expectEqual(null, processorOf("\x7fELF"));
    start[0..4].* = "\x7fELF".*;
    start[18] = 183;
    try std.testing.expectEqual(.elf_aarch64, processorOf(&start));
    start[18] = 40;
    try std.testing.expectEqual(.another, processorOf(&start));
    start[0..4].* = "\xcf\xfa\xed\xfe".*;
    start[4..8].* = .{ 0x0c, 0, 0, 1 };
    try std.testing.expectEqual(.macho_aarch64, processorOf(&start));
    start[0..2].* = "MZ".*;
    start[60..64].* = .{ 255, 255, 255, 255 };
    try std.testing.expectEqual(null, processorOf(&start));
    start[60..64].* = .{ 8, 0, 0, 0 };
    start[12..14].* = .{ 0x64, 0x86 };
    try std.testing.expectEqual(.pe_x86_64, processorOf(&start));
}
