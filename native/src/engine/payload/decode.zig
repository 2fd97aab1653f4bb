//! The format of a TokenTreePayload: its keys, what they hold, and the order in which errors are found.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Texts = @import("../base/texts.zig").Texts;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const limits = @import("limits.zig");
const message = @import("message");
const reader = @import("reader.zig");
const input = @import("input.zig");
const payload = @import("payload.zig");
const Payload = payload.Payload;
const Range = payload.Range;
const Place = payload.Place;
const Text = payload.Text;

/// Decodes JSON or MessagePack, told apart by the first byte. The caller frees the payload, which lends
/// `bytes`. Messages name the place: `descriptors[0].leaves[2].tokens[1]: ...`.
pub fn parse(gpa: Allocator, bytes: []const u8, diag: *Diagnostic) diagnostic.Error!Payload {
    try checkLength(bytes.len, diag);
    if (bytes.len == 0) return diag.fail(.payload, "payload: empty", .{});
    const first = bytes[0];
    return switch (first) {
        0x80...0x8f, 0xde, 0xdf => decode(gpa, .msgpack, bytes, diag),
        '{', ' ', '\t', '\n', '\r' => decode(gpa, .json, bytes, diag),
        else => diag.fail(.payload, "payload: expected a JSON object or a MessagePack map, found the first byte 0x{x:0>2}", .{first}),
    };
}

/// Fails for a payload of more bytes than the limit.
pub fn checkLength(n_bytes: usize, diag: *Diagnostic) diagnostic.Error!void {
    if (n_bytes <= limits.payload_bytes_max) return;
    return diag.fail(.limit, "payload: {d} bytes are more than {d}", .{ n_bytes, limits.payload_bytes_max });
}

fn decode(gpa: Allocator, format: reader.Format, bytes: []const u8, diag: *Diagnostic) diagnostic.Error!Payload {
    var decoder: Decoder = .{
        .reader = .init(format, bytes, limits.depth_max),
        .gpa = gpa,
        .diag = diag,
        .out = .{ .source = bytes },
    };
    defer decoder.scratch.deinit(gpa);
    errdefer decoder.out.deinit(gpa);
    decoder.document() catch |e| return switch (e) {
        error.Failed => error.Failed,
        error.Malformed => decoder.malformed(),
        error.TooDeep => diag.fail(.limit, "{f}: nested deeper than {d} levels", .{ &decoder.path, limits.depth_max }),
        error.OutOfMemory => diag.outOfMemory(),
    };
    return decoder.out;
}

/// Where the decoder is: `descriptors[2].leaves[7].tokens[1]`.
const Path = struct {
    segments: [8]Segment = undefined,
    len: usize = 0,

    const Segment = union(enum) { key: []const u8, index: u32 };

    fn push(path: *Path, segment: Segment) void {
        path.segments[path.len] = segment;
        path.len += 1;
    }

    fn pop(path: *Path) void {
        path.len -= 1;
    }

    pub fn format(path: Path, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        if (path.len == 0) return writer.writeAll("payload");
        for (path.segments[0..path.len], 0..) |segment, i| switch (segment) {
            .key => |key| try message.write(writer, "{s}{s}", .{ if (i == 0) "" else ".", key }),
            .index => |index| try message.write(writer, "[{d}]", .{index}),
        };
    }
};

/// Functions are `noinline` where the compiler would copy them to each caller, which made most of the decoder's
/// code.
const Decoder = struct {
    reader: reader.Reader,
    gpa: Allocator,
    diag: *Diagnostic,
    path: Path = .{},
    out: Payload,
    scratch: ArrayList(u8) = .empty,

    const Error = input.Error || diagnostic.Error;

    /// Errors become messages in the caller, and not at each place that fails.
    noinline fn document(d: *Decoder) Error!void {
        // Enough for most payloads, so that large ones do not move as they grow. Memory that is never written
        // costs nothing.
        try d.out.names.ensureTotalCapacity(d.gpa, d.out.source.len / 32);
        try d.out.sequences.ensureTotalCapacity(d.gpa, d.out.source.len / 32);
        try d.out.tokens.ensureTotalCapacity(d.gpa, d.out.source.len / 8);

        var fields: Fields(enum { modelId, descriptors, names }, .names) = undefined;
        try fields.open(d);
        while (try fields.next(d)) |key| switch (key) {
            .modelId => try d.name(&d.out.model_id),
            .descriptors => try d.descriptors(),
            .names => d.out.has_labels = try d.areLabels(),
        };
        try fields.require(d, &.{ .modelId, .descriptors });
        try d.reader.end();
        try d.checkPaths();
        try d.checkTriggers();
    }

    fn areLabels(d: *Decoder) Error!bool {
        var kind: Text = undefined;
        try d.name(&kind);
        const text = d.out.textOf(kind);
        if (std.mem.eql(u8, text, "labels")) return true;
        if (std.mem.eql(u8, text, "text")) return false;
        return d.fail("{f} is neither \"text\" nor \"labels\"", .{quoted(text)});
    }

    fn descriptors(d: *Decoder) Error!void {
        var array: input.Container = undefined;
        try d.open(&array, .array);
        while (try d.element(&array, d.descriptorIndex())) {
            if (d.out.descriptors.items.len == limits.descriptors_max) return d.beyond("descriptors", limits.descriptors_max);
            const one = try d.descriptor();
            try d.out.descriptors.append(d.gpa, one);
            d.path.pop();
        }
        if (d.out.descriptors.items.len == 0) return d.fail("expected at least one descriptor", .{});
    }

    fn descriptor(d: *Decoder) Error!payload.Descriptor {
        const nothing: Range = .{ .start = 0, .len = 0 };
        const no_leaves: Range = .{ .start = @intCast(d.out.names.items.len), .len = 0 };
        var one: payload.Descriptor = .{ .path = .{}, .leaves = no_leaves, .triggers = nothing, .end = nothing, .part = nothing };
        const first = d.reader.in.at;
        var language: ?[]const u8 = null;
        var fields: Fields(enum { path, leaves, trigger, end, json_schema, regex, lark, gbnf, ebnf, choices }, .end) = undefined;
        try fields.open(d);
        while (try fields.next(d)) |key| switch (key) {
            .path => try d.name(&one.path),
            .leaves => one.leaves = try d.leaves(),
            .trigger => one.triggers = try d.triggers(),
            .end => one.end = try d.endTokens(),
            .json_schema, .regex, .lark, .gbnf, .ebnf, .choices => {
                language = @tagName(key);
                try d.reader.skip(&d.scratch, d.gpa);
            },
        };
        try fields.require(d, &.{.path});
        if (language) |name_of_it| {
            if (one.leaves.len > 0) return d.fail("both \"leaves\" and \"{s}\"", .{name_of_it});
            one.part = .{ .start = @intCast(first), .len = @intCast(d.reader.in.at - first) };
        } else try fields.require(d, &.{.leaves});
        return one;
    }

    fn leaves(d: *Decoder) Error!Range {
        const start: u32 = @intCast(d.out.names.items.len);
        var array: input.Container = undefined;
        try d.open(&array, .array);
        var index: u32 = 0;
        while (try d.element(&array, index)) : (index += 1) {
            if (d.out.names.items.len == limits.leaves_max) return d.beyond("leaves in the payload", limits.leaves_max);
            try d.leaf(index);
            d.path.pop();
        }
        if (index == 0) return d.fail("expected at least one leaf", .{});
        return .{ .start = start, .len = index };
    }

    fn leaf(d: *Decoder, index: u32) Error!void {
        var leaf_name: Text = undefined;
        var sequence: Range = undefined;
        var fields: Fields(enum { name, tokens }, .tokens) = undefined;
        try fields.open(d);
        while (try fields.next(d)) |key| switch (key) {
            .name => try d.name(&leaf_name),
            .tokens => {
                const place: Place = .{ .descriptor = d.descriptorIndex(), .list = .leaves, .item = index };
                try d.tokens(place, limits.leaf_tokens_max, &sequence);
                if (sequence.len > d.out.longest.tokens) d.out.longest = .{ .tokens = sequence.len, .place = place };
            },
        };
        try fields.require(d, &.{ .name, .tokens });
        try d.out.names.append(d.gpa, leaf_name);
        try d.out.sequences.append(d.gpa, sequence);
    }

    fn triggers(d: *Decoder) Error!Range {
        const start: u32 = @intCast(d.out.triggers.items.len);
        var array: input.Container = undefined;
        try d.open(&array, .array);
        var index: u32 = 0;
        while (try d.element(&array, index)) : (index += 1) {
            if (index == limits.triggers_max) return d.beyond("triggers", limits.triggers_max);
            const place: Place = .{ .descriptor = d.descriptorIndex(), .list = .trigger, .item = index };
            try d.tokens(place, limits.trigger_tokens_max, try d.out.triggers.addOne(d.gpa));
            d.path.pop();
        }
        if (index == 0) return d.fail("expected at least one trigger", .{});
        return .{ .start = start, .len = index };
    }

    fn endTokens(d: *Decoder) Error!Range {
        var range: Range = undefined;
        try d.tokens(.{ .descriptor = d.descriptorIndex(), .list = .end }, limits.end_tokens_max, &range);
        const ids = range.of(d.out.tokens.items);
        std.sort.insertion(i32, ids, {}, std.sort.asc(i32));
        var kept: u32 = 1;
        for (ids[1..]) |id| {
            if (id == ids[kept - 1]) continue;
            ids[kept] = id;
            kept += 1;
        }
        d.out.tokens.shrinkRetainingCapacity(range.start + kept);
        range.len = kept;
        return range;
    }

    /// An array of at least one token id, appended to `out.tokens`.
    fn tokens(d: *Decoder, place: Place, count_max: u32, out: *Range) Error!void {
        const list = &d.out.tokens;
        const start = list.items.len;
        const len_max = @min(start + count_max, limits.tokens_max);
        var array: input.Container = undefined;
        try d.open(&array, .array);
        while (true) {
            try list.ensureUnusedCapacity(d.gpa, 1);
            const room = list.unusedCapacitySlice();
            list.items.len += d.reader.plainTokens(&array, room[0..@min(room.len, len_max - list.items.len)]);
            // The run stopped at the end, at another spelling, or for lack of room.
            const count: u32 = @intCast(list.items.len - start);
            if (!try d.element(&array, count)) break;
            const id = try d.tokenId();
            if (list.items.len == len_max) return if (count == count_max)
                d.beyond("tokens", count_max)
            else
                d.beyond("tokens in the payload", limits.tokens_max);
            try list.append(d.gpa, id);
            d.path.pop();
        }
        const ids = list.items[start..];
        if (ids.len == 0) return d.fail("expected at least one token", .{});
        for (ids, 0..) |id, i| if (id > d.out.largest.token) {
            d.out.largest = .{ .token = id, .place = place };
            d.out.largest.place.token = @intCast(i);
        };
        out.* = .{ .start = @intCast(start), .len = @intCast(ids.len) };
    }

    fn tokenId(d: *Decoder) Error!i32 {
        try d.expect(.integer);
        const integer = try d.reader.integer();
        if (integer.saturated) return d.fail("the number is outside 0..{d}", .{std.math.maxInt(i32)});
        if (integer.value < 0 or integer.value > std.math.maxInt(i32)) {
            return d.fail("{d} is outside 0..{d}", .{ integer.value, std.math.maxInt(i32) });
        }
        return @intCast(integer.value);
    }

    fn name(d: *Decoder, out: *Text) Error!void {
        try d.expect(.string);
        const source = d.out.source;
        const before = d.out.unescaped.items.len;
        var bytes: []const u8 = undefined;
        try d.reader.text(&d.out.unescaped, d.gpa, &bytes);
        if (bytes.len > limits.name_bytes_max) return d.beyond("bytes", limits.name_bytes_max);
        const had_escapes = d.out.unescaped.items.len > before;
        const start = if (had_escapes) source.len + before else @intFromPtr(bytes.ptr) - @intFromPtr(source.ptr);
        out.* = .{ .start = @intCast(start), .len = @intCast(bytes.len) };
    }

    noinline fn open(d: *Decoder, container: *input.Container, kind: input.Kind) Error!void {
        try d.expect(kind);
        try d.reader.open(container, kind);
    }

    fn expect(d: *Decoder, expected: input.Kind) Error!void {
        const found = d.reader.kind();
        if (found == expected) return;
        if (found == .nothing) return error.Malformed;
        return d.fail("expected {s}, found {s}", .{ expected.phrase(), found.phrase() });
    }

    /// Reads the keys of an object as an enum. Those up to `last` are expected in their order.
    fn Fields(comptime Key: type, comptime last: Key) type {
        return struct {
            map: input.Container,
            seen: std.enums.EnumSet(Key) = .empty,
            on_path: bool = false,
            /// Tried first: most writers keep the format's order.
            expected: ?Key = @fromBackingInt(0),

            fn open(fields: *@This(), d: *Decoder) Error!void {
                fields.* = .{ .map = undefined };
                try d.open(&fields.map, .map);
            }

            /// The next key that the format knows, on the path until the next call. Other keys are skipped with
            /// their values.
            fn next(fields: *@This(), d: *Decoder) Error!?Key {
                if (fields.on_path) d.path.pop();
                fields.on_path = false;
                if (fields.expected) |expected| switch (expected) {
                    inline else => |key| if (comptime @backingInt(key) <= @backingInt(last)) {
                        if (d.reader.plainKey(&fields.map, @tagName(key))) return try fields.take(d, key);
                    },
                };
                const i = try d.nextOf(&fields.map, std.meta.fieldNames(Key)) orelse return null;
                return try fields.take(d, @fromBackingInt(@intCast(i)));
            }

            fn take(fields: *@This(), d: *Decoder, key: Key) Error!Key {
                if (fields.seen.contains(key)) return d.repeated(@tagName(key));
                fields.seen.insert(key);
                fields.expected = if (@backingInt(key) >= @backingInt(last)) null else @fromBackingInt(@backingInt(key) + 1);
                d.path.push(.{ .key = @tagName(key) });
                fields.on_path = true;
                return key;
            }

            fn require(fields: @This(), d: *Decoder, keys: []const Key) Error!void {
                for (keys) |key| if (!fields.seen.contains(key)) return d.missing(@tagName(key));
            }
        };
    }

    /// The index of the next key among `names`; other keys are skipped.
    noinline fn nextOf(d: *Decoder, map: *input.Container, names: []const [:0]const u8) Error!?usize {
        while (try d.reader.more(map)) {
            const key = try d.reader.key(&d.scratch, d.gpa);
            for (names, 0..) |known, i| if (std.mem.eql(u8, known, key)) return i;
            try d.reader.skip(&d.scratch, d.gpa);
        }
        return null;
    }

    noinline fn repeated(d: *Decoder, key: []const u8) diagnostic.Error {
        return d.fail("repeated key \"{s}\"", .{key});
    }

    noinline fn missing(d: *Decoder, key: []const u8) diagnostic.Error {
        return d.fail("missing \"{s}\"", .{key});
    }

    /// Whether an element follows. If so, its index is on the path until the caller pops it.
    fn element(d: *Decoder, array: *input.Container, index: u32) Error!bool {
        if (!try d.reader.more(array)) return false;
        d.path.push(.{ .index = index });
        return true;
    }

    fn descriptorIndex(d: *const Decoder) u32 {
        return @intCast(d.out.descriptors.items.len);
    }

    fn checkPaths(d: *Decoder) Error!void {
        var paths: Texts = .{};
        defer paths.deinit(d.gpa);
        for (d.out.descriptors.items, 0..) |one, i| {
            const path = d.out.textOf(one.path);
            const first = try paths.put(d.gpa, path);
            if (first < i) return d.diag.fail(
                .payload,
                "descriptors[{d}].path: {f} is also the path of descriptors[{d}]",
                .{ i, quoted(path), first },
            );
        }
    }

    fn checkTriggers(d: *Decoder) Error!void {
        var known: Texts = .{};
        defer known.deinit(d.gpa);
        var owners: ArrayList(u32) = .empty;
        defer owners.deinit(d.gpa);
        for (d.out.descriptors.items, 0..) |one, i| {
            for (one.triggers.of(d.out.triggers.items), 0..) |trigger, j| {
                const number = try known.put(d.gpa, std.mem.sliceAsBytes(trigger.of(d.out.tokens.items)));
                if (number == owners.items.len) try owners.append(d.gpa, @intCast(i));
                if (owners.items[number] != i) return d.diag.fail(
                    .payload,
                    "descriptors[{d}].trigger[{d}]: also a trigger of descriptors[{d}]",
                    .{ i, j, owners.items[number] },
                );
            }
        }
    }

    fn malformed(d: *Decoder) diagnostic.Error {
        const problem = d.reader.in.problem;
        return d.diag.fail(.payload, "{f}: {s} at byte {d}", .{ &d.path, problem.what, problem.at });
    }

    /// The path ends with what is one too many.
    fn beyond(d: *Decoder, what: []const u8, count_max: usize) diagnostic.Error {
        return d.diag.fail(.limit, "{f}: more than {d} {s}", .{ &d.path, count_max, what });
    }

    fn fail(d: *Decoder, comptime format: []const u8, args: anytype) diagnostic.Error {
        return d.diag.fail(.payload, "{f}: " ++ format, .{&d.path} ++ args);
    }
};

const testing = std.testing;

fn expectFailure(bytes: []const u8, status: @import("../base/status.zig").Status, expected: []const u8) !void {
    var diag: Diagnostic = .{};
    try testing.expectError(error.Failed, parse(testing.allocator, bytes, &diag));
    try testing.expectEqualStrings(expected, diag.message());
    try testing.expectEqual(status, diag.status);
}

test "an error names its place" {
    const head = "{\"modelId\":\"m\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[{\"name\":\"A\",\"tokens\":";
    try expectFailure(head ++ "[1,2.5]}]}]}", .payload, "descriptors[0].leaves[0].tokens[1]: expected an integer, found a float");
    try expectFailure(head ++ "[-1]}]}]}", .payload, "descriptors[0].leaves[0].tokens[0]: -1 is outside 0..2147483647");
    try expectFailure(head ++ "[]}]}]}", .payload, "descriptors[0].leaves[0].tokens: expected at least one token");
    try expectFailure(head ++ "[1]},{\"name\":\"B\"}]}]}", .payload, "descriptors[0].leaves[1]: missing \"tokens\"");
    try expectFailure(
        head ++ "[1]}]},{\"path\":\"p\",\"leaves\":[{\"name\":\"A\",\"tokens\":[1]}]}]}",
        .payload,
        "descriptors[1].path: \"p\" is also the path of descriptors[0]",
    );
    try expectFailure(head ++ "[1", .payload, "descriptors[0].leaves[0].tokens: the payload ends too early at byte 75");
    try expectFailure("x", .payload, "payload: expected a JSON object or a MessagePack map, found the first byte 0x78");
    try expectFailure("{\"modelId\":1}", .payload, "modelId: expected a string, found an integer");
}

test "both formats, however spelled, give the same payload" {
    const text = "{\"modelId\":\"m\",\"descriptors\":[{\"leaves\":[{\"tokens\":[300,2],\"name\":\"\\u0041\"}],\"path\":\"p\"}]}";
    const spaced = "{\"descriptors\": [{\"path\": \"p\", \"leaves\": [{\"name\": \"A\", \"tokens\": [300, 2]}]}], \"modelId\" : \"m\" }\n";
    const packed_bytes = "\x82\xa7modelId\xa1m\xabdescriptors\x91" ++
        "\x82\xa6leaves\x91\x82\xa6tokens\x92\xcd\x01\x2c\x02\xa4name\xa1A\xa4path\xa1p";
    for ([_][]const u8{ text, spaced, packed_bytes }) |bytes| {
        var diag: Diagnostic = .{};
        var one = try parse(testing.allocator, bytes, &diag);
        defer one.deinit(testing.allocator);
        try testing.expectEqualSlices(i32, &.{ 300, 2 }, one.tokens.items);
        try testing.expectEqualStrings("m", one.textOf(one.model_id));
        try testing.expectEqualStrings("A", one.textOf(one.names.items[0]));
        try testing.expectEqualStrings("p", one.textOf(one.descriptors.items[0].path));
        try testing.expectEqual(300, one.largest.token);
        try testing.expectEqual(2, one.longest.tokens);
    }
}

fn parseOnce(gpa: Allocator, bytes: []const u8) !void {
    var diag: Diagnostic = .{};
    var one = parse(gpa, bytes, &diag) catch return if (diag.status == .oom) error.OutOfMemory else error.Unexpected;
    one.deinit(gpa);
}

test "out of memory anywhere is reported and loses nothing" {
    const text = "{\"modelId\":\"m\",\"x\":[{\"y\":\"z\"}],\"descriptors\":[{\"path\":\"p\"," ++
        "\"trigger\":[[1,2]],\"end\":[9],\"leaves\":[{\"name\":\"A\",\"tokens\":[1]}]}]}";
    try testing.checkAllAllocationFailures(testing.allocator, parseOnce, .{text});
}
