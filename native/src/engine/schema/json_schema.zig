//! A JSON Schema as a language: the machine, used by one thread at a time. A position's state is the number
//! of a configuration, and its stack holds the frames.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Mutex = @import("../platform/mutex.zig").Mutex;
const position = @import("../language/position.zig");
const Position = position.Position;
const Stack = position.Stack;
const Pool = position.Pool;
const Arrays = @import("../language/arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const Schema = @import("schema.zig").Schema;
const work_max = @import("alternatives.zig").work_max;
const machine_module = @import("machine.zig");
const Machine = machine_module.Machine;
const Words = machine_module.Words;
const Point = machine_module.Point;
const Strings = @import("strings.zig").Strings;
const Policy = @import("space.zig").Policy;
const StringIndex = @import("../vocabulary/string_index.zig").StringIndex;
const bitmap = @import("../base/bitmap.zig");
const list_max = @import("../mask/mask.zig").list_max;
const spelling = @import("spelling.zig");
const walk = @import("../mask/walk.zig").walk;

/// Its operations are those of a language: recognizer/language.zig says what each promises.
pub const JsonSchema = struct {
    schema: *Schema,
    machine: *Machine,
    /// The vocabulary's.
    strings: *const StringIndex,
    mutex: Mutex = .{},

    pub const kind: Kind = .json_schema;
    pub const uses_stack = true;

    /// Takes the schema over, unless it fails.
    pub fn init(gpa: Allocator, schema: *Schema, policy: Policy, strings: *const StringIndex) machine_module.Error!JsonSchema {
        const machine = try gpa.create(Machine);
        errdefer gpa.destroy(machine);
        machine.* = try .init(gpa, schema, policy);
        return .{ .schema = schema, .machine = machine, .strings = strings };
    }

    pub fn deinit(s: *JsonSchema, gpa: Allocator, _: Arrays) void {
        s.machine.deinit();
        gpa.destroy(s.machine);
        s.schema.deinit(gpa);
        s.* = undefined;
    }

    pub fn describe(s: *const JsonSchema, info: *Info) void {
        info.n_states = s.machine.runs.count();
        info.automaton_bytes = s.machine.runs.bytes();
    }

    pub fn initial(s: *const JsonSchema) u32 {
        return s.machine.initial;
    }

    /// Not inline, here and below: beside it the short loops of other languages would be laid out worse.
    pub noinline fn advance(s: *const JsonSchema, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) Allocator.Error!?Position {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        const m = s.machine;
        m.alternatives.work_left = work_max;
        var words: Words = .empty;
        defer words.deinit(gpa);
        var after: Words = .empty;
        defer after.deinit(gpa);
        try words.appendSlice(gpa, m.runs.get(from.state));
        var stack = from.stack;
        for (text, 0..) |byte, i| {
            m.behind = text[0..i];
            const next = m.step(pool, .{ .words = words.items, .stack = stack }, byte, &after) catch return error.OutOfMemory;
            stack = next orelse return null;
            std.mem.swap(Words, &words, &after);
        }
        m.behind = text;
        m.detach(words.items) catch return error.OutOfMemory;
        return .{ .state = try m.runs.put(m.gpa, words.items), .stack = stack };
    }

    pub noinline fn canStop(s: *const JsonSchema, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        return s.machine.canStop(.{ .words = s.machine.runs.get(at.state), .stack = at.stack });
    }

    pub noinline fn computeMask(
        s: *JsonSchema,
        context: *const MaskContext,
        pool: *Pool,
        at: Position,
        scratch: *Scratch,
    ) Allocator.Error!u32 {
        s.mutex.lock();
        defer s.mutex.unlock();
        const m = s.machine;
        m.alternatives.work_left = work_max;
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        m.least_depth = pool.depthOf(at.stack);
        const words = try context.gpa.dupe(u32, m.runs.get(at.state));
        defer context.gpa.free(words);
        const point: Point = .{ .words = words, .stack = at.stack };
        const can_stop = m.canStop(point);
        bitmap.clear(scratch.builder.words);
        s.addLegal(context, pool, point, scratch) catch return error.OutOfMemory;
        finish(context, can_stop, scratch);
        return m.least_depth;
    }

    /// Inside strings and keys each thread has a way of its own, and what is legal for one of them is legal.
    fn addLegal(s: *JsonSchema, context: *const MaskContext, pool: *Pool, at: Point, scratch: *Scratch) machine_module.Error!void {
        const m = s.machine;
        const n = Machine.nSeparate(at.words);
        const words = try bitmap.alloc(context.gpa, scratch.builder.words.len);
        defer context.gpa.free(words);
        if (n == 0) {
            var walker: Walker = try .init(m, pool, context.trie.longest, at);
            defer walker.deinit();
            bitmap.clear(words);
            walk(context.trie, context.tokens, &walker, words);
            if (walker.failed) return error.OutOfMemory;
            bitmap.unite(scratch.builder.words, &.{words});
            return;
        }
        var buffer: [Machine.alone_max]u32 = undefined;
        for (0..n) |i| {
            const one: Point = .{ .words = Machine.alone(at.words, i, &buffer), .stack = at.stack };
            bitmap.clear(words);
            try s.legalFor(context, pool, one, words);
            bitmap.unite(scratch.builder.words, &.{words});
        }
    }

    /// The legal tokens for a thread that is alone in a string or key, where no escape has begun.
    fn legalFor(s: *JsonSchema, context: *const MaskContext, pool: *Pool, at: Point, words: bitmap.Words) machine_module.Error!void {
        const m = s.machine;
        const automaton = try m.automatonOf(at.words);
        var walker: Walker = try .init(m, pool, context.trie.longest, at);
        defer walker.deinit();
        if (automaton) |string| {
            if (string.strings.freeCharacters(string.state) >= s.strings.longest) {
                try s.byTails(context, &walker, words);
            } else if (Machine.isKey(at.words) and string.strings.isOpen() and string.strings.isWhole(string.state)) {
                // As behind a text that no excluded key begins with; then what these keys change.
                var any: Walker = try .init(m, pool, context.trie.longest, at);
                defer any.deinit();
                Machine.setState(any.words.items, .{ .product = string.strings.graph.free, .count = string.state.count });
                try s.byTails(context, &any, words);
                try exceptKeys(context, string.strings, m.alternatives.texts.list.items[at.words[2]], &walker, words);
                if (any.failed) return error.OutOfMemory;
            } else {
                walker.strings = string.strings;
                walker.places.items[0].state = string.state;
                walk(context.trie, context.tokens, &walker, words);
            }
        } else walk(context.trie, context.tokens, &walker, words);
        if (walker.failed) return error.OutOfMemory;
    }

    /// Where any text may stand, plain tokens are legal, and others by their tails: in the words of the builder.
    fn byTails(s: *const JsonSchema, context: *const MaskContext, walker: *Walker, words: bitmap.Words) Allocator.Error!void {
        const legal = try bitmap.alloc(context.gpa, bitmap.wordsFor(s.strings.tails.n));
        defer context.gpa.free(legal);
        bitmap.clear(legal);
        walk(&s.strings.trie, &s.strings.tails, walker, legal);
        bitmap.copy(words, s.strings.plain);
        for (legal, 0..) |word, i| {
            var rest = word;
            while (rest != 0) : (rest &= rest - 1) {
                const tail = 32 * i + @ctz(rest);
                for (s.strings.members[s.strings.starts[tail]..s.strings.starts[tail + 1]]) |token| bitmap.set(words, @intCast(token));
            }
        }
    }

    /// Tokens that end a key which may not come, or which the schema names, are tried one by one.
    fn exceptKeys(
        context: *const MaskContext,
        key: *const Strings,
        begun: []const u8,
        walker: *Walker,
        words: bitmap.Words,
    ) Allocator.Error!void {
        var arena: Arena = .init(context.gpa);
        defer arena.deinit();
        const trie = context.trie;
        for (key.spec.excluded) |content| {
            // Most texts begin with another byte.
            if (begun.len > 0 and content.len > 0 and begun[0] != content[0] and begun[0] != '\\') continue;
            const spelt = try spelling.quoted(arena.allocator(), content);
            if (!std.mem.startsWith(u8, spelt[1..], begun)) continue;
            const rest = spelt[1 + begun.len ..];
            const node = trie.find(rest) orelse continue;
            const n_pushed = for (rest[0 .. rest.len - 1], 0..) |byte, n| {
                if (!walker.tryPushByte(byte)) break n;
            } else rest.len - 1;
            retry(context, node, n_pushed == rest.len - 1, walker, words);
            walker.popBytes(n_pushed);
        }
        for (trie.duplicates) |duplicate| {
            if (bitmap.has(words, duplicate.token)) {
                bitmap.set(words, duplicate.twin);
            } else bitmap.unset(words, duplicate.twin);
        }
    }

    /// All tokens of a subtree anew; the bytes before its root are pushed, or cannot be.
    fn retry(context: *const MaskContext, root: u32, is_alive: bool, walker: *Walker, words: bitmap.Words) void {
        const nodes = context.trie.nodes;
        const end = root + nodes[root].subtree;
        for (nodes[root..end]) |node| if (node.token()) |token| bitmap.unset(words, token);
        if (!is_alive) return;
        const base = walker.depth;
        var at = root;
        while (at < end) {
            const node = nodes[at];
            walker.popBytes(walker.depth - base - (node.depth - nodes[root].depth));
            if (walker.tryPushByte(node.byte)) {
                if (node.token()) |token| bitmap.set(words, token);
                at += 1;
            } else at += node.subtree;
        }
        walker.popBytes(walker.depth - base);
    }

    fn finish(context: *const MaskContext, can_stop: bool, scratch: *Scratch) void {
        const builder = &scratch.builder;
        builder.clear();
        builder.n_tokens = bitmap.count(builder.words);
        builder.n_listed = if (builder.n_tokens <= list_max) bitmap.list(builder.words, builder.ids) else null;
        scratch.mask = builder.finish(can_stop, context.trie.end_tokens);
    }

    pub fn prepare(_: *JsonSchema, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}
};

/// For mask/walk.zig.
const Walker = struct {
    machine: *Machine,
    pool: *Pool,
    depth: usize = 0,
    /// Those that are pushed.
    bytes: ArrayList(u8) = .empty,
    /// The configurations of the bytes that are pushed, one behind the other.
    words: Words = .empty,
    places: ArrayList(Place) = .empty,
    /// What a string is checked by, if it is one alone: inside it no configuration is made.
    strings: ?*Strings = null,
    out: Words = .empty,
    /// A walk cannot fail: out of memory, it refuses what comes.
    failed: bool = false,

    const Place = struct {
        /// Of `words`.
        end: u32,
        stack: Stack,
        /// Of `strings`; null where there is a configuration.
        state: ?Strings.State = null,
    };

    /// At a configuration, for tokens of so many bytes at most.
    fn init(machine: *Machine, pool: *Pool, longest: usize, at: Point) Allocator.Error!Walker {
        var w: Walker = .{ .machine = machine, .pool = pool };
        errdefer w.deinit();
        try w.places.ensureTotalCapacity(machine.gpa, longest + 2);
        try w.bytes.resize(machine.gpa, longest + 1);
        try w.push(at.words, at.stack);
        return w;
    }

    fn deinit(w: *Walker) void {
        const gpa = w.machine.gpa;
        w.words.deinit(gpa);
        w.places.deinit(gpa);
        w.bytes.deinit(gpa);
        w.out.deinit(gpa);
    }

    fn push(w: *Walker, words: []const u32, stack: Stack) Allocator.Error!void {
        try w.words.appendSlice(w.machine.gpa, words);
        w.places.appendAssumeCapacity(.{ .end = @intCast(w.words.items.len), .stack = stack });
    }

    pub fn tryPushByte(w: *Walker, byte: u8) bool {
        const pushed = w.tryPush(byte) catch {
            w.failed = true;
            return false;
        };
        if (pushed) w.bytes.items[w.depth - 1] = byte;
        return pushed;
    }

    fn tryPush(w: *Walker, byte: u8) machine_module.Error!bool {
        const place = w.places.items[w.depth];
        const state = place.state orelse return w.tryStep(byte, place);
        if (byte < 0x20 or byte == '"' or byte == '\\') return w.tryStepFrom(state, byte, place);
        const next = try w.strings.?.next(state, byte) orelse return false;
        w.places.appendAssumeCapacity(.{ .end = place.end, .stack = place.stack, .state = next });
        w.depth += 1;
        return true;
    }

    fn tryStep(w: *Walker, byte: u8, place: Place) machine_module.Error!bool {
        const start = if (w.depth == 0) 0 else w.places.items[w.depth - 1].end;
        return w.tryPoint(.{ .words = w.words.items[start..place.end], .stack = place.stack }, byte);
    }

    /// From within the string, whose configuration is made for it.
    fn tryStepFrom(w: *Walker, state: Strings.State, byte: u8, place: Place) machine_module.Error!bool {
        var buffer: [Machine.alone_max]u32 = undefined;
        const first = w.words.items[0..w.places.items[0].end];
        @memcpy(buffer[0..first.len], first);
        Machine.setState(buffer[0..first.len], state);
        if (Machine.isKey(first)) buffer[3] += @intCast(w.depth);
        return w.tryPoint(.{ .words = buffer[0..first.len], .stack = place.stack }, byte);
    }

    fn tryPoint(w: *Walker, at: Point, byte: u8) machine_module.Error!bool {
        w.machine.behind = w.bytes.items[0..w.depth];
        const stack = try w.machine.step(w.pool, at, byte, &w.out) orelse return false;
        try w.push(w.out.items, stack);
        w.depth += 1;
        return true;
    }

    pub fn popBytes(w: *Walker, n: usize) void {
        w.depth -= n;
        w.places.shrinkRetainingCapacity(w.depth + 1);
        w.words.shrinkRetainingCapacity(w.places.items[w.depth].end);
    }
};
