//! The automaton of viable prefixes: LR(0), or canonical LR(1), whose states also differ by lookaheads. "On the Translation of
//! Languages from Left to Right", D. E. Knuth, 1965. Kernels are found again by hash, so that time is linear in what is built.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const none = augmented_grammar.none;
const FirstSets = @import("first_sets.zig").FirstSets;
const Closure = @import("closure.zig").Closure;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// States are numbered from 0, the start, in the order in which they are found. Lives in the context's arena.
pub const Automaton = struct {
    /// 64-bit words of a kernel item's lookaheads: 0 for LR(0).
    kernel_words: u32,
    /// [state + 1]: where the kernel of a state begins.
    kernel_offsets: ArrayList(u32) = .empty,
    /// Items, ascending in each kernel.
    kernels: ArrayList(u32) = .empty,
    /// [kernel item * kernel_words]: its lookaheads.
    kernel_sets: ArrayList(u64) = .empty,
    /// [state + 1]: where the transitions of a state begin; ascending by symbol.
    transition_offsets: ArrayList(u32) = .empty,
    /// [transition]
    symbols: ArrayList(u32) = .empty,
    /// [transition]: the state that it leads to.
    targets: ArrayList(u32) = .empty,
    /// [state + 1]: where the reductions of a state begin; ascending by production.
    reduction_offsets: ArrayList(u32) = .empty,
    /// [reduction]: its production.
    reductions: ArrayList(u16) = .empty,
    /// [reduction * words of a terminal set]. Empty for LR(0), until lookaheads are computed.
    lookaheads: ArrayList(u64) = .empty,

    /// Of indices, `end` not included.
    pub const Range = struct { start: u32, end: u32 };

    /// The number of states so far.
    pub fn nStates(a: *const Automaton) u32 {
        return @intCast(a.kernel_offsets.items.len - 1);
    }

    /// The items of a state before closure.
    pub fn kernelOf(a: *const Automaton, state: usize) []const u32 {
        return a.kernels.items[a.kernel_offsets.items[state]..a.kernel_offsets.items[state + 1]];
    }

    /// The lookaheads of a state's kernel, item by item.
    fn kernelSetsOf(a: *const Automaton, state: usize) []const u64 {
        const offsets = a.kernel_offsets.items;
        return a.kernel_sets.items[@as(usize, offsets[state]) * a.kernel_words .. @as(usize, offsets[state + 1]) * a.kernel_words];
    }

    /// Indices in `symbols` and `targets`.
    pub fn transitionsOf(a: *const Automaton, state: usize) Range {
        return .{ .start = a.transition_offsets.items[state], .end = a.transition_offsets.items[state + 1] };
    }

    /// Indices in `reductions`.
    pub fn reductionsOf(a: *const Automaton, state: usize) Range {
        return .{ .start = a.reduction_offsets.items[state], .end = a.reduction_offsets.items[state + 1] };
    }

    /// The index of a state's transition over a symbol, which it must have. A binary search.
    pub fn transitionOver(a: *const Automaton, state: usize, symbol: u32) u32 {
        return find(u32, a.symbols.items, a.transitionsOf(state), symbol);
    }

    /// The index of a state's reduction by a production, which it must have. A binary search.
    pub fn reductionBy(a: *const Automaton, state: usize, production: u16) u32 {
        return find(u16, a.reductions.items, a.reductionsOf(state), production);
    }

    fn find(comptime T: type, items: []const T, range: Range, item: T) u32 {
        var low = range.start;
        var high = range.end;
        while (high - low > 1) {
            const middle = low + (high - low) / 2;
            if (items[middle] <= item) low = middle else high = middle;
        }
        std.debug.assert(items[low] == item);
        return low;
    }

    /// Canonical LR(1) if `first` is given, LR(0) without lookaheads if not. ELIZA_ERR_LIMIT: more states or memory than the
    /// budget allows.
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar, first: ?*const FirstSets) Error!Automaton {
        var b: Builder = try .init(ctx, g, first);
        const start = g.first_items[g.n_productions];
        b.startKernel();
        try b.kernel.append(ctx, start, b.empty_set);
        _ = try b.internKernel();
        var state: usize = 0;
        while (state < b.result.nStates()) : (state += 1) {
            try ctx.check();
            try b.expand(state);
        }
        return b.result;
    }
};

const Builder = struct {
    ctx: *const Context,
    g: *const AugmentedGrammar,
    result: Automaton,
    closure: Closure,
    moves: ArrayList(Move) = .empty,
    sorted: ArrayList(Move) = .empty,
    finished: ArrayList(Move) = .empty,
    /// [symbol]: how many moves are over it, and then where in `sorted` the next one goes.
    counts: []u32,
    /// The symbols that have moves.
    present: []u64,
    kernel: Kernel,
    /// A hash table of states by their kernels, counted from 1; 0: a free slot. Its length is a power of two.
    slots: []u32,
    /// [state]
    hashes: ArrayList(u64) = .empty,
    /// What each state costs in the finished tables.
    state_bytes: u64,
    empty_set: []const u64,
    copied: ArrayList(u64) = .empty,

    /// An item after its dot has stepped over `symbol`, with its lookaheads.
    const Move = struct { symbol: u32, item: u32, set: []const u64 };

    const Kernel = struct {
        items: ArrayList(u32) = .empty,
        sets: ArrayList(u64) = .empty,

        fn append(k: *Kernel, ctx: *const Context, item: u32, set: []const u64) Error!void {
            try ctx.append(&k.items, item);
            try ctx.appendSlice(&k.sets, set);
        }
    };

    fn init(ctx: *const Context, g: *const AugmentedGrammar, first: ?*const FirstSets) Error!Builder {
        const words = if (first == null) 0 else g.words;
        var b: Builder = .{
            .ctx = ctx,
            .g = g,
            .result = .{ .kernel_words = words },
            .closure = try .init(ctx, g, first),
            .counts = try ctx.filled(u32, g.n_symbols, 0),
            .present = try ctx.filled(u64, sets.wordsFor(g.n_symbols), 0),
            .kernel = .{},
            .slots = try ctx.filled(u32, 1024, 0),
            .state_bytes = @sizeOf(u32) + @as(u64, g.words) * @sizeOf(u64),
            .empty_set = try ctx.filled(u64, words, 0),
        };
        try ctx.append(&b.result.kernel_offsets, 0);
        try ctx.append(&b.result.transition_offsets, 0);
        try ctx.append(&b.result.reduction_offsets, 0);
        return b;
    }

    fn expand(b: *Builder, state: usize) Error!void {
        const words = b.result.kernel_words;
        b.moves.clearRetainingCapacity();
        b.finished.clearRetainingCapacity();
        try b.closure.close(b.ctx, b.result.kernelOf(state), b.result.kernelSetsOf(state));
        // Sets of kernels move when the list of them grows, so moves point to a copy.
        const from = b.result.kernelSetsOf(state);
        b.copied.clearRetainingCapacity();
        try b.ctx.appendSlice(&b.copied, from);
        for (b.result.kernelOf(state), 0..) |item, i| try b.addMove(item, sets.row(b.copied.items, i, words));
        for (b.closure.found()) |rule| {
            const set: []const u64 = if (words == 0) &.{} else sets.row(b.closure.lookaheads, rule, words);
            for (b.g.productionsOf(rule)) |p| try b.addMove(b.g.first_items[p], set);
        }
        try b.addReductions();
        try b.addTransitions();
    }

    fn addMove(b: *Builder, item: u32, set: []const u64) Error!void {
        const symbol = b.g.after[item];
        if (symbol != none) {
            b.counts[symbol] += 1;
            sets.add(b.present, symbol);
            return b.ctx.append(&b.moves, .{ .symbol = symbol, .item = item + 1, .set = set });
        }
        // The parser's own production is never reduced: after end of input nothing is left to do.
        if (b.g.productions[item] == b.g.n_productions) return;
        try b.ctx.append(&b.finished, .{ .symbol = symbol, .item = item, .set = set });
    }

    fn addReductions(b: *Builder) Error!void {
        sortByItem(b.finished.items);
        for (b.finished.items) |done| {
            try b.ctx.append(&b.result.reductions, b.g.productions[done.item]);
            try b.ctx.appendSlice(&b.result.lookaheads, done.set);
        }
        try b.ctx.append(&b.result.reduction_offsets, @intCast(b.result.reductions.items.len));
    }

    fn addTransitions(b: *Builder) Error!void {
        b.sorted.clearRetainingCapacity();
        try b.ctx.reserve(&b.sorted, b.moves.items.len);
        b.sorted.items.len = b.moves.items.len;
        var place: u32 = 0;
        var symbols = sets.iterate(b.present);
        while (symbols.next()) |symbol| {
            const n = b.counts[symbol];
            b.counts[symbol] = place;
            place += n;
        }
        for (b.moves.items) |one| {
            b.sorted.items[b.counts[one.symbol]] = one;
            b.counts[one.symbol] += 1;
        }
        var begin: u32 = 0;
        symbols = sets.iterate(b.present);
        while (symbols.next()) |symbol| {
            const group = b.sorted.items[begin..b.counts[symbol]];
            begin = b.counts[symbol];
            b.counts[symbol] = 0;
            try b.addTransition(symbol, group);
        }
        @memset(b.present, 0);
        try b.ctx.append(&b.result.transition_offsets, @intCast(b.result.symbols.items.len));
    }

    fn addTransition(b: *Builder, symbol: u32, group: []Move) Error!void {
        sortByItem(group);
        b.startKernel();
        for (group) |one| try b.kernel.append(b.ctx, one.item, one.set);
        try b.ctx.append(&b.result.symbols, symbol);
        try b.ctx.append(&b.result.targets, try b.internKernel());
    }

    fn startKernel(b: *Builder) void {
        b.kernel.items.clearRetainingCapacity();
        b.kernel.sets.clearRetainingCapacity();
    }

    fn sortByItem(moves: []Move) void {
        const less = struct {
            fn less(_: void, a: Move, b: Move) bool {
                return a.item < b.item;
            }
        }.less;
        if (moves.len <= 16) std.sort.insertion(Move, moves, {}, less) else std.sort.heap(Move, moves, {}, less);
    }

    fn internKernel(b: *Builder) Error!u32 {
        const r = &b.result;
        const hash = std.hash.Wyhash.hash(
            std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(b.kernel.items.items)),
            std.mem.sliceAsBytes(b.kernel.sets.items),
        );
        var slot: usize = @intCast(hash & (b.slots.len - 1));
        while (b.slots[slot] != 0) : (slot = (slot + 1) & (b.slots.len - 1)) {
            const state = b.slots[slot] - 1;
            if (b.hashes.items[state] == hash and
                std.mem.eql(u32, r.kernelOf(state), b.kernel.items.items) and
                std.mem.eql(u64, r.kernelSetsOf(state), b.kernel.sets.items)) return state;
        }
        const state: u32 = @intCast(b.hashes.items.len);
        try b.ctx.checkStates(state + 1);
        try b.ctx.take(b.state_bytes);
        try b.ctx.append(&b.hashes, hash);
        b.slots[slot] = state + 1;
        try b.ctx.appendSlice(&r.kernels, b.kernel.items.items);
        try b.ctx.appendSlice(&r.kernel_sets, b.kernel.sets.items);
        try b.ctx.append(&r.kernel_offsets, @intCast(r.kernels.items.len));
        if (2 * b.hashes.items.len > b.slots.len) try b.growSlots();
        return state;
    }

    fn growSlots(b: *Builder) Error!void {
        b.slots = try b.ctx.filled(u32, 4 * b.slots.len, 0);
        for (b.hashes.items, 1..) |hash, number| {
            var slot: usize = @intCast(hash & (b.slots.len - 1));
            while (b.slots[slot] != 0) slot = (slot + 1) & (b.slots.len - 1);
            b.slots[slot] = @intCast(number);
        }
    }
};
