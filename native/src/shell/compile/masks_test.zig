//! Masks of random grammars in random places: by tables, by walking the vocabulary, and by trying each token;
//! and what engine/recognizer/key.zig argues, that a mask depends on nothing that is not in its key.

const std = @import("std");
const Allocator = std.mem.Allocator;
const engine = @import("engine");
const Diagnostic = engine.diagnostic.Diagnostic;
const Vocabulary = engine.vocabulary.Vocabulary;
const Flags = engine.vocabulary.Flags;
const Recognizer = engine.recognizer.Recognizer;
const position = engine.position;
const Position = position.Position;
const Pool = position.Pool;
const Stack = position.Stack;
const Mask = engine.mask.Mask;
const RecognizerState = engine.recognizer_state.RecognizerState;
const key_max = engine.mask_cache.key_max;
const compile = @import("compile.zig");

const n_seeds = 600;
/// Positions of one grammar that are looked at.
const places_max = 40;
/// Of so many grammars one has more terminals than narrow sets hold.
const wide_every = 32;

test "a mask is what each token says, by tables, by walking, and found again by its key" {
    var counts: Counts = .{};
    for (0..n_seeds) |seed| {
        errdefer std.debug.print("seed {d}\n", .{seed});
        try checkSeed(seed, &counts);
    }
    // Or the grammars are too simple to tell anything.
    try std.testing.expect(counts.grammars > n_seeds / 4);
    try std.testing.expect(counts.wide > 0 and counts.based > 0);
    try std.testing.expect(counts.shared > 50 * counts.grammars);
    try std.testing.expect(counts.spliced > 20 * counts.grammars);
}

const Counts = struct {
    grammars: usize = 0,
    wide: usize = 0,
    /// Tables that have a base.
    based: usize = 0,
    /// Masks that were found by the key of another stack.
    shared: usize = 0,
    /// Stacks that were put together from two.
    spliced: usize = 0,
};

fn checkSeed(seed: u64, counts: *Counts) !void {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    var diag: Diagnostic = .{};
    const text = try randomGrammar(arena, random, seed % wide_every == 0);
    const vocabulary = try randomVocabulary(gpa, arena, random, &diag);
    defer vocabulary.release();
    const tabled = compile.compile(gpa, vocabulary, .{ .lark = .{ .text = text } }, .{}, &diag) catch |e| {
        if (diag.status != .grammar) return e;
        return; // a conflict, or a rule that can never end
    };
    defer tabled.release();
    errdefer std.debug.print("{s}\n", .{text});
    const walked = try compile.compile(gpa, vocabulary, .{ .lark = .{ .text = text } }, .{}, &diag);
    defer walked.release();
    walked.language.grammar.tables.is_full.store(true, .monotonic);
    var check: Check = .{ .arena = arena, .random = random, .tabled = tabled, .walked = walked, .counts = counts };
    try check.all();
    try std.testing.expectEqual(0, walked.language.grammar.tables.count());
    counts.grammars += 1;
    counts.wide += @intFromBool(tabled.language.grammar.program.width > engine.program.set_widths[0]);
    for (tabled.language.grammar.tables.continuations) |*slot| {
        if (tabled.language.grammar.tables.built(slot)) |table| counts.based += @intFromBool(table.base != 0);
    }
}

/// Where a text led, and what is legal there.
const Place = struct {
    at: Position,
    legal: []const bool,
    /// States of the stack that were looked at.
    n_read: u32,
};

const Check = struct {
    arena: Allocator,
    random: std.Random,
    tabled: *Recognizer,
    /// One without room for tables.
    walked: *Recognizer,
    pool: Pool = .{},
    places: std.ArrayList(Place) = .empty,
    counts: *Counts,

    fn all(c: *Check) !void {
        defer c.pool.nodes.deinit(std.testing.allocator);
        try c.visitTexts();
        // What was learnt meanwhile makes no difference.
        for (c.places.items) |*place| try std.testing.expectEqual(place.n_read, try c.nRead(place.at, place.legal));
        for (c.places.items) |*place| {
            try c.checkCached(c.tabled, place, place.n_read);
            try c.checkCached(c.walked, place, c.pool.depthOf(place.at.stack) + 1);
        }
        for (c.places.items) |*place| try c.checkPairs(place);
        for (c.places.items) |*place| for (0..8) |_| try c.checkSpliced(place);
    }

    /// Collects the places on random texts, with the masks by tables and by walking checked.
    fn visitTexts(c: *Check) !void {
        var at = c.tabled.initial();
        for (0..places_max) |_| {
            const place = try c.look(at);
            try c.places.append(c.arena, place);
            const token = c.randomLegal(place.legal);
            at = if (c.random.uintLessThan(u8, 16) == 0 or token == null)
                c.tabled.initial()
            else
                (try c.tabled.advance(&c.pool, at, c.tabled.vocabulary.tokens.bytesOf(token.?))).?;
        }
    }

    fn look(c: *Check, at: Position) !Place {
        const legal = try c.tryEach(at);
        _ = try c.expectMask(c.walked, at, legal);
        return .{ .at = at, .legal = legal, .n_read = try c.nRead(at, legal) };
    }

    /// Of the mask by tables.
    fn nRead(c: *Check, at: Position, legal: []const bool) !u32 {
        return c.pool.depthOf(at.stack) - try c.expectMask(c.tabled, at, legal) + 1;
    }

    /// The least depth that was looked at.
    fn expectMask(c: *Check, r: *Recognizer, at: Position, legal: []const bool) !u32 {
        const scratch = try r.scratches.take();
        defer r.scratches.giveBack(scratch);
        const n_nodes = c.pool.nodes.items.len;
        const least_depth = try r.language.computeMask(&r.maskContext(), &c.pool, at, scratch);
        try std.testing.expectEqual(n_nodes, c.pool.nodes.items.len);
        try expectTokens(legal, &scratch.mask);
        try std.testing.expectEqual(try r.canStop(&c.pool, at), scratch.mask.can_stop);
        return least_depth;
    }

    /// From the definition.
    fn tryEach(c: *Check, at: Position) ![]const bool {
        const tokens = &c.tabled.vocabulary.tokens;
        const legal = try c.arena.alloc(bool, tokens.n);
        const can_stop = try c.tabled.canStop(&c.pool, at);
        const n_nodes = c.pool.nodes.items.len;
        for (legal, 0..) |*is_legal, token| {
            if (tokens.isText(@intCast(token))) {
                is_legal.* = try c.tabled.advance(&c.pool, at, tokens.bytesOf(@intCast(token))) != null;
                c.pool.nodes.shrinkRetainingCapacity(n_nodes);
            } else is_legal.* = can_stop and tokens.flagsOf(@intCast(token)).end_of_generation;
        }
        return legal;
    }

    fn randomLegal(c: *Check, legal: []const bool) ?u32 {
        var n: u32 = 0;
        var chosen: ?u32 = null;
        for (legal, 0..) |is_legal, token| {
            if (!is_legal or !c.tabled.vocabulary.tokens.isText(@intCast(token))) continue;
            n += 1;
            if (c.random.uintLessThan(u32, n) == 0) chosen = @intCast(token);
        }
        return chosen;
    }

    /// A mask that was kept for another place, or is kept from now on.
    fn checkCached(c: *Check, r: *Recognizer, place: *const Place, n_read: u32) !void {
        if (r.cachedMask(&c.pool, place.at)) |mask| return expectTokens(place.legal, mask);
        const scratch = try r.scratches.take();
        defer r.scratches.giveBack(scratch);
        const found = try r.computeMask(&c.pool, place.at, scratch);
        try expectTokens(place.legal, found);
        const kept = r.cachedMask(&c.pool, place.at);
        try std.testing.expectEqual(if (n_read + 1 > key_max) null else found, kept);
    }

    /// Places that agree in what was looked at for one of them have one mask, and as much was looked at.
    fn checkPairs(c: *Check, place: *const Place) !void {
        for (c.places.items) |*other| {
            if (!c.agree(place, other)) continue;
            try std.testing.expectEqual(place.n_read, other.n_read);
            try std.testing.expectEqualSlices(bool, place.legal, other.legal);
            c.counts.shared += @intFromBool(place.at.stack.below != other.at.stack.below);
        }
    }

    fn agree(c: *Check, a: *const Place, b: *const Place) bool {
        if (a.at.state != b.at.state or a.n_read > c.pool.depthOf(b.at.stack) + 1) return false;
        for (0..a.n_read) |i| if (c.stateAt(a.at.stack, i) != c.stateAt(b.at.stack, i)) return false;
        return true;
    }

    /// What was looked at, on what another stack has below the same state.
    fn checkSpliced(c: *Check, place: *const Place) !void {
        const lowest = c.stateAt(place.at.stack, place.n_read - 1);
        if (place.n_read > c.pool.depthOf(place.at.stack)) return; // nothing is below
        const other = c.places.items[c.random.uintLessThan(usize, c.places.items.len)].at.stack;
        const i = c.randomDepth(other, lowest) orelse return;
        const n_nodes = c.pool.nodes.items.len;
        defer c.pool.nodes.shrinkRetainingCapacity(n_nodes);
        var stack = c.popped(other, i);
        for (1..place.n_read) |n| {
            const below = try c.pool.push(std.testing.allocator, stack);
            stack = .{ .below = below, .top = @intCast(c.stateAt(place.at.stack, place.n_read - 1 - n)) };
        }
        const spliced = try c.look(.{ .state = place.at.state, .stack = stack });
        try std.testing.expectEqualSlices(bool, place.legal, spliced.legal);
        try std.testing.expectEqual(place.n_read, spliced.n_read);
        c.counts.spliced += 1;
    }

    /// How far below the top a state stands.
    fn randomDepth(c: *Check, stack: Stack, state: u32) ?usize {
        var n: usize = 0;
        var chosen: ?usize = null;
        for (0..c.pool.depthOf(stack) + 1) |i| {
            if (c.stateAt(stack, i) != state) continue;
            n += 1;
            if (c.random.uintLessThan(usize, n) == 0) chosen = i;
        }
        return chosen;
    }

    /// The state `n` below the top.
    fn stateAt(c: *const Check, stack: Stack, n: usize) u32 {
        return c.popped(stack, n).top;
    }

    fn popped(c: *const Check, stack: Stack, n: usize) Stack {
        var at = stack;
        for (0..n) |_| {
            const node = c.pool.nodes.items[at.below];
            at = .{ .below = node.parent, .top = @intCast(node.state) };
        }
        return at;
    }
};

fn expectTokens(legal: []const bool, mask: *const Mask) !void {
    var n: u32 = 0;
    for (legal, 0..) |is_legal, token| {
        n += @intFromBool(is_legal);
        try std.testing.expectEqual(is_legal, has(mask, @intCast(token)));
    }
    try std.testing.expectEqual(n, mask.n_tokens);
}

fn has(mask: *const Mask, token: u32) bool {
    if (mask.words) |words| return words[token / 32] >> @truncate(token) & 1 != 0;
    return std.mem.findScalar(i32, mask.ids, @intCast(token)) != null;
}

test "a mask that more states decide about than a key has is found each time" {
    const gpa = std.testing.allocator;
    var diag: Diagnostic = .{};
    const flags = [_]Flags{ .{}, .{}, .{ .end_of_generation = true } };
    const vocabulary = try Vocabulary.create(gpa, .{ .n = 3, .bytes = "ab", .offsets = &.{ 0, 1, 2, 2 }, .flags = &flags }, "", &diag);
    defer vocabulary.release();
    // The text may end if all that is open ends: the whole stack is looked at.
    const r = try compile.compile(gpa, vocabulary, .{ .lark = .{ .text = "start: \"a\" start | \"b\"" } }, .{}, &diag);
    defer r.release();
    const n_kept = key_max - 2; // the lexer's state and the bottom are in the key, too
    for ([_]usize{ n_kept, n_kept + 1 }) |n| {
        var state: RecognizerState = .init(gpa, r, .{});
        defer state.deinit();
        for (0..n) |_| _ = try state.accept(0, 0, .refuse);
        _ = try state.accept(1, 0, .refuse);
        const legal = (try state.allowed()).?;
        try std.testing.expectEqualSlices(i32, &.{2}, legal.list);
        const kept = r.cachedMask(&state.pool, state.span.position());
        try std.testing.expectEqual(n == n_kept, kept != null);
    }
}

// ---- What is random

const letters = "abc()[]+,; ";
const operators = "+,;";

/// All single letters, random texts, some of which are there twice, one that is too long for the trie, and an
/// end token.
fn randomVocabulary(gpa: Allocator, arena: Allocator, random: std.Random, diag: *Diagnostic) !*Vocabulary {
    var bytes: std.ArrayList(u8) = .empty;
    var offsets: std.ArrayList(u64) = .empty;
    for (letters) |letter| {
        try offsets.append(arena, bytes.items.len);
        try bytes.append(arena, letter);
    }
    const pieces = [_][]const u8{ "a", "b", "ab", "abc", " ", " ", "(", ")", "[", "]", "+", ",", ";" };
    for (0..80) |_| {
        try offsets.append(arena, bytes.items.len);
        for (0..random.intRangeAtMost(usize, 2, 4)) |_| try bytes.appendSlice(arena, pieces[random.uintLessThan(usize, pieces.len)]);
    }
    try offsets.append(arena, bytes.items.len);
    try bytes.appendNTimes(arena, 'a', 300);
    try offsets.append(arena, bytes.items.len);
    try bytes.appendSlice(arena, "<end>");
    const n: u32 = @intCast(offsets.items.len);
    try offsets.append(arena, bytes.items.len);
    const flags = try arena.alloc(Flags, n);
    @memset(flags, .{});
    flags[n - 1].end_of_generation = true;
    return Vocabulary.create(gpa, .{ .n = n, .bytes = bytes.items, .offsets = offsets.items, .flags = flags }, "", diag);
}

/// Rules as programming languages have them: lists, operators, brackets, and rules that are others; some
/// are empty. Keywords are among the names, and what is ignored ends them.
fn randomGrammar(arena: Allocator, random: std.Random, is_wide: bool) ![]const u8 {
    var text: std.ArrayList(u8) = .empty;
    const n_rules = random.intRangeAtMost(usize, 2, 6);
    try text.appendSlice(arena, "%lexing longest\n%conflicts refuse\nstart: r0");
    if (is_wide) for (0..130) |i| try text.print(arena, " | \"{d}\"", .{i});
    try text.append(arena, '\n');
    for (0..n_rules) |rule| {
        try text.print(arena, "r{d}: ", .{rule});
        for (0..random.intRangeAtMost(usize, 1, 3)) |i| {
            if (i > 0) try text.appendSlice(arena, " | ");
            try appendAlternative(arena, random, &text, rule, n_rules);
        }
        try text.append(arena, '\n');
    }
    try text.appendSlice(arena, "NAME: /[a-c]+/\n");
    if (random.boolean()) try text.appendSlice(arena, "%ignore \" \"\n");
    return text.items;
}

fn appendAlternative(arena: Allocator, random: std.Random, text: *std.ArrayList(u8), rule: usize, n_rules: usize) !void {
    const operator = operators[random.uintLessThan(usize, operators.len)];
    const inner = random.uintLessThan(usize, n_rules);
    switch (random.uintLessThan(u8, 10)) {
        0, 1 => try appendNext(arena, random, text, rule, n_rules),
        2 => {
            try text.print(arena, "r{d} \"{c}\" ", .{ rule, operator });
            try appendNext(arena, random, text, rule, n_rules);
        },
        3 => {
            try appendNext(arena, random, text, rule, n_rules);
            try text.print(arena, " \"{c}\" r{d}", .{ operator, rule });
        },
        4 => try text.print(arena, "\"(\" r{d} \")\"", .{inner}),
        5 => try text.print(arena, "\"[\" r{d} \"]\"", .{inner}),
        6 => {
            try text.print(arena, "\"{c}\" ", .{operator});
            try appendNext(arena, random, text, rule, n_rules);
        },
        7 => try appendTerminal(arena, random, text),
        8 => {
            try appendTerminal(arena, random, text);
            try text.append(arena, ' ');
            try appendTerminal(arena, random, text);
            try text.append(arena, ' ');
            try appendNext(arena, random, text, rule, n_rules);
        },
        else => if (random.boolean()) {
            try appendTerminal(arena, random, text);
            try text.print(arena, " r{d} ", .{inner});
            try appendTerminal(arena, random, text);
        },
    }
}

/// A later rule, or a terminal.
fn appendNext(arena: Allocator, random: std.Random, text: *std.ArrayList(u8), rule: usize, n_rules: usize) !void {
    if (rule + 1 == n_rules) return appendTerminal(arena, random, text);
    try text.print(arena, "r{d}", .{random.intRangeLessThan(usize, rule + 1, n_rules)});
}

fn appendTerminal(arena: Allocator, random: std.Random, text: *std.ArrayList(u8)) !void {
    const terminals = [_][]const u8{ "NAME", "NAME", "\"a\"", "\"ab\"", "\"abc\"", "\"c\"", "\"a;\"" };
    try text.appendSlice(arena, terminals[random.uintLessThan(usize, terminals.len)]);
}
