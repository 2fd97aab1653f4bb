//! Parts of a text that are JSON documents. To the parser a part is a terminal; where the parser can take it, the machine of
//! its schema reads it (schema/json_schema.zig) beside the lexemes that may stand there, and it may end wherever the
//! document is whole. To the lexer it is two bytes that no text has, `lead` and the number of the part: so the terminal
//! has a number like all others.
//!
//! A configuration in a part has the number of a place in place of the lexer's state: the part, the machine's state and
//! its stack, whose frames are numbered here too. Hence what is below is a graph of the parser's nodes alone, and a
//! place is known by its number wherever masks are looked up.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Interner = @import("../base/interner.zig").Interner;
const bitmap = @import("../base/bitmap.zig");
const span = @import("../contract/span.zig");
const Mutex = @import("../platform/mutex.zig").Mutex;
const Watch = @import("../base/watch.zig").Watch;
const position = @import("../language/position.zig");
const Position = position.Position;
const Pool = position.Pool;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const depth_max = @import("../vocabulary/byte_trie.zig").depth_max;
const dfa = @import("../language/dfa.zig");
const JsonSchema = @import("../schema/json_schema.zig").JsonSchema;
const MaskContext = @import("../mask/context.zig").MaskContext;
const ScratchPool = @import("../mask/scratch.zig").ScratchPool;
const program_module = @import("../lr/program.zig");
const Program = program_module.Program;

/// Places that are told apart. One more is too many.
const places_max = 1 << 24;

pub const Bytes = std.StaticBitSet(256);
pub const Numbers = std.StaticBitSet(Parts.parts_max);

/// A schema, and the bytes that its documents can begin with.
pub const Documents = struct { schema: JsonSchema, firsts: Bytes };

/// One schema.
pub const Part = struct {
    schema: JsonSchema,
    /// Null: no rule that is reached uses it.
    terminal: ?u16,
    /// The bytes that it can begin with, that it can end with, and that something after it can begin with: no fewer.
    firsts: Bytes,
    lasts: Bytes,
    nexts: Bytes = .empty,

    /// Whether a set of terminals has it.
    pub fn isAmong(part: *const Part, set: []const u64) bool {
        return program_module.has(set, part.terminal orelse return false);
    }

    pub fn initial(part: *const Part) Position {
        return .{ .state = part.schema.initial() };
    }

    fn findCrossing(part: *const Part, gpa: Allocator, context: *const MaskContext, watch: *Watch) span.Error![]const u32 {
        try watch.steps(@intCast(context.trie.nodes.len / 4));
        var found: ArrayList(u32) = .empty;
        defer found.deinit(gpa);
        // By depth: the byte that leads there, and whether the part can have ended before it.
        var bytes: [depth_max + 1]u8 = undefined;
        var has_ended: [bytes.len]bool = undefined;
        has_ended[1] = false;
        if (part.nexts.count() > 0) for (context.trie.nodes[1..]) |node| {
            const depth: usize = node.depth;
            bytes[depth] = node.byte;
            if (depth > 1) has_ended[depth] = has_ended[depth - 1] or part.lasts.isSet(bytes[depth - 1]) and part.nexts.isSet(node.byte);
            if (has_ended[depth]) if (node.token()) |token| try found.append(gpa, token);
        };
        for (context.trie.long_tokens) |token| {
            if (part.canEndWithin(context.tokens.bytesOf(token))) try found.append(gpa, token);
        }
        return found.toOwnedSlice(gpa);
    }

    /// Whether the part can end, and something come after it, before a byte of the text but the first.
    pub fn canEndWithin(part: *const Part, text: []const u8) bool {
        if (text.len < 2) return false;
        for (text[0 .. text.len - 1], text[1..]) |last, next| if (part.lasts.isSet(last) and part.nexts.isSet(next)) return true;
        return false;
    }
};

/// Where a document stands. `at` means something only with a pool.
pub const Place = struct { part: u32, at: Position };

/// All of a grammar. Shared by threads.
pub const Parts = struct {
    gpa: Allocator,
    list: []Part,
    scratches: ScratchPool,
    /// The bytes that some part can begin with.
    firsts: Bytes = .empty,
    /// Each is a part, a state of its machine, the frame on top, and that below or `position.bottom`.
    places: Interner = .{},
    /// Each is the frame below and a state.
    frames: Interner = .{},
    /// As far as they are made.
    crossings: ArrayList(Crossing) = .empty,
    /// Of places, frames and `crossings`.
    mutex: Mutex = .{},
    /// That places and frames may take.
    bytes_max: usize = std.math.maxInt(usize),

    /// The tokens in which a part with these bytes can end and something come after it. Those that begin alike are
    /// neighbours; of twins there is one.
    const Crossing = struct { lasts: Bytes, nexts: Bytes, tokens: []const u32 };

    /// In no text: UTF-8 does not have it.
    pub const lead = 0xfe;
    /// They are told apart by one byte.
    pub const parts_max = 256;

    /// Takes the schemas over, unless it fails. They are in the order of their numbers.
    pub fn create(gpa: Allocator, trie: *const ByteTrie, program: *const Program, all: []const Documents) Allocator.Error!*Parts {
        const parts = try gpa.create(Parts);
        errdefer gpa.destroy(parts);
        const list = try gpa.alloc(Part, all.len);
        parts.* = .{ .gpa = gpa, .list = list, .scratches = .{ .gpa = gpa, .trie = trie } };
        for (list, all, 0..) |*part, one, number| {
            parts.firsts.setUnion(one.firsts);
            part.* = .{
                .schema = one.schema,
                .terminal = terminalOf(program, @intCast(number)),
                .firsts = one.firsts,
                .lasts = lastsOf(one.firsts),
            };
        }
        for (list, 0..) |*part, number| part.nexts = parts.nextsOf(program, @intCast(number));
        return parts;
    }

    pub fn destroy(parts: *Parts) void {
        const gpa = parts.gpa;
        for (parts.list) |*part| part.schema.deinit(gpa, .owned);
        gpa.free(parts.list);
        for (parts.crossings.items) |one| gpa.free(one.tokens);
        parts.crossings.deinit(gpa);
        parts.scratches.deinit();
        parts.places.deinit(gpa);
        parts.frames.deinit(gpa);
        gpa.destroy(parts);
    }

    pub fn bytes(parts: *Parts) usize {
        parts.mutex.lock();
        defer parts.mutex.unlock();
        return parts.bytesOfPlaces();
    }

    fn bytesOfPlaces(parts: *const Parts) usize {
        return parts.places.bytes() + parts.frames.bytes();
    }

    /// As JsonSchema's; for each schema, and for where texts stand.
    pub fn limitKept(parts: *Parts, bytes_max: usize) void {
        parts.bytes_max = bytes_max;
        for (parts.list) |*part| part.schema.limitKept(bytes_max);
    }

    /// Drops what texts have left.
    pub fn forget(parts: *Parts) void {
        for (parts.list) |*part| part.schema.forget(parts.gpa);
        parts.mutex.lock();
        defer parts.mutex.unlock();
        parts.places.deinit(parts.gpa);
        parts.frames.deinit(parts.gpa);
        parts.places = .{};
        parts.frames = .{};
    }

    // ---- Places

    /// The number of a place whose frames are in the pool.
    pub fn numberOf(parts: *Parts, pool: *const Pool, place: Place) span.Error!u32 {
        var states: ArrayList(u32) = .empty;
        defer states.deinit(parts.gpa);
        var node = place.at.stack.below;
        while (node != position.bottom) : (node = pool.nodes.items[node].parent) {
            try states.append(parts.gpa, pool.nodes.items[node].state);
        }
        parts.mutex.lock();
        defer parts.mutex.unlock();
        if (parts.places.count() >= places_max or parts.bytesOfPlaces() > parts.bytes_max) return error.TooLarge;
        var below: u32 = position.bottom;
        while (states.pop()) |state| below = try parts.frames.put(parts.gpa, &.{ below, state });
        return parts.places.put(parts.gpa, &.{ place.part, place.at.state, place.at.stack.top, below });
    }

    /// The place with a number; its frames go to the pool.
    pub fn open(parts: *Parts, gpa: Allocator, pool: *Pool, number: u32) Allocator.Error!Place {
        var states: ArrayList(u32) = .empty;
        defer states.deinit(gpa);
        const words = try parts.wordsOf(gpa, number, &states);
        var stack: position.Stack = .{ .below = position.bottom, .top = words[2] };
        while (states.pop()) |state| stack.below = try pool.push(gpa, .{ .below = stack.below, .top = state });
        return .{ .part = words[0], .at = .{ .state = words[1], .stack = stack } };
    }

    /// Of a place; its frames go to `states`, from the top down.
    fn wordsOf(parts: *Parts, gpa: Allocator, number: u32, states: *ArrayList(u32)) Allocator.Error![4]u32 {
        parts.mutex.lock();
        defer parts.mutex.unlock();
        const words = parts.places.get(number)[0..4].*;
        var frame = words[3];
        while (frame != position.bottom) {
            const one = parts.frames.get(frame);
            try states.append(gpa, one[1]);
            frame = one[0];
        }
        return words;
    }

    // ---- Masks

    /// Adds what continues with the document, but for end tokens.
    pub fn addMask(parts: *Parts, context: *const MaskContext, pool: *Pool, place: Place, words: bitmap.Words) span.Error!void {
        const scratch = try parts.scratches.take();
        defer parts.scratches.giveBack(scratch);
        _ = try parts.list[place.part].schema.computeMask(context, pool, place.at, scratch);
        const mask = &scratch.mask;
        const ends: []const i32 = if (mask.can_stop) context.trie.end_tokens else &.{};
        if (mask.words) |own| {
            bitmap.unite(words, &.{own});
            for (ends) |id| bitmap.unset(words, @intCast(id));
        } else for (mask.ids) |id| {
            if (std.mem.findScalar(i32, ends, id) == null) bitmap.set(words, @intCast(id));
        }
    }

    /// Those of a part. Lent as long as this lives.
    pub fn crossing(parts: *Parts, number: u32, context: *const MaskContext, watch: *Watch) span.Error![]const u32 {
        parts.mutex.lock();
        defer parts.mutex.unlock();
        const part = &parts.list[number];
        for (parts.crossings.items) |one| if (one.lasts.eql(part.lasts) and one.nexts.eql(part.nexts)) return one.tokens;
        try parts.crossings.ensureUnusedCapacity(parts.gpa, 1);
        const tokens = try part.findCrossing(parts.gpa, context, watch);
        parts.crossings.appendAssumeCapacity(.{ .lasts = part.lasts, .nexts = part.nexts, .tokens = tokens });
        return tokens;
    }

    // ---- What can follow what

    fn terminalOf(program: *const Program, number: u8) ?u16 {
        const terminals = program.lexer.matchList(stateOf(program, number));
        return if (terminals.len > 0) terminals[0] else null;
    }

    fn stateOf(program: *const Program, number: u8) u16 {
        return program.lexer.next(program.lexer.next(dfa.start, lead), number);
    }

    /// The bytes that a document can begin with.
    pub fn firstsOf(gpa: Allocator, schema: *const JsonSchema, watch: *Watch) span.Error!Bytes {
        var pool: Pool = .{ .watch = watch.* };
        defer pool.nodes.deinit(gpa);
        defer watch.* = pool.watch;
        var firsts: Bytes = .empty;
        for (0..256) |byte| {
            if (try schema.advance(gpa, &pool, .{ .state = schema.initial() }, &.{@intCast(byte)}) != null) firsts.set(byte);
        }
        return firsts;
    }

    /// A document ends as its kind of value does, or with white space if it can begin so.
    fn lastsOf(firsts: Bytes) Bytes {
        var lasts: Bytes = .empty;
        for ("{[\"tfn \t\r\n", "}]\"eel \t\r\n") |first, last| if (firsts.isSet(first)) lasts.set(last);
        for ("-0123456789") |first| if (firsts.isSet(first)) lasts.setRangeValue(.{ .start = '0', .end = '9' + 1 }, true);
        return lasts;
    }

    fn nextsOf(parts: *const Parts, program: *const Program, number: u8) Bytes {
        const follows = program.followsSet(program.lexer.matches[stateOf(program, number)]);
        var nexts: Bytes = .empty;
        for (0..256) |byte| {
            const begun = program.lexer.next(dfa.start, @intCast(byte));
            if (begun == dfa.dead) continue;
            const reach = program.lexer.reachSet(begun);
            if (program_module.intersects(follows, reach) or program_module.intersects(program.skip, reach)) nexts.set(byte);
        }
        for (parts.list) |*next| if (next.isAmong(follows)) nexts.setUnion(next.firsts);
        return nexts;
    }
};

test "a place comes back by its number, with its frames" {
    const gpa = std.testing.allocator;
    var parts: Parts = .{ .gpa = gpa, .list = &.{}, .scratches = undefined };
    defer parts.places.deinit(gpa);
    defer parts.frames.deinit(gpa);
    var pool: Pool = .{};
    defer pool.nodes.deinit(gpa);
    const bottom = try pool.push(gpa, .initial);
    const above = try pool.push(gpa, .{ .below = bottom, .top = 7 });
    const deep: Place = .{ .part = 1, .at = .{ .state = 5, .stack = .{ .below = above, .top = 9 } } };
    const flat: Place = .{ .part = 1, .at = .{ .state = 5 } };
    const number = try parts.numberOf(&pool, deep);
    try std.testing.expect(number != try parts.numberOf(&pool, flat));
    var other: Pool = .{};
    defer other.nodes.deinit(gpa);
    const opened = try parts.open(gpa, &other, number);
    try std.testing.expectEqual(5, opened.at.state);
    try std.testing.expectEqual(2, other.depthOf(opened.at.stack));
    try std.testing.expectEqual(7, other.nodes.items[opened.at.stack.below].state);
    try std.testing.expectEqual(number, try parts.numberOf(&other, opened));
    try std.testing.expectEqual(flat, try parts.open(gpa, &other, try parts.numberOf(&pool, flat)));
}
