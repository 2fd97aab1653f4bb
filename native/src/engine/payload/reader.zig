//! Pulls values from left to right, out of JSON or MessagePack. The decoder is the same for both formats, and
//! so are its messages; what differs is in json.zig and msgpack.zig.
//!
//! Errors are `error.Malformed` (`Input.problem` says what, and where), `error.TooDeep` and
//! `error.OutOfMemory`. Frequent calls return what they find through a pointer: a result beside an error would
//! be written in parts and read as a whole, and the processor would wait.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const json = @import("json.zig");
const msgpack = @import("msgpack.zig");
const input = @import("input.zig");
const Input = input.Input;
const Kind = input.Kind;
const Container = input.Container;
const Integer = input.Integer;
const Error = input.Error;

/// The formats of payloads.
pub const Format = enum { json, msgpack };

/// A reading position in a payload. Lends the payload's bytes.
pub const Reader = struct {
    format: Format,
    in: Input,
    depth: u32 = 0,
    depth_max: u32,

    /// At the first value. More than `depth_max` nested containers are an error.
    pub fn init(format: Format, bytes: []const u8, depth_max: u32) Reader {
        return .{ .format = format, .in = .{ .bytes = bytes }, .depth_max = depth_max };
    }

    /// What the next value is. Does not take it. `nothing`: the input is malformed.
    pub fn kind(r: *Reader) Kind {
        return switch (r.format) {
            .json => json.kind(&r.in),
            .msgpack => msgpack.kind(&r.in),
        };
    }

    /// Enters a map or an array; `container_kind` is what `kind` said.
    pub fn open(r: *Reader, container: *Container, container_kind: Kind) Error!void {
        if (r.depth == r.depth_max) return error.TooDeep;
        r.depth += 1;
        container.* = .{ .kind = container_kind };
        switch (r.format) {
            .json => r.in.at += 1,
            .msgpack => try msgpack.open(&r.in, container),
        }
    }

    /// Whether another element (in a map: another key) follows. If not, the container is left.
    pub inline fn more(r: *Reader, container: *Container) Error!bool {
        try r.next(container);
        return !container.ended;
    }

    fn next(r: *Reader, container: *Container) Error!void {
        switch (r.format) {
            .json => try json.next(&r.in, container),
            .msgpack => try msgpack.next(&r.in, container),
        }
        if (container.ended) r.depth -= 1;
    }

    /// Takes a key. Lent until the next call. Copied to `scratch` only if it has escapes.
    pub fn key(r: *Reader, scratch: *ArrayList(u8), gpa: Allocator) Error![]const u8 {
        scratch.clearRetainingCapacity();
        var name: []const u8 = undefined;
        try r.text(scratch, gpa, &name);
        if (r.format == .json) try json.colon(&r.in);
        return name;
    }

    /// Takes the next key if it is `name`, spelled as most writers do. False: nothing was taken, and `more` and
    /// `key` say what follows.
    pub inline fn plainKey(r: *Reader, map: *Container, comptime name: []const u8) bool {
        return switch (r.format) {
            .json => json.plainKey(&r.in, map, name),
            .msgpack => msgpack.plainKey(&r.in, map, name),
        };
    }

    /// Takes a string; `out` becomes valid UTF-8. Lent by the payload or, if the string had escapes, by `list`,
    /// to which it was appended.
    pub fn text(r: *Reader, list: *ArrayList(u8), gpa: Allocator, out: *[]const u8) Error!void {
        return switch (r.format) {
            .json => json.text(&r.in, list, gpa, out),
            .msgpack => msgpack.text(&r.in, out),
        };
    }

    /// Takes the elements of an array as long as they are token ids, spelled as most writers do, and `room`
    /// lasts. Returns their number.
    pub fn plainTokens(r: *Reader, array: *Container, room: []i32) usize {
        return switch (r.format) {
            .json => json.plainTokens(&r.in, array, room),
            .msgpack => msgpack.plainTokens(&r.in, array, room),
        };
    }

    /// Takes an integer; `kind` said that it is one.
    pub fn integer(r: *Reader) Error!Integer {
        return switch (r.format) {
            .json => json.integer(&r.in),
            .msgpack => msgpack.integer(&r.in),
        };
    }

    /// Takes any value and everything in it.
    pub fn skip(r: *Reader, scratch: *ArrayList(u8), gpa: Allocator) Error!void {
        const found = r.kind();
        switch (found) {
            .map, .array => {
                var container: Container = undefined;
                try r.open(&container, found);
                while (try r.more(&container)) {
                    if (found == .map) _ = try r.key(scratch, gpa);
                    try r.skip(scratch, gpa);
                }
            },
            .string => {
                var skipped: []const u8 = undefined;
                scratch.clearRetainingCapacity();
                try r.text(scratch, gpa, &skipped);
            },
            .integer => _ = try r.integer(),
            .nothing => return error.Malformed,
            else => switch (r.format) {
                .json => try json.skipOther(&r.in, found),
                .msgpack => try msgpack.skipOther(&r.in, found),
            },
        }
    }

    /// Checks that nothing follows.
    pub fn end(r: *Reader) Error!void {
        if (r.format == .json) json.skipSpace(&r.in);
        if (r.in.at != r.in.bytes.len) return r.in.malformed("trailing bytes", r.in.at);
    }
};
