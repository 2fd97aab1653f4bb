//! One computation with a generalised LR parser ("Efficient parsing for natural language", M. Tomita, 1985) and a lexer
//! that may end a lexeme wherever it matches: the sets of configurations that bytes lead to, each found once.
//!
//! No rule of the grammar is empty but the start, and none derives itself alone, so that reductions end. As long as
//! the parser has all its actions, what a reduction leads to shifts nothing but lookaheads of it. Where precedence has
//! removed some, it may shift more: so stacks are joined by what they may still shift.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const dfa = @import("../language/dfa.zig");
const position_module = @import("../language/position.zig");
const Position = position_module.Position;
const span = @import("../contract/span.zig");
const Pool = position_module.Pool;
const program_module = @import("../lr/program.zig");
const Program = program_module.Program;
const nothing_pending = @import("../lr/parser.zig").nothing_pending;
const graph = @import("graph.zig");
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const limits_module = @import("limits.zig");
const Limits = limits_module.Limits;
const BoundedTexts = @import("../language/bounded_texts.zig").BoundedTexts;
const AnyOrder = @import("any_order.zig").AnyOrder;
const Seen = @import("any_order.zig").Seen;
const parts_module = @import("parts.zig");
const Parts = parts_module.Parts;
const Place = parts_module.Place;

/// Why a run cannot continue.
pub const Error = span.Error;

/// The most configurations of a position.
const configurations_max = 1024;
/// The most sets of configurations of a run, and links that it follows: some tenths of a second.
const sets_max = 1 << 16;
const work_max = 1 << 25;
/// As many steps as beginning a run takes, sorting each of some hundred, and what a reduction puts on a node.
const init_steps = 64;
const steps_of_sorted = 3;
const steps_of_pair = 2;
/// The most configurations of all sets of a run, and nodes that it adds.
const kept_max = 1 << 22;

/// Where a lexeme may end.
pub const Lexing = enum(u32) {
    /// Wherever it matches.
    any,
    /// Where it cannot continue, whatever the parser could take; of the terminals that match, the first that the parser can take
    /// is it.
    longest,
    /// Where no terminal that the parser could take continues, and before what nothing could separate from it. All terminals
    /// that match are followed.
    contextual,
};

/// Belongs to one thread. Adds cells to the pool; those that no position leads to are the caller's to drop.
pub const Run = struct {
    gpa: Allocator,
    program: *const Program,
    lexing: Lexing,
    parts: ?*Parts,
    limits: *const Limits,
    any_order: *const AnyOrder,
    texts: *const BoundedTexts,
    /// Lexemes may end anywhere, and nothing else is there: then what ends does not depend on the byte.
    ends_anywhere: bool,
    pool: *Pool = undefined,
    /// The text's.
    clock: limits_module.Time = 0,
    /// The run's own cells begin here, and their levels.
    first_cell: usize = 0,
    levels: ArrayList(i32) = .empty,
    /// The lowest level of which a state was looked at. A level counts the links from the position's nodes down; what
    /// the run has pushed lies above, at negative levels.
    looked: i32 = 0,
    /// Links that were followed.
    work: u64 = 0,
    stacks: ArrayList(Stack) = .empty,
    /// [stack * width]: the terminals that can be shifted on it.
    viable: ArrayList(u64) = .empty,
    groups: ArrayList(Group) = .empty,
    /// [i * width]: the terminals that a group shifts, if its state shifts others too.
    some_shifts: ArrayList(u64) = .empty,
    /// From a node to its stack.
    of_nodes: NumberMap = .{},
    /// From the hash of a node's state and links to the node.
    by_links: NumberMap = .{},
    /// From a node that is not the run's own, and can be found by its links, to its level.
    remembered: NumberMap = .{},
    /// Sets of configurations; the first is empty.
    sets: ArrayList(Range) = .empty,
    configurations: ArrayList(Configuration) = .empty,
    by_content: NumberMap = .{},
    /// [set]: what `endedIn` found.
    ended: ArrayList(?Range) = .empty,
    ended_stacks: ArrayList(u32) = .empty,
    /// From a lexer state and a stack to an index of `inseparable`.
    of_pending: NumberMap = .{},
    /// [i * width]: the terminals that may begin although the pending lexeme can continue.
    inseparable: ArrayList(u64) = .empty,
    /// From a stack to the index of its range of `around`.
    of_around: NumberMap = .{},
    ranges_around: ArrayList(Range) = .empty,
    around: ArrayList(u32) = .empty,
    /// Of the configurations in parts, by their states from `first_place` on.
    places: ArrayList(Place) = .empty,
    by_place: NumberMap = .{},
    /// The frames of the places.
    frames: Pool = .{},
    /// A step from `before` begins none of these parts.
    before: u32 = empty,
    begun: parts_module.Numbers = .empty,
    /// Of the present step.
    current: u32 = empty,
    // Scratch of single operations.
    pairs: ArrayList(Pair) = .empty,
    pair_sets: ArrayList(u64) = .empty,
    /// Those that reductions are yet to be tried on.
    waiting: ArrayList(u32) = .empty,
    /// From a pair's state and node to the pair, once there are `listed_max`.
    of_pairs: NumberMap = .{},
    frontier: ArrayList(Below) = .empty,
    next_frontier: ArrayList(Below) = .empty,
    /// [node]: where it is in the frontier that has this stamp. Made when a frontier is first large.
    marks: ArrayList(Mark) = .empty,
    stamp: u32 = 0,
    arrivals: ArrayList(Arrival) = .empty,
    found: ArrayList(Configuration) = .empty,
    nodes: ArrayList(u32) = .empty,
    /// Where rules have begun that are over, and the same with the paths on which no other is.
    spent: ArrayList(struct { node: u32, kept: u32 }) = .empty,
    kept: NumberMap = .{},

    const Range = struct { from: u32, to: u32 };
    /// A node and the stacks that reductions of it lead to, by the parser's state and what may be shifted on them.
    const Stack = struct { node: u32, groups: Range };
    /// `shifts`: an index of `some_shifts`, or `all_shifts`.
    const Group = struct { state: u16, node: u32, level: i32, shifts: u32 = all_shifts };
    /// As graph.zig's, with a stack in place of its node. In a part its state is an index of `places`.
    pub const Configuration = struct { state: u32, stack: u32 };
    const Mark = struct { stamp: u32, index: u32 };
    /// A state on a node.
    const Pair = struct {
        state: u16,
        below: u32,
        level: i32,
        is_waiting: bool = true,
        /// As a group's.
        shifts: u32 = all_shifts,

        fn key(pair: Pair) u64 {
            return @as(u64, pair.state) << 32 | pair.below;
        }
    };
    /// A state that a terminal leads to, and the node below it.
    const Arrival = struct { state: u16, below: u32, level: i32, limit: u32 };

    /// The set of no configuration.
    pub const empty = 0;
    /// In place of a set that is yet to be found.
    pub const unknown = std.math.maxInt(u32);
    /// So many pairs are looked through one by one.
    const listed_max = 16;
    /// States of the lexer are below it.
    const first_place = graph.first_place;
    /// In place of an index of `some_shifts`: all that the state shifts.
    const all_shifts = std.math.maxInt(u32);
    /// In place of an index of `inseparable`: any terminal may begin.
    const unlimited = std.math.maxInt(u32);
    /// In place of a parser's state that a terminal leads to: `below` is the stack, which stays.
    const skipped = std.math.maxInt(u16);

    /// What is read, and how.
    pub const How = struct {
        program: *const Program,
        lexing: Lexing,
        parts: ?*Parts,
        limits: *const Limits,
        any_order: *const AnyOrder,
        texts: *const BoundedTexts,
    };

    /// At a position: its configurations are set 1. It has many callers, and is long.
    pub noinline fn init(gpa: Allocator, how: How, pool: *Pool, at: Position) Error!Run {
        var r: Run = .idle(gpa, how);
        errdefer r.deinit();
        try r.begin(pool, at);
        return r;
    }

    /// Nowhere yet.
    pub fn idle(gpa: Allocator, how: How) Run {
        return .{
            .gpa = gpa,
            .program = how.program,
            .lexing = how.lexing,
            .parts = how.parts,
            .limits = how.limits,
            .any_order = how.any_order,
            .texts = how.texts,
            .ends_anywhere = how.lexing == .any and how.parts == null and how.limits.isEmpty() and how.texts.isEmpty() and
                !program_module.intersects(how.program.lazy, how.program.lazy),
        };
    }

    /// At another position, with the memory that there is.
    pub fn begin(r: *Run, pool: *Pool, at: Position) Error!void {
        return r.beginAt(pool, at, .exact);
    }

    /// The same for a mask: what it does not depend on is left out.
    pub fn beginMask(r: *Run, pool: *Pool, at: Position) Error!void {
        return r.beginAt(pool, at, .canonical);
    }

    fn beginAt(r: *Run, pool: *Pool, at: Position, form: enum { exact, canonical }) Error!void {
        inline for (lists) |name| @field(r, name).clearRetainingCapacity();
        inline for (maps) |name| @field(r, name).clear();
        r.frames.nodes.clearRetainingCapacity();
        r.pool = pool;
        r.clock = graph.timeAt(at);
        r.first_cell = pool.nodes.items.len;
        r.looked = 0;
        r.work = 0;
        r.before = empty;
        r.stamp = 0;
        const gpa = r.gpa;
        try pool.watch.steps(init_steps);
        try r.sets.append(gpa, .{ .from = 0, .to = 0 });
        var all: graph.Configurations = .of(pool, at);
        while (all.next()) |one| {
            try r.remember(.{ .node = one.node, .level = 0 });
            const state = if (graph.isPlace(one.state))
                try r.stateOf(try r.parts.?.open(gpa, &r.frames, one.state - first_place))
            else if (form == .canonical and graph.isText(one.state))
                r.texts.canonical(one.state)
            else
                one.state;
            try r.found.append(gpa, .{ .state = state, .stack = try r.stackOf(one.node) });
        }
        _ = try r.internFound();
    }

    /// Leaves the pool's cells to the caller.
    pub fn deinit(r: *Run) void {
        inline for (lists ++ maps) |name| @field(r, name).deinit(r.gpa);
        r.frames.nodes.deinit(r.gpa);
    }

    /// Memory that the run has.
    pub fn held(r: *const Run) usize {
        var total: usize = r.frames.nodes.capacity * @sizeOf(position_module.Node);
        inline for (lists) |name| total += std.mem.sliceAsBytes(@field(r, name).allocatedSlice()).len;
        inline for (maps) |name| total += std.mem.sliceAsBytes(@field(r, name).slots).len;
        return total;
    }

    const lists = .{
        "levels",   "stacks",        "viable",   "groups", "sets",        "configurations", "inseparable", "pairs", "pair_sets",
        "frontier", "next_frontier", "arrivals", "found",  "waiting",     "marks",          "places",      "ended", "ended_stacks",
        "around",   "ranges_around", "nodes",    "spent",  "some_shifts",
    };
    const maps = .{ "of_nodes", "by_links", "by_content", "of_pending", "of_pairs", "by_place", "remembered", "of_around", "kept" };

    /// The configurations of a set.
    pub fn of(r: *const Run, set: u32) []const Configuration {
        const range = r.sets.items[set];
        return r.configurations.items[range.from..range.to];
    }

    /// The lexer's state in a set's configuration, if it has one in which a lexeme is pending, and not counted.
    pub fn onlyState(r: *const Run, set: u32) ?u16 {
        const all = r.of(set);
        return if (all.len == 1 and all[0].state != nothing_pending and all[0].state < first_place) @intCast(all[0].state) else null;
    }

    /// Whether a byte seems to lead from a set to itself, at a glance: each lexeme stays where it is, or has just begun.
    pub fn mayStay(r: *const Run, set: u32, byte: u8) bool {
        const lexer = &r.program.lexer;
        const restarted = lexer.next(dfa.start, byte);
        for (r.of(set)) |one| {
            if (isApart(one.state)) return true;
            if (one.state == nothing_pending) return false;
            const state = r.limits.lexerState(one.state);
            const next = lexer.next(state, byte);
            if (next == dfa.dead or next != state and state != restarted) return false;
        }
        return true;
    }

    /// The set after a byte; `empty` if no text continues so.
    pub fn step(r: *Run, set: u32, byte: u8) Error!u32 {
        if (r.ends_anywhere) return r.stepAnywhere(set, byte);
        const lexer = &r.program.lexer;
        r.found.clearRetainingCapacity();
        r.arrivals.clearRetainingCapacity();
        const restarted = lexer.next(dfa.start, byte);
        r.current = set;
        const begins = restarted != dfa.dead or r.texts.beginsWith(byte) or if (r.parts) |parts| parts.firsts.isSet(byte) else false;
        const range = r.sets.items[set];
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            try r.pool.watch.steps(2);
            if (isApart(one.state)) {
                if (try r.isWhole(one) and begins) try r.endPart(one);
                try r.goOn(one, byte);
                continue;
            }
            if (one.state == nothing_pending) {
                if (begins) try r.beginOn(one.stack, restarted, byte, unlimited);
                continue;
            }
            const state = r.limits.lexerState(one.state);
            const next = lexer.next(state, byte);
            const is_over = r.endsLazily(one);
            const goes_on = !is_over and next != dfa.dead and r.goesOn(one, next);
            if (goes_on) try r.found.append(r.gpa, .{ .state = r.stateBehind(one, next), .stack = one.stack });
            if (!begins or lexer.matches[state] == 0) continue;
            switch (r.lexing) {
                .any => try r.end(one, is_over, unlimited),
                .longest => if (is_over or next == dfa.dead) try r.end(one, is_over, unlimited),
                .contextual => if (!goes_on) {
                    try r.end(one, is_over, unlimited);
                } else if (try r.inseparableFrom(one)) |limit| try r.end(one, is_over, limit),
            }
        }
        try r.land(restarted, byte);
        try r.join();
        return r.internFound();
    }

    fn stepAnywhere(r: *Run, set: u32, byte: u8) Error!u32 {
        const begins = r.mayBeginBehind(set, byte);
        if (!begins and !r.mayGoOn(set, byte)) return empty;
        return r.stepBehind(set, if (begins) try r.endedIn(set) else .{ .from = 0, .to = 0 }, byte);
    }

    /// Whether in some text a lexeme that begins with the byte follows one that ends here.
    fn mayBeginBehind(r: *const Run, set: u32, byte: u8) bool {
        const lexer = &r.program.lexer;
        const begun = lexer.next(dfa.start, byte);
        if (begun == dfa.dead) return false;
        for (r.of(set)) |one| {
            if (one.state == nothing_pending) return true;
            const list = lexer.matches[one.state];
            if (list != 0 and r.program.follows_reach[list * lexer.nReach() + lexer.reaches[begun]]) return true;
        }
        return false;
    }

    /// The sets after some bytes, if lexemes may end anywhere: those that are `unknown` yet.
    pub fn stepAll(r: *Run, set: u32, some: []const u8, row: []u32) Error!void {
        const ended = try r.endedIn(set);
        try r.pool.watch.steps(@intCast(some.len));
        for (some, row) |byte, *to| if (to.* == unknown) {
            const begins = ended.from != ended.to and r.program.lexer.next(dfa.start, byte) != dfa.dead;
            to.* = if (byte < Parts.lead and (begins or r.mayGoOn(set, byte))) try r.stepBehind(set, ended, byte) else empty;
        };
    }

    /// Whether a pending lexeme continues with the byte, for all that the lexer knows.
    inline fn mayGoOn(r: *const Run, set: u32, byte: u8) bool {
        const lexer = &r.program.lexer;
        for (r.of(set)) |one| if (one.state != nothing_pending and lexer.next(@intCast(one.state), byte) != dfa.dead) return true;
        return false;
    }

    inline fn stepBehind(r: *Run, set: u32, ended: Range, byte: u8) Error!u32 {
        const lexer = &r.program.lexer;
        const restarted = lexer.next(dfa.start, byte);
        const range = r.sets.items[set];
        const before = r.configurations.items[range.from..range.to];
        try r.pool.watch.steps(@intCast(2 * before.len + ended.to - ended.from + 1));
        r.found.clearRetainingCapacity();
        try r.found.ensureTotalCapacity(r.gpa, before.len + ended.to - ended.from);
        for (before) |one| {
            if (one.state == nothing_pending) continue;
            const state: u16 = @intCast(one.state);
            const next = lexer.next(state, byte);
            if (next == dfa.dead) continue;
            const goes_on = lexer.reaches[next] == lexer.reaches[state] or r.canReach(one.stack, next);
            if (goes_on) r.found.appendAssumeCapacity(.{ .state = next, .stack = one.stack });
        }
        if (restarted != dfa.dead) for (r.ended_stacks.items[ended.from..ended.to]) |stack| {
            if (r.canReach(stack, restarted)) r.found.appendAssumeCapacity(.{ .state = restarted, .stack = stack });
        };
        const found = r.found.items;
        if (found.len == 0) return empty;
        if (found.len == 1) {
            // Within a lexeme most bytes lead nowhere else.
            if (before.len == 1 and found[0].state == before[0].state and found[0].stack == before[0].stack) return set;
        } else try r.join();
        return r.internFound();
    }

    /// Of `ended_stacks`: those on which the next lexeme may begin.
    fn endedIn(r: *Run, set: u32) Error!Range {
        const n = r.ended.items.len;
        if (set >= n) try r.ended.appendNTimes(r.gpa, null, set + 1 - n);
        if (r.ended.items[set]) |known| return known;
        r.found.clearRetainingCapacity();
        r.arrivals.clearRetainingCapacity();
        const range = r.sets.items[set];
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            if (one.state == nothing_pending) try r.found.append(r.gpa, one) else try r.end(one, false, unlimited);
        }
        try r.land(nothing_pending, null);
        try r.join();
        const from: u32 = @intCast(r.ended_stacks.items.len);
        for (r.found.items) |one| try r.ended_stacks.append(r.gpa, one.stack);
        const ended: Range = .{ .from = from, .to = @intCast(r.ended_stacks.items.len) };
        r.ended.items[set] = ended;
        return ended;
    }

    /// The set of the configurations that are in no part, or where a part has ended.
    pub fn outside(r: *Run, set: u32) Error!u32 {
        r.found.clearRetainingCapacity();
        r.arrivals.clearRetainingCapacity();
        const range = r.sets.items[set];
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            if (!graph.isPlace(one.state)) {
                try r.found.append(r.gpa, one);
            } else if (try r.isWhole(one)) try r.endPart(one);
        }
        try r.land(nothing_pending, null);
        try r.join();
        return r.internFound();
    }

    /// The set of one configuration.
    pub fn alone(r: *Run, one: Configuration) Error!u32 {
        r.found.clearRetainingCapacity();
        try r.found.append(r.gpa, one);
        return r.internFound();
    }

    /// The set after a token of a class (named_tokens.zig).
    pub fn stepToken(r: *Run, set: u32, class: u8) Error!u32 {
        const begun = try r.step(set, NamedTokens.lead);
        return if (begun == empty) empty else r.step(begun, class);
    }

    /// The set of all configurations of two.
    pub fn unite(r: *Run, a: u32, b: u32) Error!u32 {
        if (a == empty or a == b) return b;
        if (b == empty) return a;
        r.found.clearRetainingCapacity();
        for ([_]u32{ a, b }) |set| try r.found.appendSlice(r.gpa, r.of(set));
        try r.join();
        return r.internFound();
    }

    /// Whether the text may end at one of the configurations.
    pub fn canEnd(r: *Run, set: u32) Error!bool {
        r.arrivals.clearRetainingCapacity();
        const range = r.sets.items[set];
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            if (isApart(one.state)) {
                if (try r.isWhole(one)) try r.endPart(one);
            } else if (one.state != nothing_pending) {
                try r.end(one, r.endsLazily(one), unlimited);
            } else if (try r.canEndOn(one.stack)) return true;
        }
        for (0..r.arrivals.items.len) |i| {
            const arrival = r.arrivals.items[i];
            if (arrival.state == skipped) {
                if (try r.canEndOn(arrival.below)) return true;
                continue;
            }
            const node = try r.nodeOf(arrival.state, &.{.{ .node = arrival.below, .level = arrival.level }});
            if (try r.canEndOn(try r.stackOf(node))) return true;
        }
        return false;
    }

    fn canEndOn(r: *Run, stack: u32) Error!bool {
        if (program_module.has(r.viableOf(stack), r.program.endOfInput())) return true;
        for (try r.stacksAround(stack)) |one| if (program_module.has(r.viableOf(one), r.program.endOfInput())) return true;
        return false;
    }

    /// The set as a position, which the run's cells hold.
    pub fn positionOf(r: *Run, set: u32) Error!Position {
        var all: ArrayList(graph.Configuration) = .empty;
        defer all.deinit(r.gpa);
        for (r.of(set)) |one| {
            const state = if (graph.isPlace(one.state)) first_place + try r.parts.?.numberOf(&r.frames, r.placeOf(one)) else one.state;
            try all.append(r.gpa, .{ .state = state, .node = r.stacks.items[one.stack].node });
        }
        std.sort.heap(graph.Configuration, all.items, {}, graph.Configuration.isBefore);
        return graph.positionOf(r.pool, r.gpa, all.items, r.clock);
    }

    // ---- Parts

    /// Where a configuration is in its document; null if it is in none. Its frames are in `frames`.
    pub fn placeIn(r: *const Run, one: Configuration) ?Place {
        return if (graph.isPlace(one.state)) r.placeOf(one) else null;
    }

    fn placeOf(r: *const Run, one: Configuration) Place {
        return r.places.items[one.state - first_place];
    }

    fn stateOf(r: *Run, place: Place) Error!u32 {
        const words = [_]u64{ place.part, place.at.state, @bitCast(place.at.stack) };
        const hash = std.hash.Wyhash.hash(0, std.mem.asBytes(&words)) >> 1;
        const known = r.by_place.get(hash);
        if (known) |i| if (std.meta.eql(r.places.items[i], place)) return first_place + i;
        const number: u32 = @intCast(r.places.items.len);
        try r.places.append(r.gpa, place);
        if (known == null) try r.by_place.put(r.gpa, hash, number);
        return first_place + number;
    }

    /// Whether a state is not the lexer's, but one in a document or a text.
    fn isApart(state: u32) bool {
        return graph.isPlace(state) or graph.isText(state);
    }

    /// Whether the document or text is whole.
    fn isWhole(r: *Run, one: Configuration) Error!bool {
        if (graph.isText(one.state)) return r.texts.canStop(one.state);
        const place = r.placeOf(one);
        return r.parts.?.list[place.part].schema.canStop(r.gpa, &r.frames, place.at);
    }

    /// Adds to `found` the document or text after a byte.
    fn goOn(r: *Run, one: Configuration, byte: u8) Error!void {
        if (graph.isText(one.state)) {
            if (r.texts.next(one.state, byte)) |next| try r.found.append(r.gpa, .{ .state = next, .stack = one.stack });
            return;
        }
        return r.follow(r.placeOf(one), byte, one.stack);
    }

    fn follow(r: *Run, place: Place, byte: u8, stack: u32) Error!void {
        const schema = &r.parts.?.list[place.part].schema;
        r.lendWatch();
        const after = schema.advance(r.gpa, &r.frames, place.at, &.{byte});
        r.takeWatch();
        const next = try after orelse return;
        try r.found.append(r.gpa, .{ .state = try r.stateOf(.{ .part = place.part, .at = next }), .stack = stack });
    }

    /// To what works in a document, which has the pool of its frames.
    pub fn lendWatch(r: *Run) void {
        r.frames.watch = r.pool.watch;
    }

    pub fn takeWatch(r: *Run) void {
        r.pool.watch = r.frames.watch;
    }

    /// Adds to `arrivals` where the terminal of a part or text leads.
    fn endPart(r: *Run, one: Configuration) Error!void {
        return r.addShifts(one.stack, r.terminalOf(one.state).?, unlimited);
    }

    /// That of a part or text.
    fn terminalOf(r: *const Run, state: u32) ?u16 {
        return if (graph.isText(state)) r.texts.terminalOf(state) else r.parts.?.list[r.places.items[state - first_place].part].terminal;
    }

    /// Adds to `found` what begins on a stack with a byte, which leads the lexer to `state`.
    fn beginOn(r: *Run, stack: u32, state: u16, byte: u8, limit: u32) Error!void {
        if (state != dfa.dead and r.mayBegin(stack, state, limit)) try r.found.append(r.gpa, .{ .state = state, .stack = stack });
        try r.beginApart(stack, byte, limit);
        for (try r.stacksAround(stack)) |one| {
            // What is ignored begins before the rule does.
            const is_viable = program_module.intersects(r.viableOf(one), r.program.reachSet(r.program.lexer.reaches[state]));
            if (is_viable and r.mayBegin(one, state, limit)) try r.found.append(r.gpa, .{ .state = state, .stack = one });
            try r.beginApart(one, byte, limit);
        }
    }

    /// Documents and texts.
    fn beginApart(r: *Run, stack: u32, byte: u8, limit: u32) Error!void {
        try r.beginPartsOn(stack, byte, limit);
        if (r.texts.beginsWith(byte)) for (r.texts.list, 0..) |text, number| {
            if (!program_module.has(r.viableOf(stack), text.terminal)) continue;
            if (limit != unlimited and !program_module.has(r.inseparable.items[limit * r.program.width ..], text.terminal)) continue;
            if (r.texts.begin(number, byte)) |begun| try r.found.append(r.gpa, .{ .state = begun, .stack = stack });
        };
    }

    fn beginPartsOn(r: *Run, stack: u32, byte: u8, limit: u32) Error!void {
        const parts = r.parts orelse return;
        if (!parts.firsts.isSet(byte)) return;
        for (parts.list, 0..) |*part, number| {
            if (!part.firsts.isSet(byte) or !part.isAmong(r.viableOf(stack))) continue;
            if (r.current == r.before and r.begun.isSet(number)) continue;
            if (limit != unlimited and !part.isAmong(r.inseparable.items[limit * r.program.width ..])) continue;
            try r.follow(.{ .part = @intCast(number), .at = part.initial() }, byte, stack);
        }
    }

    /// The set of the parts that begin next, at their first byte, as far as that does not depend on which byte it is. They
    /// do not begin again from `before`, a set with the configurations of `set`.
    pub fn beginParts(r: *Run, set: u32) Error!u32 {
        const parts = r.parts.?;
        const range = r.sets.items[set];
        r.before = @intCast(r.sets.items.len);
        try r.sets.append(r.gpa, range);
        r.begun = .empty;
        for (parts.list, 0..) |*part, number| {
            for (range.from..range.to) |i| {
                if (r.goesOnInto(r.configurations.items[i], part) == .some) break;
            } else r.begun.set(number);
        }
        var all: ArrayList(Configuration) = .empty;
        defer all.deinit(r.gpa);
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            r.found.clearRetainingCapacity();
            if (one.state == nothing_pending) try r.found.append(r.gpa, one) else {
                r.arrivals.clearRetainingCapacity();
                if (!graph.isText(one.state)) {
                    try r.end(one, r.endsLazily(one), unlimited);
                } else if (r.texts.canStop(one.state)) try r.endPart(one);
                try r.land(nothing_pending, null);
            }
            for (r.found.items) |landed| for (parts.list, 0..) |*part, number| {
                if (!r.begun.isSet(number)) continue;
                const around = try r.stacksAround(landed.stack);
                for (0..1 + around.len) |n| {
                    const stack = if (n == 0) landed.stack else around[n - 1];
                    if (!part.isAmong(r.viableOf(stack)) or !try r.mayEndBefore(one, landed.stack, part)) continue;
                    const state = try r.stateOf(.{ .part = @intCast(number), .at = part.initial() });
                    try all.append(r.gpa, .{ .state = state, .stack = stack });
                }
            };
        }
        r.found.clearRetainingCapacity();
        try r.found.appendSlice(r.gpa, all.items);
        try r.join();
        return r.internFound();
    }

    const Share = enum { none, some, all };

    /// Of how many of a part's first bytes the lexeme continues with.
    fn goesOnInto(r: *const Run, one: Configuration, part: *const parts_module.Part) Share {
        // Nothing that can follow a text continues with it.
        if (one.state == nothing_pending or graph.isText(one.state) or r.endsLazily(one)) return .none;
        var n: usize = 0;
        var firsts = part.firsts.iterator(.{});
        while (firsts.next()) |byte| {
            const next = r.program.lexer.next(r.limits.lexerState(one.state), @intCast(byte));
            n += @intFromBool(next != dfa.dead and r.goesOn(one, next));
        }
        if (n == 0) return .none;
        return if (n == part.firsts.count()) .all else .some;
    }

    /// Whether the lexeme, which leads to the stack if it ends, can end before the part.
    fn mayEndBefore(r: *Run, one: Configuration, stack: u32, part: *const parts_module.Part) Error!bool {
        if (r.lexing == .any or r.goesOnInto(one, part) == .none) return true;
        if (r.lexing == .longest) return false;
        const limit = try r.inseparableFrom(one) orelse return false;
        return !try r.isSeparated(stack, limit) and part.isAmong(r.inseparable.items[limit * r.program.width ..]);
    }

    /// Adds to the set the parts that the lexeme continues with whatever they begin with.
    fn addInseparableParts(r: *const Run, one: Configuration, set: []u64) void {
        const parts = r.parts orelse return;
        for (parts.list) |*part| {
            const terminal = part.terminal orelse continue;
            if (r.goesOnInto(one, part) == .all) program_module.add(set, terminal);
        }
    }

    // ---- Lexemes

    fn canReach(r: *const Run, stack: u32, state: u16) bool {
        const reach = r.program.lexer.reaches[state];
        const set = r.program.reachSet(reach);
        if (r.program.reaches_skip[reach] and program_module.intersects(r.skipsOf(stack), set)) return true;
        return program_module.intersects(r.viableOf(stack), set);
    }

    /// Whether a lexeme continues where the lexer goes.
    inline fn goesOn(r: *const Run, one: Configuration, next: u16) bool {
        if (graph.isCounted(one.state)) return r.goesOnCounted(one, next);
        const reaches = r.program.lexer.reaches;
        return reaches[next] == reaches[one.state] or r.canReach(one.stack, next);
    }

    // ---- Counted lexemes

    noinline fn goesOnCounted(r: *const Run, one: Configuration, next: u16) bool {
        const reach = r.program.reachSet(r.program.lexer.reaches[next]);
        if (program_module.intersects(r.skipsOf(one.stack), reach)) return true;
        const behind = r.limits.countOf(r.stateBehind(one, next));
        for (reach, r.viableOf(one.stack), 0..) |reached, can_come, w| {
            var set = reached & can_come;
            while (set != 0) : (set &= set - 1) {
                if (!r.limits.isOver(@intCast(64 * w + @ctz(set)), behind)) return true;
            }
        }
        return false;
    }

    /// After a byte that leads the lexer to `next`. If the lexeme matches what is spent, that is over.
    inline fn stateBehind(r: *const Run, one: Configuration, next: u16) u32 {
        if (!graph.isCounted(one.state)) return next;
        const count = r.limits.countOf(one.state);
        for (r.program.lexer.matchList(r.limits.lexerState(one.state))) |terminal| {
            if (r.isOver(one, terminal) or !r.limits.isSpent(terminal, count)) continue;
            if (program_module.has(r.viableOf(one.stack), terminal)) return r.limits.counted(next, r.limits.ended(count));
        }
        return r.limits.counted(next, count);
    }

    inline fn isOver(r: *const Run, one: Configuration, terminal: u16) bool {
        return graph.isCounted(one.state) and r.limits.isOver(terminal, r.limits.countOf(one.state));
    }

    /// The set after a token.
    pub fn endToken(r: *Run, set: u32) Error!u32 {
        r.clock +%= 1;
        r.found.clearRetainingCapacity();
        const range = r.sets.items[set];
        for (range.from..range.to) |i| {
            const one = r.configurations.items[i];
            const is_counted = r.limits.of.len > 0 and r.mayBeLimited(one);
            const state = r.limits.lexerState(one.state);
            const count = if (graph.isCounted(one.state)) r.limits.next(r.limits.countOf(one.state)) else r.limits.first();
            const behind = if (isApart(one.state)) one.state else if (is_counted) r.limits.counted(state, count) else state;
            try r.found.append(r.gpa, .{ .state = behind, .stack = one.stack });
        }
        if (r.limits.rules.len > 0) try r.cutRules();
        try r.join();
        return r.internFound();
    }

    /// Whether what may follow depends on where tokens end.
    pub fn isLimited(r: *Run, set: u32) Error!bool {
        for (r.of(set)) |one| {
            if (r.limits.of.len > 0 and r.mayBeLimited(one)) return true;
            if (r.limits.rules.len > 0 and try r.reachTimes(r.stacks.items[one.stack].node)) return true;
        }
        return false;
    }

    /// Whether a lexeme has begun that may be of a terminal with a limit.
    fn mayBeLimited(r: *const Run, one: Configuration) bool {
        if (one.state == nothing_pending or isApart(one.state)) return false;
        const reach = r.program.reachSet(r.program.lexer.reaches[r.limits.lexerState(one.state)]);
        for (reach, r.viableOf(one.stack), r.limits.limited) |a, b, c| if (a & b & c != 0) return true;
        return false;
    }

    // ---- Rules of so many tokens

    /// The stacks that lead from a stack into rules, and out of them, without a byte. Lent until the next call.
    inline fn stacksAround(r: *Run, stack: u32) Error![]const u32 {
        return if (r.limits.rules.len == 0) &.{} else r.findAround(stack);
    }

    noinline fn findAround(r: *Run, stack: u32) Error![]const u32 {
        if (r.of_around.get(stack)) |known| {
            const range = r.ranges_around.items[known];
            return r.around.items[range.from..range.to];
        }
        const from = r.around.items.len;
        try r.addAround(stack, from);
        var i = from;
        while (i < r.around.items.len) : (i += 1) try r.addAround(r.around.items[i], from);
        try r.of_around.put(r.gpa, stack, @intCast(r.ranges_around.items.len));
        try r.ranges_around.append(r.gpa, .{ .from = @intCast(from), .to = @intCast(r.around.items.len) });
        return r.around.items[from..];
    }

    /// Adds to `around` those that one step leads to, but for those there from an index on.
    fn addAround(r: *Run, stack: u32, from: usize) Error!void {
        r.nodes.clearRetainingCapacity();
        for (r.limits.rules) |rule| {
            const groups = r.stacks.items[stack].groups;
            try r.pool.watch.steps(1);
            for (r.groups.items[groups.from..groups.to]) |group| {
                if (program_module.has(r.shiftsOfGroup(group), rule.begin)) {
                    const over = r.clock +% @as(limits_module.Time, @intCast(rule.tokens));
                    const state = graph.timed(r.program.transition(group.state, rule.begin), over);
                    try r.nodes.append(r.gpa, try r.nodeOf(state, &.{.{ .node = group.node, .level = group.level }}));
                }
                if (program_module.has(r.shiftsOfGroup(group), rule.end)) try r.addEnds(group, rule.end);
            }
        }
        for (r.nodes.items) |node| {
            const next = try r.stackOf(node);
            if (std.mem.findScalar(u32, r.around.items[from..], next) == null) try r.around.append(r.gpa, next);
            if (r.around.items.len - from > configurations_max) return error.TooLarge;
        }
    }

    /// Adds to `nodes` where the end of a rule leads, which is reduced at once.
    fn addEnds(r: *Run, group: Group, terminal: u16) Error!void {
        const reduction = r.program.reductions[r.program.reduction_offsets[r.program.transition(group.state, terminal)]];
        try r.descend(.{ .node = group.node, .level = group.level }, reduction.length - 1);
        for (r.frontier.items) |below| {
            r.looked = @max(r.looked, below.level);
            const state = r.program.transition(graph.stateOf(r.pool, below.node), reduction.symbol);
            try r.nodes.append(r.gpa, try r.nodeOf(state, &.{below}));
        }
    }

    /// Ends in `found` the rules whose tokens are over, wherever they are.
    fn cutRules(r: *Run) Error!void {
        const all = try r.gpa.dupe(Configuration, r.found.items);
        defer r.gpa.free(all);
        r.found.clearRetainingCapacity();
        for (all) |one| {
            if (try r.reachTimes(r.stacks.items[one.stack].node)) try r.cut(one) else try r.found.append(r.gpa, one);
        }
    }

    /// Behind `reachTimes`. Below what is pending there may be paths on which it cannot be.
    fn cut(r: *Run, one: Configuration) Error!void {
        const top = r.stacks.items[one.stack].node;
        try r.countSorted(r.nodes.items.len);
        std.sort.heap(u32, r.nodes.items, {}, std.sort.asc(u32)); // what is below a node is before it
        r.spent.clearRetainingCapacity();
        r.kept.clear();
        try r.kept.put(r.gpa, graph.root, graph.root);
        for (r.nodes.items) |node| {
            const kept = try r.keptOf(node) orelse continue;
            if (graph.timeOf(graph.cellStateOf(r.pool, node)) != r.clock) {
                try r.kept.put(r.gpa, node, kept);
            } else try r.spent.append(r.gpa, .{ .node = node, .kept = kept });
        }
        if (r.kept.get(top)) |kept| {
            const stack = try r.stackOf(kept);
            if (r.canBe(one.state, stack)) try r.found.append(r.gpa, .{ .state = one.state, .stack = stack });
        }
        for (r.spent.items) |spent| {
            r.kept.clear();
            try r.kept.put(r.gpa, spent.node, spent.kept);
            for (r.nodes.items) |node| if (node > spent.node) {
                if (try r.keptOf(node)) |kept| try r.kept.put(r.gpa, node, kept);
            };
            const within = try r.stackOf(r.kept.get(top).?);
            if (!r.canBe(one.state, within)) continue;
            const symbol = r.limits.begun[graph.stateOf(r.pool, spent.node)];
            var link = spent.kept;
            while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
                const below = r.pool.nodes.items[link].depth;
                const state = r.program.transition(graph.stateOf(r.pool, below), symbol);
                const stack = try r.stackOf(try r.nodeOf(state, &.{.{ .node = below, .level = 0 }}));
                try r.found.append(r.gpa, .{ .state = r.stateBehindRule(one.state, within), .stack = stack });
            }
        }
    }

    /// A node with those links alone that lead to what is in `kept`, and to that in its place; null if there are none.
    fn keptOf(r: *Run, node: u32) Error!?u32 {
        r.frontier.clearRetainingCapacity();
        try r.pool.watch.steps(steps_of_pair);
        var is_same = true;
        var link = node;
        while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
            const below = r.pool.nodes.items[link].depth;
            const kept = r.kept.get(below);
            is_same = is_same and kept == below;
            if (kept) |one| try r.frontier.append(r.gpa, .{ .node = one, .level = 0 });
        }
        if (is_same) return node;
        if (r.frontier.items.len == 0) return null;
        unique(&r.frontier);
        return try r.nodeOf(graph.cellStateOf(r.pool, node), r.frontier.items);
    }

    fn canBe(r: *const Run, state: u32, stack: u32) bool {
        if (state == nothing_pending) return true;
        if (isApart(state)) return program_module.has(r.viableOf(stack), r.terminalOf(state) orelse return false);
        return r.canReach(stack, r.limits.lexerState(state));
    }

    /// A lexeme that is the rule's is gone with it; what is being skipped continues.
    fn stateBehindRule(r: *const Run, state: u32, within: u32) u32 {
        if (state == nothing_pending or isApart(state)) return nothing_pending;
        const lexer_state = r.limits.lexerState(state);
        const reach = r.program.reachSet(r.program.lexer.reaches[lexer_state]);
        return if (program_module.intersects(r.viableOf(within), reach)) nothing_pending else lexer_state;
    }

    /// Whether a rule with a limit has begun on a path from the node. Leaves in `nodes` all that is below it, and itself.
    fn reachTimes(r: *Run, node: u32) Error!bool {
        r.nodes.clearRetainingCapacity();
        r.kept.clear();
        if (node == graph.root) return false;
        try r.nodes.append(r.gpa, node);
        var is_timed = false;
        var i: usize = 0;
        while (i < r.nodes.items.len) : (i += 1) {
            const one = r.nodes.items[i];
            is_timed = is_timed or graph.timeOf(graph.cellStateOf(r.pool, one)) != null;
            var link = one;
            while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
                try r.pool.watch.steps(1);
                const below = r.pool.nodes.items[link].depth;
                if (below == graph.root or r.kept.get(below) != null) continue;
                try r.kept.put(r.gpa, below, below);
                try r.nodes.append(r.gpa, below);
            }
        }
        return is_timed;
    }

    /// Nothing is ignored between where a rule with a limit begins and its first lexeme.
    fn skipsOf(r: *const Run, stack: u32) []const u64 {
        const node = r.stacks.items[stack].node;
        if (node == graph.root) return r.program.first_skip;
        return if (r.limits.rules.len > 0 and r.isTimed(node)) nothing_skipped[0..r.program.width] else r.program.skip;
    }

    const nothing_skipped: Terminals = @splat(0);

    fn isTimed(r: *const Run, node: u32) bool {
        return graph.timeOf(graph.cellStateOf(r.pool, node)) != null;
    }

    /// Whether a lazy terminal that the parser can take matches: then the lexeme is that, and does not continue.
    fn endsLazily(r: *const Run, one: Configuration) bool {
        if (r.lexing == .longest) return false;
        for (r.program.lexer.matchList(r.limits.lexerState(one.state))) |terminal| {
            if (r.isOver(one, terminal)) continue;
            if (program_module.has(r.program.lazy, terminal) and program_module.has(r.viableOf(one.stack), terminal)) return true;
        }
        return false;
    }

    fn shiftsOf(r: *const Run, state: u16) []const u64 {
        return r.program.shift_sets[state * r.program.width ..][0..r.program.width];
    }

    inline fn shiftsOfGroup(r: *const Run, group: Group) []const u64 {
        return if (group.shifts == all_shifts) r.shiftsOf(group.state) else r.someShifts(group.shifts);
    }

    fn someShifts(r: *const Run, i: usize) []u64 {
        return r.some_shifts.items[i * r.program.width ..][0..r.program.width];
    }

    fn viableOf(r: *const Run, stack: u32) []const u64 {
        return r.viable.items[stack * r.program.width ..][0..r.program.width];
    }

    /// Adds to `arrivals` where the terminals lead that may end here. After a skipped one the stack stays. `is_over`: it
    /// `endsLazily`.
    fn end(r: *Run, one: Configuration, is_over: bool, limit: u32) Error!void {
        for (r.program.lexer.matchList(r.limits.lexerState(one.state))) |terminal| {
            if (is_over and !program_module.has(r.program.lazy, terminal) or r.isOver(one, terminal)) continue;
            if (program_module.has(r.skipsOf(one.stack), terminal)) {
                try r.arrivals.append(r.gpa, .{ .state = skipped, .below = one.stack, .level = 0, .limit = limit });
                if (r.lexing == .longest) return;
                continue;
            }
            if (!program_module.has(r.viableOf(one.stack), terminal)) continue;
            try r.addShifts(one.stack, terminal, limit);
            if (r.lexing == .longest) return;
        }
    }

    /// Adds to `arrivals` where a terminal leads.
    fn addShifts(r: *Run, stack: u32, terminal: u16, limit: u32) Error!void {
        const groups = r.stacks.items[stack].groups;
        for (groups.from..groups.to) |g| {
            const group = r.groups.items[g];
            if (!program_module.has(r.shiftsOfGroup(group), terminal)) continue;
            try r.arrivals.append(r.gpa, .{
                .state = r.program.transition(group.state, terminal),
                .below = group.node,
                .level = group.level,
                .limit = limit,
            });
        }
    }

    /// The terminals that may begin although the pending lexeme can continue, since nothing could separate them from it: it
    /// continues with each byte that they can begin with. Null if there are none, or something skipped can come in between,
    /// whatever the lexeme is; otherwise `isSeparated` tells.
    fn inseparableFrom(r: *Run, one: Configuration) Error!?u32 {
        const state = r.limits.lexerState(one.state);
        const key = @as(u64, one.stack) << 32 | one.state;
        if (r.of_pending.get(key)) |known| return if (known == unlimited) null else known;
        const lexer = &r.program.lexer;
        const width = r.program.width;
        const number: u32 = @intCast(r.inseparable.items.len / width);
        try r.pool.watch.steps(lexer.nClasses() / 2);
        try r.inseparable.appendNTimes(r.gpa, std.math.maxInt(u64), width);
        const set = r.inseparable.items[number * width ..][0..width];
        for (0..lexer.nClasses()) |class| {
            const column = lexer.column(class);
            const restarted = column[dfa.start];
            const next = column[state];
            if (restarted == dfa.dead or next != dfa.dead and r.goesOn(one, next)) continue;
            for (set, lexer.reachSet(restarted)) |*word, separable| word.* &= ~separable;
        }
        r.addInseparableParts(one, set);
        const following = r.program.followsSet(lexer.matches[state]);
        const is_separated = !r.canBegin(set, following) or if (r.seesSeparators())
            try r.isSeparatedWherever(one, number)
        else
            r.isSeparatedFromAll(set, following);
        try r.of_pending.put(r.gpa, key, if (is_separated) unlimited else number);
        return if (is_separated) null else number;
    }

    /// Whether of those in a set a terminal is among others. Separators do not count.
    fn canBegin(r: *const Run, set: []const u64, among: []const u64) bool {
        for (set, among, r.program.separators, 0..) |in_set, there, separator, i| {
            if (in_set & there & ~separator & r.program.terminalsOf(i) != 0) return true;
        }
        return false;
    }

    /// Whether separators are terminals to the parser. Then nothing is ignored.
    fn seesSeparators(r: *const Run) bool {
        return !program_module.intersects(r.program.skip, r.program.separators) and program_module.count(r.program.separators) > 0;
    }

    /// Whether a separator that is not in a set can come, and after it or at once each terminal of another.
    fn isSeparatedFromAll(r: *const Run, set: []const u64, following: []const u64) bool {
        const p = r.program;
        var buffer: Terminals = undefined;
        const behind = r.behindSeparators(set, p.separators, &buffer) orelse return false;
        for (set, following, p.separators, behind, 0..) |in_set, word, separator, parted, i| {
            if (word & in_set & p.terminalsOf(i) & ~separator & ~parted != 0) return false;
        }
        return true;
    }

    /// Whether a separator that is not in the set of `limit` can come on a stack, and after it or at once a terminal, or the
    /// end.
    fn isSeparated(r: *Run, stack: u32, limit: u32) Error!bool {
        if (limit == unlimited) return false;
        if (r.seesSeparators()) return r.isSeparatedBySeen(stack, limit);
        const p = r.program;
        const set = r.inseparable.items[limit * p.width ..][0..p.width];
        var there: Terminals = undefined;
        for (there[0..p.width], r.viableOf(stack), r.skipsOf(stack)) |*to, viable, skips| to.* = viable | skips;
        for (try r.stacksAround(stack)) |one| program_module.unite(there[0..p.width], r.viableOf(one));
        for (r.limits.rules) |rule| for ([_]u16{ rule.begin, rule.end }) |mark| program_module.remove(&there, mark);
        var buffer: Terminals = undefined;
        const behind = r.behindSeparators(set, there[0..p.width], &buffer) orelse return false;
        for (there[0..p.width], set, p.separators, behind, 0..) |word, in_set, separator, parted, i| {
            if (word & ~separator & (parted | ~(in_set & p.terminalsOf(i))) != 0) return true;
        }
        return false;
    }

    /// Whether the parser can take such a separator, and after that a terminal, or the end.
    fn isSeparatedBySeen(r: *Run, stack: u32, limit: u32) Error!bool {
        const p = r.program;
        var row: usize = 0;
        for (0..p.n_terminals) |terminal| if (program_module.has(p.separators, terminal)) {
            const parted = p.parted[row * p.width ..][0..p.width];
            row += 1;
            if (program_module.has(r.inseparable.items[limit * p.width ..], terminal)) continue;
            const groups = r.stacks.items[stack].groups;
            for (groups.from..groups.to) |group| {
                const viable = r.viableOf(try r.stackBehind(group, @intCast(terminal)) orelse continue);
                if (program_module.has(viable, p.endOfInput())) return true;
                for (viable, parted, p.separators) |word, there, separator| if (word & there & ~separator != 0) return true;
            }
        };
        return false;
    }

    /// Whether that is so wherever a lexeme leads.
    fn isSeparatedWherever(r: *Run, one: Configuration, limit: u32) Error!bool {
        for (r.program.lexer.matchList(r.limits.lexerState(one.state))) |terminal| {
            const groups = r.stacks.items[one.stack].groups;
            for (groups.from..groups.to) |group| {
                if (!try r.isSeparatedBySeen(try r.stackBehind(group, terminal) orelse continue, limit)) return false;
            }
        }
        return true;
    }

    /// The stack that a terminal leads to from a group; null if it shifts none such.
    fn stackBehind(r: *Run, number: usize, terminal: u16) Error!?u32 {
        const group = r.groups.items[number];
        if (!program_module.has(r.shiftsOfGroup(group), terminal)) return null;
        return try r.stackOf(try r.nodeOf(r.program.transition(group.state, terminal), &.{.{ .node = group.node, .level = group.level }}));
    }

    const Terminals = [program_module.width_max]u64;

    /// The terminals that can come behind separators that are among others, and not in a set. Null if there are none of these.
    fn behindSeparators(r: *const Run, set: []const u64, among: []const u64, buffer: *Terminals) ?[]const u64 {
        const p = r.program;
        const behind = buffer[0..p.width];
        @memset(behind, 0);
        var row: usize = 0;
        var is_any = false;
        for (p.separators, set, among) |word, in_set, there| {
            var left = word;
            while (left != 0) : (left &= left - 1) {
                if (left & -%left & there & ~in_set != 0) {
                    is_any = true;
                    program_module.unite(behind, p.parted[row * p.width ..][0..p.width]);
                }
                row += 1;
            }
        }
        return if (is_any) behind else null;
    }

    fn mayBegin(r: *const Run, stack: u32, state: u16, limit: u32) bool {
        if (limit == unlimited) return r.canReach(stack, state);
        const width = r.program.width;
        const set = r.inseparable.items[limit * width ..][0..width];
        for (set, r.viableOf(stack), r.program.separators, r.program.lexer.reachSet(state)) |a, b, separator, c| {
            if (a & b & ~separator & c != 0) return true;
        }
        return false;
    }

    /// Adds to `found` the configurations of `arrivals` where what begins with a byte, which leads the lexer to `state`;
    /// or nothing yet.
    fn land(r: *Run, state: u16, byte: ?u8) Error!void {
        const all = r.arrivals.items;
        try r.countSorted(all.len);
        if (all.len > 1) std.sort.heap(Arrival, all, {}, arrivesBefore);
        var i: usize = 0;
        while (i < all.len) {
            const from = i;
            r.frontier.clearRetainingCapacity();
            if (all[i].state == skipped) {
                i += 1;
                try r.landOn(all[from].below, state, byte, all[from].limit);
                continue;
            }
            while (i < all.len and all[i].state == all[from].state and all[i].limit == all[from].limit) : (i += 1) {
                if (i > from and all[i].below == all[i - 1].below) continue;
                try r.frontier.append(r.gpa, .{ .node = all[i].below, .level = all[i].level });
            }
            const node = try r.nodeOf(all[from].state, r.frontier.items);
            try r.landOn(try r.stackOf(node), state, byte, all[from].limit);
        }
    }

    fn landOn(r: *Run, stack: u32, state: u16, byte: ?u8, limit: u32) Error!void {
        if (try r.isSeparated(stack, limit)) return;
        if (byte) |first| return r.beginOn(stack, state, first, limit);
        try r.found.append(r.gpa, .{ .state = nothing_pending, .stack = stack });
    }

    fn arrivesBefore(_: void, a: Arrival, b: Arrival) bool {
        if (a.state != b.state) return a.state < b.state;
        return if (a.limit != b.limit) a.limit < b.limit else a.below < b.below;
    }

    /// Makes one configuration of those in `found` that differ only in what is below the parser's state.
    fn join(r: *Run) Error!void {
        if (r.found.items.len < 2) return;
        try r.countSorted(r.found.items.len);
        std.sort.heap(Configuration, r.found.items, r, joinsBefore);
        var kept: usize = 0;
        var i: usize = 0;
        while (i < r.found.items.len) {
            const one = r.found.items[i];
            const from = i;
            while (i < r.found.items.len and r.joinable(one, r.found.items[i])) i += 1;
            var stack = one.stack;
            if (r.found.items[i - 1].stack != stack) stack = try r.allLinksOf(r.found.items[from..i]);
            r.found.items[kept] = .{ .state = one.state, .stack = stack };
            kept += 1;
        }
        r.found.shrinkRetainingCapacity(kept);
    }

    fn joinable(r: *Run, a: Configuration, b: Configuration) bool {
        if (a.state != b.state or r.topOf(a.stack) != r.topOf(b.stack)) return false;
        return r.any_order.isEmpty() or r.seenOn(a.stack).eql(r.seenOn(b.stack));
    }

    fn topOf(r: *const Run, stack: u32) u32 {
        return graph.cellStateOf(r.pool, r.stacks.items[stack].node);
    }

    fn joinsBefore(r: *Run, a: Configuration, b: Configuration) bool {
        if (a.state != b.state) return a.state < b.state;
        if (r.topOf(a.stack) != r.topOf(b.stack)) return r.topOf(a.stack) < r.topOf(b.stack);
        if (!r.any_order.isEmpty()) switch (std.math.order(r.seenOn(a.stack).mask, r.seenOn(b.stack).mask)) {
            .lt => return true,
            .gt => return false,
            .eq => {},
        };
        return a.stack < b.stack;
    }

    /// The stack of all links of some stacks with one state on top.
    fn allLinksOf(r: *Run, all: []const Configuration) Error!u32 {
        r.frontier.clearRetainingCapacity();
        for (all) |one| {
            const node = r.stacks.items[one.stack].node;
            var link = node;
            while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
                const below = r.pool.nodes.items[link].depth;
                try r.frontier.append(r.gpa, .{ .node = below, .level = r.levelBelow(below, r.levelOfFound(node)) });
            }
        }
        try r.countSorted(r.frontier.items.len);
        unique(&r.frontier);
        const node = try r.nodeOf(r.topOf(all[0].stack), r.frontier.items);
        return r.stackOf(node);
    }

    fn internFound(r: *Run) Error!u32 {
        const all = r.found.items;
        if (all.len == 0) return empty;
        if (all.len > configurations_max) return error.TooLarge;
        var hash: u64 = 0;
        for (all) |one| hash = mixed(hash, @as(u64, one.state) << 32 | one.stack);
        const known = r.by_content.get(hash);
        if (known) |set| if (r.of(set).len == all.len) {
            for (r.of(set), all) |a, b| {
                if (a.state != b.state or a.stack != b.stack) break;
            } else return set;
        };
        if (r.sets.items.len == sets_max or r.configurations.items.len > kept_max) return error.TooLarge;
        const set: u32 = @intCast(r.sets.items.len);
        const from: u32 = @intCast(r.configurations.items.len);
        try r.configurations.appendSlice(r.gpa, all);
        try r.sets.append(r.gpa, .{ .from = from, .to = @intCast(r.configurations.items.len) });
        if (known == null) try r.by_content.put(r.gpa, hash, set);
        return set;
    }

    /// Tells the watch that so many are sorted.
    inline fn countSorted(r: *Run, n: usize) error{TooLarge}!void {
        try r.pool.watch.steps(@intCast(steps_of_sorted * n));
    }

    // ---- Nodes

    /// A node with these links, ascending and different; the one that is there already, if the run knows it.
    fn nodeOf(r: *Run, state: u32, links: []const Below) Error!u32 {
        var hash = mixed(0, state);
        for (links) |link| hash = mixed(hash, link.node);
        const known = r.by_links.get(hash);
        if (known) |node| if (r.hasLinks(node, state, links)) return node;
        if (r.levels.items.len > kept_max) return error.TooLarge;
        try r.pool.watch.steps(@intCast(links.len));
        var node: u32 = graph.last;
        var level: i32 = std.math.minInt(i32);
        var i = links.len;
        while (i > 0) {
            i -= 1;
            level = @max(level, links[i].level - 1);
            node = try graph.addLink(r.pool, r.gpa, state, links[i].node, node);
            try r.levels.append(r.gpa, level);
        }
        if (known == null) try r.by_links.put(r.gpa, hash, node);
        return node;
    }

    fn hasLinks(r: *const Run, node: u32, state: u32, links: []const Below) bool {
        var link = node;
        for (links) |one| {
            if (link == graph.last) return false;
            const cell = r.pool.nodes.items[link];
            if (cell.state != state or cell.depth != one.node) return false;
            link = cell.parent;
        }
        return link == graph.last;
    }

    /// So that a node of the position, or below one, is found again by its links.
    fn remember(r: *Run, one: Below) Error!void {
        const node = one.node;
        if (node == graph.root or node >= r.first_cell or r.remembered.get(node) != null) return;
        try r.remembered.put(r.gpa, node, @intCast(one.level));
        var hash = mixed(0, graph.cellStateOf(r.pool, node));
        var link = node;
        while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
            hash = mixed(hash, r.pool.nodes.items[link].depth);
        }
        if (r.by_links.get(hash) == null) try r.by_links.put(r.gpa, hash, node);
    }

    /// Of a node that was reached at `level`, unless it is the run's own.
    fn levelOf(r: *const Run, node: u32, level: i32) i32 {
        return if (node == graph.root or node < r.first_cell) level else r.levels.items[node - r.first_cell];
    }

    /// Of a node that `nodeOf` gave, or the position's.
    fn levelOfFound(r: *const Run, node: u32) i32 {
        return r.levelOf(node, @intCast(r.remembered.get(node) orelse 0));
    }

    fn levelBelow(r: *const Run, below: u32, level: i32) i32 {
        return r.levelOf(below, level + 1);
    }

    // ---- Reductions

    /// The stack of a node that `nodeOf` gave, or the position's, with all that reductions lead to.
    fn stackOf(r: *Run, node: u32) Error!u32 {
        if (r.of_nodes.get(node)) |known| return known;
        const program = r.program;
        const top = graph.stateOf(r.pool, node);
        r.pairs.clearRetainingCapacity();
        r.pair_sets.clearRetainingCapacity();
        r.waiting.clearRetainingCapacity();
        r.of_pairs.clear();
        const at = r.levelOfFound(node);
        for (program.reduction_offsets[top]..program.reduction_offsets[top + 1]) |reduction| {
            if (!r.hasNeeded(top, r.belowOf(.{ .node = node, .level = at }), reduction)) continue;
            try r.reduce(.{ .node = node, .level = at }, reduction, program.reductions[reduction].length, null);
        }
        while (r.waiting.pop()) |i| {
            r.pairs.items[i].is_waiting = false;
            const pair = r.pairs.items[i];
            const below: Below = .{ .node = pair.below, .level = r.levelBelow(pair.below, pair.level) };
            for (program.reduction_offsets[pair.state]..program.reduction_offsets[pair.state + 1]) |reduction| {
                if (!program_module.intersects(r.pairSet(i), r.lookaheads(reduction))) continue;
                if (!r.hasNeeded(pair.state, below, reduction)) continue;
                try r.reduce(below, reduction, program.reductions[reduction].length - 1, i);
            }
        }
        return r.addStack(node, top, at);
    }

    fn lookaheads(r: *const Run, reduction: usize) []const u64 {
        return r.program.reduction_sets[reduction * r.program.width ..][0..r.program.width];
    }

    fn pairSet(r: *const Run, pair: usize) []u64 {
        return r.pair_sets.items[pair * r.program.width ..][0..r.program.width];
    }

    /// Follows all paths of `length` links down, and adds the pairs of what a reduction puts there. `by`: the pair that is
    /// reduced; null for a node.
    fn reduce(r: *Run, from: Below, reduction: usize, length: u16, by: ?usize) Error!void {
        try r.descend(from, length);
        try r.pool.watch.steps(@intCast(steps_of_pair * r.frontier.items.len));
        for (r.frontier.items) |one| {
            r.looked = @max(r.looked, one.level);
            const state = r.program.transition(graph.stateOf(r.pool, one.node), r.program.reductions[reduction].symbol);
            const pair = try r.pairOf(.{ .state = state, .below = one.node, .level = one.level - 1 });
            var grown: u64 = 0;
            for (r.pairSet(pair), r.lookaheads(reduction), 0..) |*to, lookahead, w| {
                const more = if (by) |reduced| lookahead & r.pairSet(reduced)[w] else lookahead;
                grown |= more & ~to.*;
                to.* |= more;
            }
            if (grown == 0 or r.pairs.items[pair].is_waiting) continue;
            r.pairs.items[pair].is_waiting = true;
            try r.waiting.append(r.gpa, @intCast(pair));
        }
    }

    /// Leaves in `frontier` what all paths of `length` links lead to.
    inline fn descend(r: *Run, from: Below, length: u16) Error!void {
        try r.pool.watch.steps(2);
        r.frontier.clearRetainingCapacity();
        try r.frontier.append(r.gpa, from);
        for (0..length) |i| {
            r.next_frontier.clearRetainingCapacity();
            r.stamp += 1;
            for (r.frontier.items) |one| {
                if (i + 1 == length) try r.remember(one);
                var link = one.node;
                while (link != graph.last) : (link = r.pool.nodes.items[link].parent) {
                    const below = r.pool.nodes.items[link].depth;
                    try r.addToFrontier(.{ .node = below, .level = r.levelBelow(below, one.level) });
                }
            }
            std.mem.swap(ArrayList(Below), &r.frontier, &r.next_frontier);
        }
    }

    /// To the next one, unless the node is there; then it has the lower of both levels.
    fn addToFrontier(r: *Run, one: Below) Error!void {
        r.work += 1;
        if (r.work > work_max) return error.TooLarge;
        try r.pool.watch.steps(1);
        const next = &r.next_frontier;
        const n: u32 = @intCast(next.items.len);
        if (n < listed_max) {
            for (next.items) |*known| if (known.node == one.node) {
                known.level = @max(known.level, one.level);
                return;
            };
            return next.append(r.gpa, one);
        }
        // The root is before all cells.
        const n_cells = r.pool.nodes.items.len + 1;
        if (r.marks.items.len < n_cells) try r.marks.appendNTimes(r.gpa, .{ .stamp = 0, .index = 0 }, n_cells - r.marks.items.len);
        if (n == listed_max) for (next.items, 0..) |known, i| {
            r.marks.items[known.node +% 1] = .{ .stamp = r.stamp, .index = @intCast(i) };
        };
        const mark = &r.marks.items[one.node +% 1];
        if (mark.stamp == r.stamp) {
            next.items[mark.index].level = @max(next.items[mark.index].level, one.level);
            return;
        }
        mark.* = .{ .stamp = r.stamp, .index = n };
        return next.append(r.gpa, one);
    }

    /// The pair with this state and node; if it is new, it waits, without lookaheads.
    fn pairOf(r: *Run, wanted: Pair) Error!usize {
        const n = r.pairs.items.len;
        const key = wanted.key();
        if (n < listed_max) {
            for (r.pairs.items, 0..) |known, i| if (known.key() == key) return i;
        } else {
            if (r.of_pairs.n == 0) for (r.pairs.items, 0..) |known, i| {
                try r.of_pairs.put(r.gpa, known.key(), @intCast(i));
            };
            if (r.of_pairs.get(key)) |known| return known;
            try r.of_pairs.put(r.gpa, key, @intCast(n));
        }
        try r.pairs.append(r.gpa, wanted);
        try r.pair_sets.appendNTimes(r.gpa, 0, r.program.width);
        try r.waiting.append(r.gpa, @intCast(n));
        return n;
    }

    /// Groups the pairs by their states, and by what is shifted on them.
    fn addStack(r: *Run, node: u32, top: u16, level: i32) Error!u32 {
        const width = r.program.width;
        const stack: u32 = @intCast(r.stacks.items.len);
        const from: u32 = @intCast(r.groups.items.len);
        const first_shifts = r.some_shifts.items.len / width;
        try r.viable.appendSlice(r.gpa, r.shiftsOf(top));
        const viable = r.viable.items[stack * width ..][0..width];
        const is_narrowed = r.removeSeen(top, r.belowOf(.{ .node = node, .level = level }), viable);
        if (program_module.intersects(viable, viable)) {
            const shifts = if (is_narrowed) try r.addSomeShifts(viable, viable, first_shifts) else all_shifts;
            try r.groups.append(r.gpa, .{ .state = top, .node = node, .level = level, .shifts = shifts });
        }
        var shifting: usize = 0;
        for (r.pairs.items, 0..) |pair, i| {
            const shifts = r.shiftsOf(pair.state);
            _ = r.removeSeen(pair.state, .{ .node = pair.below, .level = r.levelBelow(pair.below, pair.level) }, r.pairSet(i));
            var any: u64 = 0;
            var lost: u64 = 0;
            for (viable, shifts, r.pairSet(i)) |*to, shift, set| {
                any |= shift & set;
                lost |= shift & ~set;
                to.* |= shift & set;
            }
            if (any == 0) continue;
            r.pairs.items[shifting] = pair;
            if (lost != 0) r.pairs.items[shifting].shifts = try r.addSomeShifts(shifts, r.pairSet(i), first_shifts);
            shifting += 1;
        }
        try r.countSorted(r.pairs.items.len);
        std.sort.heap(Pair, r.pairs.items[0..shifting], {}, pairBefore);
        var i: usize = 0;
        while (i < shifting) {
            const state = r.pairs.items[i].state;
            const shifts = r.pairs.items[i].shifts;
            r.frontier.clearRetainingCapacity();
            while (i < shifting and r.pairs.items[i].state == state and r.pairs.items[i].shifts == shifts) : (i += 1) {
                const pair = r.pairs.items[i];
                try r.frontier.append(r.gpa, .{ .node = pair.below, .level = r.levelBelow(pair.below, pair.level) });
            }
            try r.countSorted(r.frontier.items.len);
            unique(&r.frontier);
            const joined = try r.nodeOf(state, r.frontier.items);
            try r.groups.append(r.gpa, .{ .state = state, .node = joined, .level = r.levelOfFound(joined), .shifts = shifts });
        }
        try r.stacks.append(r.gpa, .{ .node = node, .groups = .{ .from = from, .to = @intCast(r.groups.items.len) } });
        try r.of_nodes.put(r.gpa, node, stack);
        return stack;
    }

    /// The index of what is in both sets; those from `first` on are searched.
    noinline fn addSomeShifts(r: *Run, shifts: []const u64, lookaheads_left: []const u64, first: usize) Error!u32 {
        const width = r.program.width;
        const end_of_known = r.some_shifts.items.len / width;
        for (shifts, lookaheads_left) |shift, left| try r.some_shifts.append(r.gpa, shift & left);
        for (first..end_of_known) |known| {
            try r.pool.watch.steps(1);
            if (!std.mem.eql(u64, r.someShifts(known), r.someShifts(end_of_known))) continue;
            r.some_shifts.shrinkRetainingCapacity(end_of_known * width);
            return @intCast(known);
        }
        return @intCast(end_of_known);
    }

    // ---- Lists in any order

    /// The members of the list on top of a stack.
    fn seenOn(r: *Run, stack: u32) Seen {
        const node = r.stacks.items[stack].node;
        return r.seenIn(graph.stateOf(r.pool, node), r.belowOf(.{ .node = node, .level = r.levelOfFound(node) }), null);
    }

    /// Those with a state on a node on top. Adds what they begin with to a set. A node is one list's only if all of its links
    /// have the same members below, so one of these is followed.
    fn seenIn(r: *Run, state: u16, below: Below, firsts: ?[]u64) Seen {
        var seen: Seen = .empty;
        var top = state;
        var at = below;
        while (r.any_order.memberOf(top)) |member| {
            const number = r.any_order.numbers[member];
            if (number < AnyOrder.members_max) {
                seen.set(number);
                if (firsts) |to| program_module.unite(to, r.any_order.firstsOf(member, r.program.width));
            }
            r.looked = @max(r.looked, at.level);
            top = graph.stateOf(r.pool, at.node);
            at = r.belowOf(at);
        }
        return seen;
    }

    fn belowOf(r: *const Run, at: Below) Below {
        if (at.node == graph.root) return at;
        const below = r.pool.nodes.items[at.node].depth;
        return .{ .node = below, .level = r.levelBelow(below, at.level) };
    }

    /// Removes from what is shifted on a state what members begin with that were there. Returns whether there were any.
    fn removeSeen(r: *Run, state: u16, below: Below, shifts: []u64) bool {
        if (r.any_order.memberOf(state) == null) return false;
        var firsts: Terminals = @splat(0);
        _ = r.seenIn(state, below, firsts[0..r.program.width]);
        for (shifts, firsts[0..r.program.width]) |*to, first| to.* &= ~first;
        return true;
    }

    /// Whether a list, with a state on a node on top, has had what a reduction needs.
    fn hasNeeded(r: *Run, state: u16, below: Below, reduction: usize) bool {
        const needs = r.program.reductions[reduction].needs;
        return needs == 0 or r.any_order.has(needs, r.seenIn(state, below, null));
    }

    fn pairBefore(_: void, a: Pair, b: Pair) bool {
        if (a.state != b.state) return a.state < b.state;
        return if (a.shifts != b.shifts) a.shifts < b.shifts else a.below < b.below;
    }
};

/// The hash of a list, of which the last value is added; a key of a NumberMap.
inline fn mixed(hash: u64, value: u64) u64 {
    const product = (hash ^ value ^ 0x2545f4914f6cdd1d) *% 0x9e3779b97f4a7c15;
    return (product ^ product >> 32) >> 1;
}

/// A node that was reached, and its level.
const Below = struct { node: u32, level: i32 };

/// Sorts by node, and keeps of equal nodes the lowest.
fn unique(list: *ArrayList(Below)) void {
    if (list.items.len < 2) return;
    std.sort.heap(Below, list.items, {}, isBefore);
    var kept: usize = 1;
    for (list.items[1..]) |one| {
        if (one.node == list.items[kept - 1].node) continue;
        list.items[kept] = one;
        kept += 1;
    }
    list.shrinkRetainingCapacity(kept);
}

fn isBefore(_: void, a: Below, b: Below) bool {
    return if (a.node != b.node) a.node < b.node else a.level > b.level;
}
