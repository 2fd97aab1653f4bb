//! Runs the tests whose numbers are its arguments until the first that fails. Without arguments it runs all, and prints
//! for each its number, its time in microseconds, its name, and the mutants that it came by.

const std = @import("std");
const builtin = @import("builtin");
const testing = std.testing;

pub const std_options: std.Options = .{ .logFn = log };

fn log(comptime _: std.log.Level, comptime _: @EnumLiteral(), comptime _: []const u8, _: anytype) void {}

const reached_bytes = 1 << 16;
var arguments_buffer: [1 << 16]u8 = undefined;

pub fn main(init: std.process.Init.Minimal) void {
    var fixed: std.heap.FixedBufferAllocator = .init(&arguments_buffer);
    const arguments = init.args.toSlice(fixed.allocator()) catch @panic("too many arguments");
    if (arguments.len == 1) return recordAll(init);
    for (arguments[1..]) |argument| {
        const i = std.fmt.parseInt(usize, argument, 10) catch @panic("not a number");
        if (!run(init, i)) {
            std.debug.print("failed: {s}\n", .{builtin.test_functions[i].name});
            std.process.exit(1);
        }
    }
}

extern "c" fn clock() c_long;

fn recordAll(init: std.process.Init.Minimal) void {
    _ = takeReached();
    for (builtin.test_functions, 0..) |each, i| {
        const before = clock();
        const passed = run(init, i);
        std.debug.print("\nrecord {d} {d} {s} {s} |", .{ i, clock() - before, if (passed) "passed" else "FAILED", each.name });
        for (takeReached(), 0..) |byte, id| if (byte != 0) std.debug.print(" {d}", .{id});
        std.debug.print("\n", .{});
    }
}

fn run(init: std.process.Init.Minimal, i: usize) bool {
    testing.allocator_instance = .init(std.heap.page_allocator, .{ .canary = 0xc3a701ba, .check_write_after_free = true });
    testing.io_instance = .init(testing.allocator, .{ .argv0 = .init(init.args), .environ = init.environ });
    testing.log_level = .warn;
    testing.environ = init.environ;
    const passed = if (builtin.test_functions[i].func()) |_| true else |err| err == error.SkipZigTest;
    testing.io_instance.deinit();
    return testing.allocator_instance.deinit() == 0 and passed;
}

/// What was reached since the last call.
fn takeReached() []const u8 {
    const static = struct {
        var bytes: [reached_bytes]u8 = undefined;
        const zeros: [reached_bytes]u8 = @splat(0);
    };
    const path = std.c.getenv("ELIZA_MUTANTS_REACHED") orelse return &.{};
    const file = std.c.open(path, .{ .ACCMODE = .RDWR });
    if (file < 0) return &.{};
    defer _ = std.c.close(file);
    const length = std.c.pread(file, &static.bytes, reached_bytes, 0);
    _ = std.c.pwrite(file, &static.zeros, reached_bytes, 0);
    return static.bytes[0..@intCast(@max(length, 0))];
}
