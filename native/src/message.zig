//! Formatting of messages, with the argument types erased: one formatter serves all of the library's
//! messages, where the standard library's would be compiled anew for each (a fifth of the code).

const std = @import("std");
const Writer = std.Io.Writer;

/// One argument of a message. It lends what it points to.
pub const Argument = union(enum) {
    text: []const u8,
    signed: i64,
    unsigned: u64,
    /// A value with a `format` method.
    other: struct { value: *const anyopaque, print: *const fn (*const anyopaque, *Writer) Writer.Error!void },

    inline fn of(arg: anytype) Argument {
        return switch (@typeInfo(@TypeOf(arg))) {
            .comptime_int => .{ .signed = arg },
            .int => |int| if (int.signedness == .signed) .{ .signed = arg } else .{ .unsigned = arg },
            .@"enum" => .{ .text = @tagName(arg) },
            .pointer => .{ .text = if (@TypeOf(arg) == [*:0]const u8) std.mem.span(arg) else arg },
            else => comptime unreachable,
        };
    }

    inline fn ofStruct(value: anytype) Argument {
        return .{ .other = .{ .value = value, .print = printerOf(@TypeOf(value.*)) } };
    }

    fn printerOf(comptime T: type) *const fn (*const anyopaque, *Writer) Writer.Error!void {
        return struct {
            fn print(value: *const anyopaque, writer: *Writer) Writer.Error!void {
                const typed: *const T = @ptrCast(@alignCast(value));
                return typed.format(writer);
            }
        }.print;
    }
};

/// Formats as `std.Io.Writer.print` does, for the placeholders {s}, {d}, {t}, {f} and {x:0>2}. What
/// does not fit the writer is left out.
pub inline fn print(writer: *Writer, comptime format: []const u8, args: anytype) void {
    comptime std.debug.assert(std.mem.count(u8, format, "{") == args.len);
    var erased: [args.len]Argument = undefined;
    inline for (&erased, 0..) |*to, i| {
        to.* = if (@typeInfo(@TypeOf(args[i])) == .@"struct") .ofStruct(&args[i]) else .of(args[i]);
    }
    printErased(writer, format, &erased) catch {};
}

noinline fn printErased(writer: *Writer, format: []const u8, args: []const Argument) Writer.Error!void {
    @branchHint(.cold);
    var rest = format;
    for (args) |arg| {
        const open = std.mem.findScalar(u8, rest, '{').?;
        const close = std.mem.findScalarPos(u8, rest, open, '}').?;
        try writer.writeAll(rest[0..open]);
        try printOne(writer, rest[open + 1], arg);
        rest = rest[close + 1 ..];
    }
    try writer.writeAll(rest);
}

fn printOne(writer: *Writer, placeholder: u8, arg: Argument) Writer.Error!void {
    switch (arg) {
        .text => |text| try writer.writeAll(text),
        .signed => |number| try writer.printInt(number, 10, .lower, .{}),
        .unsigned => |number| if (placeholder == 'x')
            try writer.printInt(number, 16, .lower, .{ .width = 2, .fill = '0' })
        else
            try writer.printInt(number, 10, .lower, .{}),
        .other => |other| try other.print(other.value, writer),
    }
}

test "messages read as the standard library would write them" {
    const Place = struct {
        at: u32,

        pub fn format(place: @This(), writer: *Writer) Writer.Error!void {
            try writer.print("<{d}>", .{place.at});
        }
    };
    const name: [*:0]const u8 = "name";
    var place: Place = .{ .at = 5 };
    place.at += 1;
    const args = .{ "text", @as(u8, 10), @as(i32, -3), 7, place, @as(std.math.Order, .lt), name };
    const format = "{s} 0x{x:0>2} {d}, {d} {f} {t} {s}.";
    var expected: [64]u8 = undefined;
    var found: [64]u8 = undefined;
    var writer: Writer = .fixed(&found);
    print(&writer, format, args);
    try std.testing.expectEqualStrings(try std.fmt.bufPrint(&expected, format, args), writer.buffered());
}
