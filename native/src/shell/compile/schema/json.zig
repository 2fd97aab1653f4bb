//! Reads JSON (RFC 8259), strictly, into a tree: UTF-8 without BOM, no key twice, numbers as they are spelled.
//! Without recursion, so that no text can exhaust the caller's stack.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const firstInvalid = @import("../utf8_text.zig").firstInvalid;

pub const Error = Allocator.Error || diagnostic.Error;

/// ELIZA_JSON_SCHEMA_BYTES_MAX of the header.
pub const bytes_max = 64 << 20;
/// Arrays and objects within each other.
pub const nesting_max = 1000;

pub const Value = union(enum) {
    null,
    boolean: bool,
    /// As it is spelled.
    number: []const u8,
    /// Its content: a slice of the text if nothing in it is escaped. A surrogate without its other half is
    /// encoded as if it were a character.
    string: []const u8,
    array: []const Value,
    object: Object,
};

/// Members in the order of the text.
pub const Object = struct {
    first: [*]const Member,
    len: u32,
    /// The objects of all texts that one reader numbered, from 0.
    serial: u32,

    pub fn members(object: Object) []const Member {
        return object.first[0..object.len];
    }

    /// Looks at each key.
    pub fn get(object: Object, key: []const u8) ?*const Value {
        for (object.members()) |*member| if (isSame(member.key, key)) return &member.value;
        return null;
    }
};

/// The lengths differ most often, and a call costs more than to see that.
inline fn isSame(x: []const u8, y: []const u8) bool {
    return x.len == y.len and std.mem.eql(u8, x, y);
}

pub const Member = struct { key: []const u8, value: Value };

/// The tree lives in `arena` and lends strings and numbers from `text`. Objects are numbered from
/// `n_objects` on, which is moved after them.
pub fn read(gpa: Allocator, arena: Allocator, text: []const u8, n_objects: *u32, budget: *Budget, diag: *Diagnostic) Error!Value {
    if (text.len > bytes_max) return diag.fail(.limit, "{d} bytes of JSON Schema are more than {d}", .{ text.len, bytes_max });
    var reader: Reader = .{ .gpa = gpa, .arena = arena, .text = text, .n_objects = n_objects, .budget = budget, .diag = diag };
    defer reader.unfinished.deinit(gpa);
    if (firstInvalid(text)) |at| return reader.fail(at, "this is not UTF-8");
    return reader.run();
}

/// Whether a string of the tree stands in the text as it is.
pub fn isUnescaped(text: []const u8, string: []const u8) bool {
    const at = @intFromPtr(string.ptr);
    return at > @intFromPtr(text.ptr) and at < @intFromPtr(text.ptr) + text.len;
}

/// Objects with more members than this are searched for double keys by hash.
const few = 12;
/// Bytes, or values, between two looks at the budget.
const budget_interval = 1 << 13;
/// A value that is kept counts as so many bytes.
const value_bytes = 8;

const Reader = struct {
    gpa: Allocator,
    arena: Allocator,
    text: []const u8,
    at: usize = 0,
    n_objects: *u32,
    budget: *Budget,
    diag: *Diagnostic,
    /// Bytes up to the next look at the budget.
    left: usize = budget_interval,
    depth: usize = 0,
    open: [nesting_max]Open = undefined,
    /// The members and items so far of what is open, the outermost first; the last of each may lack its
    /// value yet. Items have no key.
    unfinished: ArrayList(Member) = .empty,

    const Open = struct { is_object: bool, first: u32, at: u32 };

    fn run(r: *Reader) Error!Value {
        try r.unfinished.append(r.gpa, .{ .key = "", .value = .null }); // the whole text
        while (true) {
            try r.beginValue() orelse continue;
            while (true) {
                if (r.depth == 0) return r.end();
                if (!try r.isClosed()) break;
            }
        }
    }

    inline fn work(r: *Reader, n_bytes: usize) Error!void {
        if (r.left > n_bytes) r.left -= n_bytes else return r.look();
    }

    noinline fn look(r: *Reader) Error!void {
        r.left = budget_interval;
        return r.budget.check("the schema", r.diag);
    }

    fn end(r: *Reader) Error!Value {
        if (try r.peek() != null) return r.fail(r.at, "nothing may follow the value");
        return r.unfinished.items[0].value;
    }

    /// Reads a value, or opens one and stands before its first child: null.
    fn beginValue(r: *Reader) Error!?void {
        try r.work(value_bytes);
        const byte = try r.peek() orelse return r.fail(r.at, "the text ends within a value");
        const value: Value = switch (byte) {
            '{', '[' => return r.beginContainer(byte == '{'),
            '"' => .{ .string = try r.string() },
            '-', '0'...'9' => .{ .number = try r.number() },
            't' => try r.word("true", .{ .boolean = true }),
            'f' => try r.word("false", .{ .boolean = false }),
            'n' => try r.word("null", .null),
            else => return r.fail(r.at, "a value is missing here"),
        };
        r.setLast(value);
    }

    fn setLast(r: *Reader, value: Value) void {
        r.unfinished.items[r.unfinished.items.len - 1].value = value;
    }

    fn beginContainer(r: *Reader, is_object: bool) Error!?void {
        if (r.depth == nesting_max) {
            return r.diag.fail(.limit, "at byte {d}: more than {d} arrays and objects within each other", .{ r.at, nesting_max });
        }
        r.open[r.depth] = .{ .is_object = is_object, .first = @intCast(r.unfinished.items.len), .at = @intCast(r.at) };
        r.depth += 1;
        r.at += 1;
        if (try r.peek() == closing(is_object)) return try r.close();
        try r.beginChild(is_object);
        return null;
    }

    fn closing(is_object: bool) u8 {
        return if (is_object) '}' else ']';
    }

    /// After a child: whether what is open ends here. Else it stands before the next one.
    fn isClosed(r: *Reader) Error!bool {
        const is_object = r.open[r.depth - 1].is_object;
        const byte = try r.peek();
        if (byte == closing(is_object)) {
            try r.close();
            return true;
        }
        if (byte != ',') return r.fail(r.at, if (is_object) "expected ',' or '}'" else "expected ',' or ']'");
        r.at += 1;
        try r.beginChild(is_object);
        return false;
    }

    fn beginChild(r: *Reader, is_object: bool) Error!void {
        var key: []const u8 = "";
        if (is_object) {
            if (try r.peek() != '"') return r.fail(r.at, "expected a key");
            key = try r.string();
            if (try r.peek() != ':') return r.fail(r.at, "expected ':'");
            r.at += 1;
        }
        try r.unfinished.append(r.gpa, .{ .key = key, .value = .null });
    }

    fn close(r: *Reader) Error!void {
        r.at += 1;
        const open = r.open[r.depth - 1];
        const children = r.unfinished.items[open.first..];
        try r.budget.take(children.len * @sizeOf(Member), "the schema", r.diag);
        const value: Value = if (open.is_object) value: {
            try r.findDouble(children);
            const members = try r.arena.dupe(Member, children);
            defer r.n_objects.* += 1;
            break :value .{ .object = .{ .first = members.ptr, .len = @intCast(members.len), .serial = r.n_objects.* } };
        } else value: {
            const items = try r.arena.alloc(Value, children.len);
            for (items, children) |*item, child| {
                try r.work(value_bytes);
                item.* = child.value;
            }
            break :value .{ .array = items };
        };
        r.depth -= 1;
        r.unfinished.shrinkRetainingCapacity(open.first);
        r.setLast(value);
    }

    fn findDouble(r: *Reader, children: []const Member) Error!void {
        if (children.len <= few) {
            for (children, 0..) |child, i| for (children[0..i]) |before| {
                if (isSame(before.key, child.key)) return r.failDouble(child.key);
            };
            return;
        }
        var seen: Texts = .{};
        defer seen.deinit(r.gpa);
        for (children, 0..) |child, i| {
            try r.work(value_bytes * few);
            if (try seen.put(r.gpa, child.key) < i) return r.failDouble(child.key);
        }
    }

    fn failDouble(r: *Reader, key: []const u8) diagnostic.Error {
        const at = r.open[r.depth - 1].at;
        return r.diag.fail(.grammar, "at byte {d}: this object has the key {f} twice", .{ at, quoted(key) });
    }

    /// Its content; stands before the quote.
    fn string(r: *Reader) Error![]const u8 {
        const first = r.at + 1;
        const last = try r.plainEnd(first);
        if (r.text[last] == '\\') return r.escapedString(first);
        r.at = last + 1;
        return r.text[first..last];
    }

    /// Where the next quote or backslash is.
    fn plainEnd(r: *const Reader, from: usize) Error!usize {
        const Block = @Vector(16, u8);
        var at = from;
        while (at + 16 <= r.text.len) : (at += 16) {
            const block: Block = r.text[at..][0..16].*;
            const is_special = @as(@Vector(16, u1), @bitCast(block == @as(Block, @splat('"')))) |
                @as(@Vector(16, u1), @bitCast(block == @as(Block, @splat('\\')))) |
                @as(@Vector(16, u1), @bitCast(block < @as(Block, @splat(0x20))));
            const special: u16 = @bitCast(is_special);
            if (special == 0) continue;
            at += @ctz(special);
            break;
        }
        while (at < r.text.len) : (at += 1) switch (r.text[at]) {
            '"', '\\' => return at,
            0...0x1f => return r.fail(at, "a control character in a string must be escaped"),
            else => {},
        };
        return r.fail(from - 1, "this string is not closed");
    }

    fn escapedString(r: *Reader, first: usize) Error![]const u8 {
        var out: ArrayList(u8) = .empty;
        var at = first;
        while (true) {
            const special = try r.plainEnd(at);
            try r.work(value_bytes);
            try out.appendSlice(r.arena, r.text[at..special]);
            at = special + 1;
            if (r.text[special] == '"') break;
            at = try r.escape(&out, at);
        }
        r.at = at;
        try r.budget.take(out.capacity, "the schema", r.diag);
        return out.items;
    }

    /// From after the backslash; where it ends.
    fn escape(r: *Reader, out: *ArrayList(u8), at: usize) Error!usize {
        const byte: u8 = switch (if (at < r.text.len) r.text[at] else 0) {
            '"', '\\', '/' => |same| same,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return r.unicodeEscape(out, at),
            else => return r.fail(at - 1, "no such escape"),
        };
        try out.append(r.arena, byte);
        return at + 1;
    }

    fn unicodeEscape(r: *Reader, out: *ArrayList(u8), at: usize) Error!usize {
        var character: u21 = try r.unit(at);
        var end_at = at + 5;
        if (std.unicode.utf16IsHighSurrogate(@intCast(character)) and std.mem.startsWith(u8, r.text[end_at..], "\\u")) {
            const low = try r.unit(end_at + 1);
            if (std.unicode.utf16IsLowSurrogate(low)) {
                character = 0x10000 + ((character & 0x3ff) << 10 | (low & 0x3ff));
                end_at += 6;
            }
        }
        var buffer: [4]u8 = undefined;
        const len = std.unicode.wtf8Encode(character, &buffer) catch unreachable; // up to 0x10ffff
        try out.appendSlice(r.arena, buffer[0..len]);
        return end_at;
    }

    /// The four digits after the `u` at `at`.
    fn unit(r: *Reader, at: usize) Error!u16 {
        var value: u16 = 0;
        for (1..5) |i| {
            const digit = if (at + i < r.text.len) std.fmt.charToDigit(r.text[at + i], 16) catch null else null;
            value = value << 4 | (digit orelse return r.fail(at - 1, "\\u needs four hexadecimal digits"));
        }
        return value;
    }

    fn number(r: *Reader) Error![]const u8 {
        const first = r.at;
        _ = r.take('-');
        if (!r.take('0')) try r.digits(first);
        if (r.take('.')) try r.digits(first);
        if (r.take('e') or r.take('E')) {
            _ = r.take('+') or r.take('-');
            try r.digits(first);
        }
        return r.text[first..r.at];
    }

    fn take(r: *Reader, byte: u8) bool {
        if (r.at == r.text.len or r.text[r.at] != byte) return false;
        r.at += 1;
        return true;
    }

    fn digits(r: *Reader, first: usize) Error!void {
        const from = r.at;
        while (r.at < r.text.len and std.ascii.isDigit(r.text[r.at])) : (r.at += 1) try r.work(1);
        if (r.at == from) return r.fail(first, "this number is not complete");
    }

    fn word(r: *Reader, comptime expected: []const u8, value: Value) Error!Value {
        if (!std.mem.startsWith(u8, r.text[r.at..], expected)) return r.fail(r.at, "a value is missing here");
        r.at += expected.len;
        return value;
    }

    /// The next byte that is no white space.
    inline fn peek(r: *Reader) Error!?u8 {
        // Most often there is one space, or none.
        if (r.at < r.text.len and r.text[r.at] == ' ') r.at += 1;
        if (r.at < r.text.len and r.text[r.at] > ' ') return r.text[r.at];
        return r.skip();
    }

    noinline fn skip(r: *Reader) Error!?u8 {
        while (r.at < r.text.len) : (r.at += 1) switch (r.text[r.at]) {
            ' ', '\n', '\r', '\t' => try r.work(1),
            else => |byte| return byte,
        };
        return null;
    }

    fn fail(r: *const Reader, at: usize, reason: []const u8) diagnostic.Error {
        @branchHint(.cold);
        return r.diag.fail(.grammar, "the schema is not JSON: at byte {d}: {s}", .{ at, reason });
    }
};

const testing = std.testing;

fn expectRead(text: []const u8, expected: []const u8) !void {
    var arena_state: Arena = .init(testing.allocator);
    defer arena_state.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var n_objects: u32 = 0;
    var out: std.Io.Writer.Allocating = .init(arena_state.allocator());
    if (read(testing.allocator, arena_state.allocator(), text, &n_objects, &budget, &diag)) |value| {
        try print(value, &out.writer);
    } else |_| try out.writer.writeAll(diag.message());
    try testing.expectEqualStrings(expected, out.written());
}

fn print(value: Value, writer: *std.Io.Writer) !void {
    switch (value) {
        .null => try writer.writeAll("null"),
        .boolean => |is| try writer.print("{}", .{is}),
        .number => |text| try writer.writeAll(text),
        .string => |text| try writer.print("<{s}>", .{text}),
        .array => |items| {
            try writer.writeByte('[');
            for (items) |item| {
                try print(item, writer);
                try writer.writeByte(' ');
            }
            try writer.writeByte(']');
        },
        .object => |object| {
            try writer.print("{d}{{", .{object.serial});
            for (object.members()) |member| {
                try writer.print("{s}=", .{member.key});
                try print(member.value, writer);
                try writer.writeByte(' ');
            }
            try writer.writeByte('}');
        },
    }
}

test "values" {
    try expectRead(" { \"b\" : [ 1 , -0.50e+1, true,false ,null ] , \"a\":{} }\n", "1{b=[1 -0.50e+1 true false null ] a=0{} }");
    try expectRead("[[],[[\"x\"]],\"\"]", "[[] [[<x> ] ] <> ]");
    try expectRead("\"a\\n\\u00e9\\ud83d\\ude00\\\"\\/ 0123456789abcdef\\\\\"", "<a\n\u{e9}\u{1f600}\"/ 0123456789abcdef\\>");
    try expectRead("\"\\ud83dx\\ude00\"", "<\xed\xa0\xbdx\xed\xb8\x80>");
}

test "what is not JSON" {
    try expectRead("", "the schema is not JSON: at byte 0: the text ends within a value");
    try expectRead("[1,]", "the schema is not JSON: at byte 3: a value is missing here");
    try expectRead("[1 2]", "the schema is not JSON: at byte 3: expected ',' or ']'");
    try expectRead("{\"a\" 1}", "the schema is not JSON: at byte 5: expected ':'");
    try expectRead("{a: 1}", "the schema is not JSON: at byte 1: expected a key");
    try expectRead("01", "the schema is not JSON: at byte 1: nothing may follow the value");
    try expectRead("-", "the schema is not JSON: at byte 0: this number is not complete");
    try expectRead("1.e5", "the schema is not JSON: at byte 0: this number is not complete");
    try expectRead("truth", "the schema is not JSON: at byte 0: a value is missing here");
    try expectRead("\"abc", "the schema is not JSON: at byte 0: this string is not closed");
    try expectRead("\"a\tb\"", "the schema is not JSON: at byte 2: a control character in a string must be escaped");
    try expectRead("\"a\\x\"", "the schema is not JSON: at byte 2: no such escape");
    try expectRead("\"\\u12g4\"", "the schema is not JSON: at byte 1: \\u needs four hexadecimal digits");
    try expectRead("\"\\ud800\\u1\"", "the schema is not JSON: at byte 7: \\u needs four hexadecimal digits");
    try expectRead("[\"\xff\"]", "the schema is not JSON: at byte 2: this is not UTF-8");
    try expectRead("\xef\xbb\xbf1", "the schema is not JSON: at byte 0: a value is missing here");
    try expectRead("[{\"a\":1,\"b\":2,\"a\":3}]", "at byte 1: this object has the key \"a\" twice");
    const many = "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"10\":0,\"11\":0,\"12\":0,\"13\":0,\"5\":0}";
    try expectRead(many, "at byte 0: this object has the key \"5\" twice");
    try expectRead(&@as([100_000]u8, @splat('[')), "at byte 1000: more than 1000 arrays and objects within each other");
}

test "each allocation may fail" {
    try testing.checkAllAllocationFailures(testing.allocator, readOnce, .{"{\"a\":[1,\"\\n\"],\"b\":{}}"});
}

fn readOnce(gpa: Allocator, text: []const u8) !void {
    var arena_state: Arena = .init(gpa);
    defer arena_state.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var n_objects: u32 = 0;
    _ = try read(gpa, arena_state.allocator(), text, &n_objects, &budget, &diag);
}
