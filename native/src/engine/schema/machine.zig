//! Runs along the text of a JSON document and knows at each byte whether some completion is valid.
//!
//! A *configuration* is what the innermost open value is about: a mode, and the threads that are alive, each
//! an alternative of a goal. While a member or an item is read, the configuration that waits for it lies on
//! the stack as a *frame*: its threads, each with the slot of the goal that the value has for it. At the end
//! of the value the slots whose goals it satisfies tell which threads continue. So what is open is determined by
//! the text, and a set of threads stands for every way to read it (Alur and Madhusudan, "Visibly pushdown
//! languages", 2004). A thread is entered only if some completion satisfies it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const unbounded = schema_module.unbounded;
const Interner = @import("../base/interner.zig").Interner;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const goals_module = @import("goals.zig");
const Class = goals_module.Class;
const GoalId = goals_module.GoalId;
const alternatives_module = @import("alternatives.zig");
const Alternatives = alternatives_module.Alternatives;
const object_plan = @import("object_plan.zig");
const ObjectPlan = object_plan.ObjectPlan;
const Numbers = @import("numbers.zig").Numbers;
const Strings = @import("strings.zig").Strings;
const Automata = @import("../vocabulary/string_index.zig").StringIndex.Automata;
const spell = @import("spell.zig").spell;
const Sets = @import("sets.zig").Sets;
const values_module = @import("values.zig");
const Values = values_module.Values;
const ValueId = values_module.ValueId;
const escapes = @import("escapes.zig");
const space = @import("space.zig");
const position = @import("../language/position.zig");
const Stack = position.Stack;
const Pool = position.Pool;

pub const Error = goals_module.Error;

/// What is expected next, and the words of a thread there. Each thread begins with its slot.
const Mode = enum(u8) {
    /// slot, goal
    document,
    /// slot, alternative, from, to: of the texts, those that continue so
    listed,
    /// slot, alternative, state, 0
    number,
    /// slot, alternative, two words of state
    string,
    /// slot, progress
    array_open,
    array_item,
    array_next,
    object_open,
    object_key,
    object_next,
    /// slot, progress, kind, two words of state
    key,
    /// slot, progress, goal, what its value must not be
    colon,
    member,
    /// slot
    end,

    fn threadWords(mode: Mode) usize {
        return switch (mode) {
            .document => 2,
            .listed, .number, .string, .colon, .member => 4,
            .array_open, .array_item, .array_next, .object_open, .object_key, .object_next => 2,
            .key => 5,
            .end => 1,
        };
    }

    fn place(mode: Mode) space.Place {
        return switch (mode) {
            .array_item, .object_key, .member => .comma_or_colon,
            else => .other,
        };
    }
};

/// Words before the threads: mode and white space; the escape that has begun; bytes since the value began, where a
/// thread counts them, or of a text that is remembered what came before the present token; its bytes since then; of an
/// array or object that is remembered what came of it. After a key that is remembered its text is the third.
const head = 5;

/// In the first word: the value is remembered. The text of a key always is.
const remembered = 1 << 16;

/// Words of a frame before its entries: mode, what came of the array or object, and the key of the present member.
const frame_head = 3;
/// Slot of the value, slot of the array or object, progress.
const entry_words = 3;

/// In a thread of a key: it is one that the schema names, told by a range of their texts; else an extra one.
const known_key = 0;

/// A configuration and what lies below it.
pub const Point = struct {
    words: []const u32,
    stack: Stack,
};

pub const Machine = struct {
    /// Of what is lent to others.
    gpa: Allocator,
    /// Of what stays, with `alternatives`.
    kept: Allocator,
    schema: *const Schema,
    alternatives: Alternatives,
    runs: Interner = .{},
    policy: space.Policy,
    /// The configuration before the first byte.
    initial: u32,
    /// The bytes that came in the present token, before the next.
    behind: []const u8 = "",
    /// The least depth of the stack of which a frame was looked at, since someone set it.
    least_depth: u32 = 0,
    /// The configuration that `follow` leads to, and memory for the next one.
    reached: Words = .empty,
    next: Words = .empty,
    /// Memory of single steps, used again.
    slots: Words = .empty,
    frame: Words = .empty,
    ended: Words = .empty,
    entries: ArrayList(Entry) = .empty,
    forks: ArrayList(alternatives_module.Alternatives.Next) = .empty,
    /// Those of a list that is too long to look through.
    threads: NumberMap = .{},

    const few_threads = 16;

    /// `schema` and `automata` outlive the machine. It is large: it is made where it stays.
    pub fn init(m: *Machine, gpa: Allocator, kept: Allocator, schema: *const Schema, automata: *Automata) Error!void {
        m.* = .{
            .gpa = gpa,
            .kept = kept,
            .schema = schema,
            .alternatives = .{
                .gpa = kept,
                .arena = .init(kept),
                .schema = schema,
                .automata = automata,
                .evident = .{ .schema = schema },
                .goals = .init(kept, schema),
                .sets = .{ .gpa = kept },
            },
            .policy = schema.form.space,
            .initial = 0,
        };
        errdefer m.deinit();
        try m.alternatives.begin();
        var literals = [_]goals_module.Literal{.of(schema.root)};
        const goal = try m.alternatives.goals.goal(&literals);
        m.initial = try m.runs.put(kept, &.{ @backingInt(Mode.document), 0, 0, 0, 0, 0, goal });
    }

    pub fn deinit(m: *Machine) void {
        m.reached.deinit(m.gpa);
        m.next.deinit(m.gpa);
        m.slots.deinit(m.gpa);
        m.frame.deinit(m.gpa);
        m.ended.deinit(m.gpa);
        m.entries.deinit(m.gpa);
        m.forks.deinit(m.gpa);
        m.threads.deinit(m.gpa);
        m.runs.deinit(m.kept);
        m.alternatives.deinit();
    }

    /// Whether some document is valid.
    pub fn isSatisfiable(m: *Machine) Error!bool {
        return m.alternatives.isSatisfiable(m.runs.get(m.initial)[head + 1]);
    }

    pub fn isNodeSatisfiable(m: *Machine, node: schema_module.NodeId) Error!bool {
        var literals = [_]goals_module.Literal{.of(node)};
        return m.alternatives.isSatisfiable(try m.alternatives.goals.goal(&literals));
    }

    /// Whether the document may end.
    pub fn canStop(m: *const Machine, at: Point) bool {
        if (at.stack.below != position.bottom) return false;
        return switch (modeOf(at.words)) {
            .end => true,
            .number => for (0..threadsOf(at.words)) |i| {
                if (m.isComplete(at.words, threadAt(at.words, i))) break true;
            } else false,
            else => false,
        };
    }

    /// The configuration after a text, in `reached`, and its stack; null as of `step`.
    pub fn follow(m: *Machine, pool: *Pool, at: Point, text: []const u8) Error!?Stack {
        m.reached.clearRetainingCapacity();
        try m.reached.appendSlice(m.gpa, at.words);
        var stack = at.stack;
        for (text, 0..) |byte, i| {
            m.behind = text[0..i];
            stack = try m.step(pool, .{ .words = m.reached.items, .stack = stack }, byte, &m.next) orelse return null;
            std.mem.swap(Words, &m.reached, &m.next);
        }
        m.behind = text;
        return stack;
    }

    /// The configuration after a byte, in `out`, and its stack; null exactly if no valid document continues
    /// so. `at` does not lie in `out`.
    pub fn step(m: *Machine, pool: *Pool, at: Point, byte: u8, out: *Words) Error!?Stack {
        out.clearRetainingCapacity();
        const mode = modeOf(at.words);
        const came: space.State = @truncate(at.words[0] >> 8);
        switch (mode) {
            .listed, .number => return m.stepScalar(pool, at, byte, out),
            .string => return m.stepString(pool, at, byte, out),
            .key => return m.stepKey(at, byte, out),
            else => {},
        }
        if (space.next(m.policy, m.schema.form.space_max, mode.place(), came, byte)) |after| {
            if (mode == .document and m.policy != .any or mode == .end and m.policy != .any) return null;
            try out.appendSlice(m.gpa, at.words);
            out.items[0] = @backingInt(mode) | @as(u32, after) << 8 | (at.words[0] & remembered);
            return at.stack;
        }
        if (!space.isDone(m.policy, mode.place(), came) or came == 0 and isSpace(byte)) return null;
        switch (mode) {
            .document => return m.startDocument(at, byte, out),
            .array_open => return if (byte == ']') m.close(pool, at, .array, out) else m.startItem(pool, at, byte, out),
            .array_item => return m.startItem(pool, at, byte, out),
            .array_next => return if (byte == ']') m.close(pool, at, .array, out) else m.comma(at, byte, .array_item, out),
            .object_open => return if (byte == '}') m.close(pool, at, .object, out) else m.startKey(at, byte, out),
            .object_key => return m.startKey(at, byte, out),
            .object_next => return if (byte == '}') m.close(pool, at, .object, out) else m.comma(at, byte, .object_key, out),
            .colon => {
                if (byte != ':') return null;
                try out.appendSlice(m.gpa, at.words);
                out.items[0] = @backingInt(Mode.member) | (at.words[0] & remembered);
                return at.stack;
            },
            .member => return m.startMember(pool, at, byte, out),
            .end => return null,
            .listed, .number, .string, .key => unreachable,
        }
    }

    // ---- Threads on their own, for masks

    /// Words of a configuration with one thread.
    pub const alone_max = head + 5;

    /// Threads that can be looked at one by one: those in a string or key, outside an escape. Else 0.
    pub fn nSeparate(words: []const u32) usize {
        const mode = modeOf(words);
        return if ((mode == .string or mode == .key) and words[1] == 0) threadsOf(words) else 0;
    }

    /// The configuration with one of the threads alone.
    pub fn alone(words: []const u32, i: usize, buffer: *[alone_max]u32) []u32 {
        const thread = threadAt(words, i);
        @memcpy(buffer[0..head], words[0..head]);
        @memcpy(buffer[head..][0..thread.len], thread);
        return buffer[0 .. head + thread.len];
    }

    /// What the text of a thread that is alone is checked by, and how far that is.
    pub const Text = union(enum) {
        listed: Listed,
        known: KnownKeys,
        open: Open,
    };

    /// The texts in quotes of a range; they agree up to `depth`.
    pub const Listed = struct {
        texts: []const []const u8,
        low: u32,
        high: u32,
        depth: u32,

        pub fn byteAt(l: *const Listed, i: u32, depth: u32) ?u8 {
            return if (depth < l.texts[i].len) l.texts[i][depth] else null;
        }

        pub fn isLast(l: *const Listed, i: u32, depth: u32) bool {
            return depth + 1 == l.texts[i].len;
        }

        /// After the texts from `low` on that continue with `byte`.
        pub fn endOf(l: *const Listed, low: u32, high: u32, depth: u32, byte: u8) u32 {
            return narrow(l.texts, low, high, depth, byte)[1];
        }
    };

    /// The same with the keys that a schema names.
    pub const KnownKeys = struct {
        plan: *const ObjectPlan,
        progress: u32,
        low: u32,
        high: u32,
        depth: u32,

        pub fn byteAt(k: *const KnownKeys, i: u32, depth: u32) ?u8 {
            const spelled = k.plan.known[k.plan.by_text[i]].spelled;
            return if (depth < spelled.len) spelled[depth] else null;
        }

        pub fn isLast(k: *const KnownKeys, i: u32, depth: u32) bool {
            return depth + 1 == k.plan.known[k.plan.by_text[i]].spelled.len;
        }

        pub fn endOf(k: *const KnownKeys, low: u32, high: u32, depth: u32, byte: u8) u32 {
            return k.plan.narrow(low, high, depth, byte)[1];
        }
    };

    pub const Open = struct {
        strings: *Strings,
        state: Strings.State,
        any_spelling: bool,
        /// Of a key: that of the object.
        progress: ?u32,
        /// What may follow depends on the text.
        decides: bool,
    };

    pub fn textOf(m: *Machine, words: []const u32) Error!Text {
        const thread = threadAt(words, 0);
        const state: Strings.State = .{ .product = thread[thread.len - 2], .count = thread[thread.len - 1] };
        if (modeOf(words) == .key) {
            const plan = &m.alternatives.alternativeOf(thread[1]).object;
            if (thread[2] != known_key) {
                const strings = (try m.alternatives.extraOpen(plan, thread[1], thread[2] - 1)).?;
                const decides = words[0] & remembered != 0;
                const open: Open = .{
                    .strings = strings,
                    .state = state,
                    .any_spelling = false,
                    .progress = thread[1],
                    .decides = decides,
                };
                return .{ .open = open };
            }
            const depth: u32 = @intCast(m.begun(words).len + words[3]);
            return .{ .known = .{ .plan = plan, .progress = thread[1], .low = thread[3], .high = thread[4], .depth = depth } };
        }
        return switch (m.alternatives.all.items[thread[1]].*) {
            .listed => |texts| .{ .listed = .{ .texts = texts, .low = thread[2], .high = thread[3], .depth = m.depthOf(words) } },
            .string => |strings| .{
                .open = .{
                    .strings = strings,
                    .state = state,
                    .any_spelling = strings.isFree() and !isRemembered(words),
                    .progress = null,
                    .decides = isRemembered(words),
                },
            },
            else => unreachable, // of no string
        };
    }

    /// Whether some text of a range may come.
    pub fn isAlive(m: *Machine, texts: anytype, low: u32, high: u32) Error!bool {
        return if (@TypeOf(texts) == *const KnownKeys) m.alternatives.anyKnown(texts.plan, texts.progress, low, high) else true;
    }

    /// Of a key: its text before the present token.
    pub fn begun(m: *const Machine, words: []const u32) []const u8 {
        return m.alternatives.texts.list.items[words[2]];
    }

    /// As if the text were one that is none.
    pub fn forgetText(m: *Machine, words: []u32) Error!void {
        words[2] = try m.alternatives.text(alternatives_module.no_key);
        words[3] = 0;
    }

    /// The thread that is alone further on, behind `n` bytes, in its automaton.
    pub fn further(words: []const u32, state: Strings.State, n: u32, buffer: *[alone_max]u32) []u32 {
        const after = alone(words, 0, buffer);
        after[after.len - 2 ..][0..2].* = .{ state.product, state.count };
        if (isRemembered(words)) after[3] += n;
        return after;
    }

    /// The thread that is alone where its texts are those of a range, which agree up to `depth`.
    pub fn among(m: *const Machine, words: []const u32, low: u32, high: u32, depth: u32, buffer: *[alone_max]u32) []u32 {
        const after = alone(words, 0, buffer);
        after[after.len - 2 ..][0..2].* = .{ low, high };
        if (isRemembered(words)) {
            after[3] = depth - (m.depthOf(words) - words[3]);
        } else after[2] = depth;
        return after;
    }

    /// The thread of a number, if it is alone.
    pub fn numberOf(m: *const Machine, words: []const u32) ?struct { numbers: *Numbers, state: u32 } {
        if (modeOf(words) != .number or isRemembered(words) or threadsOf(words) != 1) return null;
        const thread = threadAt(words, 0);
        const alternative = m.alternatives.all.items[thread[1]];
        return if (alternative.* == .number) .{ .numbers = alternative.number, .state = thread[2] } else null;
    }

    /// The number that is alone, at another state.
    pub fn numberAt(words: []const u32, state: u32, buffer: *[alone_max]u32) []u32 {
        const after = alone(words, 0, buffer);
        after[head + 2] = state;
        return after;
    }

    /// The bytes that may come, and perhaps some more.
    pub fn firstBytes(m: *Machine, words: []const u32) Error!Bytes {
        const n = nSeparate(words);
        if (n == 0) return m.possible(words);
        var bytes: Bytes = .empty;
        var buffer: [alone_max]u32 = undefined;
        for (0..n) |i| switch (try m.textOf(alone(words, i, &buffer))) {
            .open => return .full,
            inline else => |*texts| for (texts.low..texts.high) |one| {
                if (texts.byteAt(@intCast(one), texts.depth)) |byte| bytes.set(byte);
            },
        };
        return bytes;
    }

    /// Outside strings and keys: the bytes that may come, and perhaps some more.
    pub fn possible(m: *Machine, words: []const u32) Error!Bytes {
        const mode = modeOf(words);
        if (mode == .listed) return m.possibleListed(words);
        var bytes: Bytes = comptime setOf(" \n\r\t");
        switch (mode) {
            .listed => unreachable,
            .document, .array_item, .member => try m.addStarts(words, &bytes),
            .array_open => {
                bytes.set(']');
                try m.addStarts(words, &bytes);
            },
            .array_next => bytes.setUnion(comptime setOf(",]")),
            .object_open => bytes.setUnion(comptime setOf("\"}")),
            .object_key => bytes.set('"'),
            .object_next => bytes.setUnion(comptime setOf(",}")),
            .colon => bytes.set(':'),
            .number => bytes.setUnion(comptime setOf("0123456789-+.eE,]}")),
            .end => {},
            .string, .key => return .full, // within an escape
        }
        return bytes;
    }

    /// The first bytes of what may be the next value.
    fn addStarts(m: *Machine, words: []const u32, bytes: *Bytes) Error!void {
        const entries = &m.entries;
        for (0..threadsOf(words)) |i| {
            const thread = threadAt(words, i);
            switch (modeOf(words)) {
                .document => try m.addStartsOf(thread[1], bytes),
                .member => try m.addStartsOf(thread[2], bytes),
                else => {
                    entries.clearRetainingCapacity();
                    try m.addItems(thread[0], thread[1], entries);
                    for (entries.items) |entry| try m.addStartsOf(entry.goal, bytes);
                },
            }
        }
    }

    fn addStartsOf(m: *Machine, goal: GoalId, bytes: *Bytes) Error!void {
        for (std.enums.values(Class)) |class| {
            if ((try m.alternatives.of(goal, class)).len == 0) continue;
            bytes.setUnion(switch (class) {
                .null => comptime setOf("n"),
                .boolean => comptime setOf("tf"),
                .number => comptime setOf("-0123456789"),
                .string => comptime setOf("\""),
                .array => comptime setOf("["),
                .object => comptime setOf("{"),
            });
        }
    }

    fn setOf(comptime bytes: []const u8) Bytes {
        @setEvalBranchQuota(10_000);
        var set: Bytes = .empty;
        for (bytes) |byte| set.set(byte);
        return set;
    }

    fn possibleListed(m: *const Machine, words: []const u32) Bytes {
        var bytes: Bytes = .empty;
        const depth = m.depthOf(words);
        for (0..threadsOf(words)) |i| {
            const thread = threadAt(words, i);
            for (m.alternatives.all.items[thread[1]].listed[thread[2]..thread[3]]) |one| {
                if (depth < one.len) bytes.set(one[depth]);
            }
        }
        return bytes;
    }

    // ---- Values

    fn startDocument(m: *Machine, at: Point, byte: u8, out: *Words) Error!?Stack {
        const class = classBy(byte) orelse return null;
        try m.begin(class, out);
        try m.addThreads(0, threadAt(at.words, 0)[1], Sets.none, class, byte, out);
        return if (out.items.len == head) null else at.stack;
    }

    fn startMember(m: *Machine, pool: *Pool, at: Point, byte: u8, out: *Words) Error!?Stack {
        const entries = &m.entries;
        entries.clearRetainingCapacity();
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            try entries.append(m.gpa, .{ .goal = thread[2], .avoid = thread[3], .slot = thread[0], .progress = thread[1] });
        }
        return m.enter(pool, at, .object_next, entries.items, byte, out);
    }

    fn startItem(m: *Machine, pool: *Pool, at: Point, byte: u8, out: *Words) Error!?Stack {
        const entries = &m.entries;
        entries.clearRetainingCapacity();
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            try m.addItems(thread[0], thread[1], entries);
        }
        return m.enter(pool, at, .array_next, entries.items, byte, out);
    }

    /// The ways in which the array can continue with an item.
    fn addItems(m: *Machine, slot: u32, progress: u32, entries: *ArrayList(Entry)) Error!void {
        const plan = &m.alternatives.alternativeOf(progress).array;
        m.forks.clearRetainingCapacity();
        try m.alternatives.addItems(plan, progress, m.gpa, &m.forks);
        for (m.forks.items) |next| {
            try entries.append(m.gpa, .{ .goal = next.goal, .avoid = next.avoid, .slot = slot, .progress = next.progress });
        }
    }

    /// A thread that waits for a value.
    const Entry = struct {
        goal: GoalId,
        avoid: u32,
        slot: u32,
        progress: u32,

        fn isBefore(_: void, a: Entry, b: Entry) bool {
            if (a.goal != b.goal) return a.goal < b.goal;
            if (a.avoid != b.avoid) return a.avoid < b.avoid;
            if (a.slot != b.slot) return a.slot < b.slot;
            return a.progress < b.progress;
        }
    };

    /// Puts what waits on the stack, and starts the value.
    fn enter(m: *Machine, pool: *Pool, at: Point, after: Mode, entries: []Entry, byte: u8, out: *Words) Error!?Stack {
        const class = classBy(byte) orelse return null;
        std.sort.heap(Entry, entries, {}, Entry.isBefore);
        const frame = &m.frame;
        frame.clearRetainingCapacity();
        const is_remembered = at.words[0] & remembered;
        const key = if (is_remembered != 0 and after == .object_next) at.words[2] else 0;
        try frame.appendSlice(m.gpa, &.{ @backingInt(after) | is_remembered, at.words[4], key });
        try m.begin(class, out);
        var n_slots: u32 = 0;
        var before: ?Entry = null;
        var is_alive = false;
        for (entries) |entry| {
            defer before = entry;
            if (before) |one| if (!Entry.isBefore({}, one, entry)) continue;
            if (before == null or before.?.goal != entry.goal or before.?.avoid != entry.avoid) {
                const n = out.items.len;
                try m.addThreads(n_slots, entry.goal, entry.avoid, class, byte, out);
                is_alive = out.items.len > n;
                n_slots += @intFromBool(is_alive);
            }
            if (is_alive) try frame.appendSlice(m.gpa, &.{ n_slots - 1, entry.slot, entry.progress });
        }
        if (out.items.len == head) return null;
        try m.remember(frame.items, out.items);
        const top = try m.runs.put(m.kept, frame.items);
        return .{ .below = try pool.push(m.gpa, at.stack), .top = top };
    }

    /// Where a value may have to be another one than some that came, it is remembered from its first byte on.
    fn remember(m: *Machine, frame: []const u32, words: []u32) Error!void {
        var i: usize = frame_head;
        while (i < frame.len) : (i += entry_words) {
            if (!m.alternatives.asksForValues(frame[i + 2])) continue;
            words[0] |= remembered;
            if (!isRemembered(words)) return; // no scalar
            words[2] = try m.alternatives.text("");
            // A string's without its quote, as that of a key.
            words[3] = @intFromBool(modeOf(words) != .string);
            return;
        }
    }

    fn begin(m: *Machine, class: Class, out: *Words) Error!void {
        const mode: Mode = switch (class) {
            .null, .boolean => .listed,
            .number => .number,
            .string => .string,
            .array => .array_open,
            .object => .object_open,
        };
        // The first byte of a scalar's text has come.
        const n_bytes = @intFromBool(class != .array and class != .object);
        try out.appendSlice(m.gpa, &.{ @backingInt(mode), 0, n_bytes, 0, Values.begun });
    }

    /// A thread for each alternative of the goal that the first byte leaves, with what it must not be.
    fn addThreads(m: *Machine, slot: u32, goal: GoalId, avoid: u32, class: Class, byte: u8, out: *Words) Error!void {
        for (try m.alternatives.of(goal, class)) |id| switch (m.alternatives.all.items[id].*) {
            .listed => |texts| {
                const low, const high = narrow(texts, 0, @intCast(texts.len), 0, byte);
                if (low < high) try out.appendSlice(m.gpa, &.{ slot, id, low, high });
            },
            .number => |numbers| if (try numbers.next(Numbers.start, byte)) |state| {
                try out.appendSlice(m.gpa, &.{ slot, id, state, 0 });
            },
            .string => |strings| {
                const state = strings.start();
                try out.appendSlice(m.gpa, &.{ slot, id, state.product, state.count });
            },
            .array, .object => if (try m.alternatives.canBegin(id, avoid)) {
                try out.appendSlice(m.gpa, &.{ slot, try m.alternatives.start(id, avoid) });
            },
        };
    }

    // ---- Scalars

    fn stepScalar(m: *Machine, pool: *Pool, at: Point, byte: u8, out: *Words) Error!?Stack {
        const mode = modeOf(at.words);
        const depth = m.depthOf(at.words);
        try out.appendSlice(m.gpa, &.{ at.words[0], 0, at.words[2], at.words[3], Values.begun });
        count(out.items);
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            switch (m.alternatives.all.items[thread[1]].*) {
                .listed => |texts| {
                    const low, const high = narrow(texts, thread[2], thread[3], depth, byte);
                    if (low < high) try out.appendSlice(m.gpa, &.{ thread[0], thread[1], low, high });
                },
                .number => |numbers| if (try numbers.next(@intCast(thread[2]), byte)) |state| {
                    try out.appendSlice(m.gpa, &.{ thread[0], thread[1], state, 0 });
                },
                else => unreachable,
            }
        }
        if (out.items.len > head) {
            // A literal ends with its last byte, a number with what is after it.
            if (mode == .listed and m.isComplete(out.items, threadAt(out.items, 0))) {
                const text = try m.rememberedText(at.words, &.{byte});
                return m.endValue(pool, out.items, at.stack, text, out);
            }
            m.forgetDepth(out.items);
            return at.stack;
        }
        if (mode == .listed) return null;
        const ended = &m.ended;
        const stack = try m.endValue(pool, at.words, at.stack, try m.rememberedText(at.words, ""), ended) orelse return null;
        return m.step(pool, .{ .words = ended.items, .stack = stack }, byte, out);
    }

    /// Bytes of the value so far, with the quote before it.
    fn depthOf(m: *const Machine, words: []const u32) u32 {
        if (!isRemembered(words)) return words[2];
        return @intCast(m.begun(words).len + words[3] + @intFromBool(modeOf(words) == .string));
    }

    /// The text of a scalar, with what comes last, if it is remembered.
    fn rememberedText(m: *Machine, words: []const u32, last: []const u8) Error!?u32 {
        if (!isRemembered(words)) return null;
        const text = try m.wholeText(words);
        return if (last.len == 0) text else try m.alternatives.textAfter(text, last);
    }

    /// Only listed texts need the number of bytes: without it, equal places are equal configurations.
    fn forgetDepth(m: *const Machine, words: []u32) void {
        if (isRemembered(words)) return;
        for (0..threadsOf(words)) |i| {
            if (m.alternatives.all.items[threadAt(words, i)[1]].* == .listed) return;
        }
        words[2] = 0;
    }

    /// Whether the value may end here, for a thread.
    fn isComplete(m: *const Machine, words: []const u32, thread: []const u32) bool {
        return switch (m.alternatives.all.items[thread[1]].*) {
            .listed => |texts| texts[thread[2]].len == m.depthOf(words),
            .number => |numbers| numbers.canEnd(@intCast(thread[2])),
            .string => |strings| strings.canEnd(.{ .product = thread[2], .count = thread[3] }),
            else => unreachable,
        };
    }

    /// Ends the value for the threads that may; `words` may lie in `out`.
    fn endValue(m: *Machine, pool: *Pool, words: []const u32, stack: Stack, text: ?u32, out: *Words) Error!?Stack {
        const slots = &m.slots;
        slots.clearRetainingCapacity();
        for (0..threadsOf(words)) |i| {
            const thread = threadAt(words, i);
            if (!m.isComplete(words, thread)) continue;
            if (text) |number| switch (m.alternatives.all.items[thread[1]].*) {
                .string => |strings| if (strings.excludes(try m.alternatives.contentOf(number))) continue,
                else => {},
            };
            try slots.append(m.gpa, thread[0]);
        }
        const value = if (text) |number| try m.alternatives.scalar(number, modeOf(words) == .string) else null;
        return m.leave(pool, stack, slots.items, value, out);
    }

    /// Continues with the threads that waited for a goal of these slots. `value`: if it is remembered.
    fn leave(m: *Machine, pool: *Pool, stack: Stack, slots: []const u32, value: ?ValueId, out: *Words) Error!?Stack {
        out.clearRetainingCapacity();
        m.threads.clear();
        if (slots.len == 0) return null;
        m.least_depth = @min(m.least_depth, pool.depthOf(stack));
        if (stack.below == position.bottom) {
            try out.appendSlice(m.gpa, &.{ @backingInt(Mode.end), 0, 0, 0, 0, 0 });
            return stack;
        }
        var mode, var came, const key = m.runs.get(stack.top)[0..frame_head].*;
        if (mode & remembered != 0) {
            if (value) |known| {
                const key_or_none = if (modeOf(&.{mode}) == .object_next) key else null;
                came = try m.alternatives.values.append(m.kept, came, key_or_none, known);
            } else {
                // The threads that asked for the values were none of those that this one began with.
                mode &= ~@as(u32, remembered);
                came = Values.begun;
            }
        }
        try out.appendSlice(m.gpa, &.{ mode, 0, 0, 0, came });
        var at: usize = frame_head;
        while (at < m.runs.get(stack.top).len) : (at += entry_words) {
            const slot, var thread: [2]u32 = .{ m.runs.get(stack.top)[at], m.runs.get(stack.top)[at + 1 ..][0..2].* };
            if (std.mem.findScalar(u32, slots, slot) == null) continue;
            if (value) |known| thread[1] = try m.alternatives.behindValue(thread[1], known) orelse continue;
            try m.addThread(out, thread);
        }
        const node = pool.nodes.items[stack.below];
        return if (out.items.len == head) null else .{ .below = node.parent, .top = node.state };
    }

    /// Adds one that is not there yet, since `threads` was cleared.
    fn addThread(m: *Machine, out: *Words, thread: [2]u32) Error!void {
        const n = threadsOf(out.items);
        if (n < few_threads) {
            if (hasThread(out.items, &thread)) return;
        } else {
            if (m.threads.n == 0) for (0..n) |i| try m.threads.put(m.gpa, @bitCast(threadAt(out.items, i)[0..2].*), 0);
            if (m.threads.get(@bitCast(thread)) != null) return;
            try m.threads.put(m.gpa, @bitCast(thread), 0);
        }
        try out.appendSlice(m.gpa, &thread);
    }

    // ---- Strings

    fn stepString(m: *Machine, pool: *Pool, at: Point, byte: u8, out: *Words) Error!?Stack {
        const event = escapes.next(at.words[1], byte) orelse return null;
        const depth = m.depthOf(at.words);
        try out.appendSlice(m.gpa, &.{ at.words[0], event.state, at.words[2], at.words[3], Values.begun });
        count(out.items);
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            switch (m.alternatives.all.items[thread[1]].*) {
                .listed => |texts| {
                    const low, const high = narrow(texts, thread[2], thread[3], depth, byte);
                    if (low < high) try out.appendSlice(m.gpa, &.{ thread[0], thread[1], low, high });
                },
                .string => |strings| {
                    const before: Strings.State = .{ .product = thread[2], .count = thread[3] };
                    const state = try spell(strings, before, event, strings.isFree() and !isRemembered(at.words)) orelse continue;
                    try out.appendSlice(m.gpa, &.{ thread[0], thread[1], state.product, state.count });
                },
                else => unreachable,
            }
        }
        if (event.what == .quote) return m.endValue(pool, out.items, at.stack, try m.rememberedText(at.words, ""), out);
        m.forgetDepth(out.items);
        return if (out.items.len == head) null else at.stack;
    }

    // ---- Arrays

    /// Ends the array or object for the threads that may.
    fn close(m: *Machine, pool: *Pool, at: Point, kind: values_module.Kind, out: *Words) Error!?Stack {
        const slots = &m.slots;
        slots.clearRetainingCapacity();
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            if (try m.alternatives.accepts(thread[1])) try slots.append(m.gpa, thread[0]);
        }
        const value = if (at.words[0] & remembered != 0) try m.alternatives.values.finish(m.kept, kind, at.words[4]) else null;
        return m.leave(pool, at.stack, slots.items, value, out);
    }

    /// The threads that another item or member may follow.
    fn comma(m: *Machine, at: Point, byte: u8, after: Mode, out: *Words) Error!?Stack {
        if (byte != ',') return null;
        try out.appendSlice(m.gpa, &.{ @backingInt(after) | (at.words[0] & remembered), 0, 0, 0, at.words[4] });
        const entries = &m.entries;
        entries.clearRetainingCapacity();
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            entries.clearRetainingCapacity();
            const goes_on = if (after == .array_item) on: {
                try m.addItems(thread[0], thread[1], entries);
                break :on entries.items.len > 0;
            } else try m.alternatives.hasNext(&m.alternatives.alternativeOf(thread[1]).object, thread[1]);
            if (goes_on) try out.appendSlice(m.gpa, thread);
        }
        return if (out.items.len == head) null else at.stack;
    }

    // ---- Objects

    fn startKey(m: *Machine, at: Point, byte: u8, out: *Words) Error!?Stack {
        if (byte != '"') return null;
        const text = try m.alternatives.text("");
        try out.appendSlice(m.gpa, &.{ @backingInt(Mode.key) | (at.words[0] & remembered), 0, text, 0, at.words[4] });
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            const plan = &m.alternatives.alternativeOf(thread[1]).object;
            const n: u32 = @intCast(plan.known.len);
            if (try m.alternatives.anyKnown(plan, thread[1], 0, n)) {
                try out.appendSlice(m.gpa, &.{ thread[0], thread[1], known_key, 0, n });
            }
            for (0..plan.extras.len) |extra| {
                const strings = try m.alternatives.extraOpen(plan, thread[1], extra) orelse continue;
                const state = strings.start();
                try out.appendSlice(m.gpa, &.{ thread[0], thread[1], @intCast(1 + extra), state.product, state.count });
            }
        }
        return if (out.items.len == head) null else at.stack;
    }

    fn stepKey(m: *Machine, at: Point, byte: u8, out: *Words) Error!?Stack {
        const event = escapes.next(at.words[1], byte) orelse return null;
        const depth: u32 = @intCast(m.alternatives.texts.list.items[at.words[2]].len + at.words[3]);
        if (event.what == .quote) return m.endKey(at, depth, out);
        try out.appendSlice(m.gpa, &.{ at.words[0], event.state, at.words[2], at.words[3] + 1, at.words[4] });
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            const plan = &m.alternatives.alternativeOf(thread[1]).object;
            if (thread[2] == known_key) {
                const low, const high = plan.narrow(thread[3], thread[4], depth, byte);
                if (!try m.alternatives.anyKnown(plan, thread[1], low, high)) continue;
                try out.appendSlice(m.gpa, &.{ thread[0], thread[1], known_key, low, high });
                continue;
            }
            const strings = (try m.alternatives.extraOpen(plan, thread[1], thread[2] - 1)).?;
            const state = try spell(strings, .{ .product = thread[3], .count = thread[4] }, event, false) orelse continue;
            try out.appendSlice(m.gpa, &.{ thread[0], thread[1], thread[2], state.product, state.count });
        }
        return if (out.items.len == head) null else at.stack;
    }

    /// The whole text so far, interned.
    fn wholeText(m: *Machine, words: []const u32) Error!u32 {
        if (words[3] == 0) return words[2];
        return m.alternatives.textAfter(words[2], m.behind[m.behind.len - words[3] ..]);
    }

    /// Makes a configuration independent of the bytes of the present token, which are `behind`.
    pub fn detach(m: *Machine, words: []u32) Error!void {
        if (!isRemembered(words)) return;
        words[2] = try m.wholeText(words);
        words[3] = 0;
    }

    fn endKey(m: *Machine, at: Point, depth: u32, out: *Words) Error!?Stack {
        var text: ?u32 = null; // interned if a thread asks for it
        const is_remembered = at.words[0] & remembered;
        if (is_remembered != 0) {
            text = try m.wholeText(at.words);
            try m.alternatives.remember(text.?);
        }
        try out.appendSlice(m.gpa, &.{ @backingInt(Mode.colon) | is_remembered, 0, text orelse 0, 0, at.words[4] });
        const forks = &m.forks;
        for (0..threadsOf(at.words)) |i| {
            const thread = threadAt(at.words, i);
            const plan = &m.alternatives.alternativeOf(thread[1]).object;
            forks.clearRetainingCapacity();
            if (thread[2] == known_key) {
                const low, const high = plan.narrow(thread[3], thread[4], depth, '"');
                if (low == high) continue;
                try m.alternatives.addMembers(plan, thread[1], .{ .known = plan.by_text[low] }, m.gpa, forks);
            } else {
                const strings = (try m.alternatives.extraOpen(plan, thread[1], thread[2] - 1)).?;
                if (!strings.canEnd(.{ .product = thread[3], .count = thread[4] })) continue;
                if (text == null) text = try m.wholeText(at.words);
                if (strings.is_late and strings.excludes(try m.alternatives.contentOf(text.?))) continue;
                const which: object_plan.Which = .{ .extra = .{ .index = thread[2] - 1, .text = text.? } };
                try m.alternatives.addMembers(plan, thread[1], which, m.gpa, forks);
            }
            for (forks.items) |fork| {
                const words = [_]u32{ thread[0], fork.progress, fork.goal, fork.avoid };
                if (!hasThread(out.items, &words)) try out.appendSlice(m.gpa, &words);
            }
        }
        return if (out.items.len == head) null else at.stack;
    }
};

pub const Words = ArrayList(u32);
pub const Bytes = std.StaticBitSet(256);

/// Whether the text of this scalar or key is remembered.
fn isRemembered(words: []const u32) bool {
    return switch (modeOf(words)) {
        .listed, .number, .string => words[0] & remembered != 0,
        .key => true,
        else => false,
    };
}

/// One byte of a value more.
fn count(words: []u32) void {
    if (isRemembered(words)) {
        words[3] += 1;
    } else words[2] +|= 1;
}

fn modeOf(words: []const u32) Mode {
    return @fromBackingInt(@as(u8, @truncate(words[0])));
}

fn threadsOf(words: []const u32) usize {
    return (words.len - head) / modeOf(words).threadWords();
}

fn threadAt(words: []const u32, i: usize) []const u32 {
    const n = modeOf(words).threadWords();
    return words[head + i * n ..][0..n];
}

fn hasThread(words: []const u32, wanted: []const u32) bool {
    for (0..threadsOf(words)) |i| if (std.mem.eql(u32, threadAt(words, i), wanted)) return true;
    return false;
}

/// The range of the texts between `low` and `high`, all equal up to `depth`, that continue with `byte`.
fn narrow(texts: []const []const u8, low: u32, high: u32, depth: u32, byte: u8) struct { u32, u32 } {
    var from = low;
    var to = high;
    while (from < to) {
        const middle = from + (to - from) / 2;
        if (isBelow(texts[middle], depth, byte)) from = middle + 1 else to = middle;
    }
    const first = from;
    to = high;
    while (from < to) {
        const middle = from + (to - from) / 2;
        if (texts[middle][depth] == byte) from = middle + 1 else to = middle;
    }
    return .{ first, from };
}

fn isBelow(text: []const u8, depth: u32, byte: u8) bool {
    return text.len <= depth or text[depth] < byte;
}

fn classBy(byte: u8) ?Class {
    return switch (byte) {
        'n' => .null,
        't', 'f' => .boolean,
        '-', '0'...'9' => .number,
        '"' => .string,
        '[' => .array,
        '{' => .object,
        else => null,
    };
}

fn isSpace(byte: u8) bool {
    return switch (byte) {
        ' ', '\n', '\r', '\t' => true,
        else => false,
    };
}
