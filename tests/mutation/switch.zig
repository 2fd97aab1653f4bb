//! Chooses the mutant of a run, in a copy of the sources in which all of them lie side by side. Copied to the root of
//! each module. ELIZA_MUTANT is the number of the mutant; the bytes of the file ELIZA_MUTANTS_REACHED say which of
//! them a run comes by. A mutant that the compiler makes code for leaves its mark in the file: the others are in no
//! program.

const std = @import("std");
const builtin = @import("builtin");

var reached: ?[*]u8 = null;
var chosen: u32 = 0;
var nowhere: [1 << 16]u8 = undefined;

pub inline fn on(comptime id: u32) bool {
    if (@inComptime()) return false;
    if (builtin.zig_backend == .stage2_llvm) asm volatile (mark(id));
    return isChosen(id);
}

/// Text in a section that is not loaded.
fn mark(comptime id: u32) []const u8 {
    return std.fmt.comptimePrint(".pushsection .mutants\n.ascii \"mutant {d};\"\n.popsection", .{id});
}

noinline fn isChosen(id: u32) bool {
    (reached orelse start())[id] = 1;
    return id == chosen;
}

fn start() [*]u8 {
    const number = std.c.getenv("ELIZA_MUTANT");
    chosen = if (number) |text| std.fmt.parseInt(u32, std.mem.span(text), 10) catch 0 else 0;
    reached = map() orelse &nowhere;
    return reached.?;
}

fn map() ?[*]u8 {
    const path = std.c.getenv("ELIZA_MUTANTS_REACHED") orelse return null;
    const file = std.c.open(path, .{ .ACCMODE = .RDWR });
    if (file < 0) return null;
    defer _ = std.c.close(file);
    const at = std.c.mmap(null, nowhere.len, .{ .READ = true, .WRITE = true }, .{ .TYPE = .SHARED }, file, 0);
    return if (at == std.c.MAP_FAILED) null else @ptrCast(at);
}
