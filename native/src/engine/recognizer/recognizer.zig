//! A compiled recognizer of texts, for one vocabulary: choices, a regular expression or a grammar; and
//! the masks that were found with it. Shared by any number of threads.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Budget = @import("../base/budget.zig").Budget;
const dfa = @import("dfa.zig");
const choices_module = @import("choices.zig");
const Choices = choices_module.Choices;
const program_module = @import("lr/program.zig");
const Program = program_module.Program;
const parser_module = @import("lr/parser.zig");
const Sets = @import("lr/terminal_set.zig").Sets;
const Stack = parser_module.Stack;
const Pool = parser_module.Pool;
const signature = @import("lr/signature.zig");
const TableStore = @import("lr/table_store.zig").TableStore;
const mask_module = @import("mask.zig");
pub const Mask = mask_module.Mask;
const walkers = @import("walkers.zig");
const ScratchPool = @import("scratch.zig").ScratchPool;
const Scratch = @import("scratch.zig").Scratch;
const Mapping = @import("../platform/mapping.zig").Mapping;

/// Where a text stands. Of choices and regular expressions only `state` counts.
pub const Position = struct {
    state: u32,
    stack: Stack = .initial,
};

pub const Language = union(enum) {
    choices: Choices,
    regex: dfa.Dfa,
    grammar: Program,

    pub fn deinit(language: *Language, gpa: Allocator) void {
        switch (language.*) {
            inline else => |*one| one.deinit(gpa),
        }
    }

    pub fn bytes(language: *const Language) usize {
        return switch (language.*) {
            .choices => |*c| c.retainedBytes(),
            .regex => |*automaton| automaton.bytes(),
            .grammar => |*program| program.bytes(),
        };
    }
};

pub const Recognizer = struct {
    gpa: Allocator,
    /// Both outlive the recognizer.
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    language: Language,
    /// The file that the language and some tables are in, if they are not in memory of their own.
    mapping: ?Mapping = null,
    is_mapped: bool,
    /// The vocabulary's end-of-generation tokens, ascending: legal where the text may end.
    end_tokens: []const i32,
    /// What compiling found, a line each.
    notes: [:0]const u8,
    account: mask_module.Account,
    memory: mask_module.Memory,
    /// Of a grammar.
    tables: ?TableStore = null,
    scratches: ScratchPool,

    /// A language of one's own is taken over, and freed on failure too; of a mapped one, the mapping is
    /// still to be set. Copies `notes`.
    pub fn create(
        gpa: Allocator,
        vocabulary: *const Vocabulary,
        trie: *const ByteTrie,
        language: union(enum) { owned: Language, mapped: Language },
        notes: []const u8,
        mask_bytes_max: u64,
    ) Allocator.Error!*Recognizer {
        errdefer if (language == .owned) {
            var owned = language.owned;
            owned.deinit(gpa);
        };
        const r = try gpa.create(Recognizer);
        errdefer gpa.destroy(r);
        const text = try gpa.dupeSentinel(u8, notes, 0);
        errdefer gpa.free(text);
        r.* = .{
            .gpa = gpa,
            .vocabulary = vocabulary,
            .trie = trie,
            .language = switch (language) {
                inline else => |one| one,
            },
            .is_mapped = language == .mapped,
            .end_tokens = trie.end_tokens,
            .notes = text,
            .account = .{ .bytes_max = mask_bytes_max },
            .memory = .{ .gpa = gpa, .account = &r.account },
            .scratches = .{ .gpa = gpa, .trie = trie, .n_end_tokens = trie.end_tokens.len },
        };
        if (r.language == .grammar) {
            const program = &r.language.grammar;
            r.tables = try .init(gpa, &r.account, program.lexer.nStates(), program.n_shards);
        }
        return r;
    }

    pub fn destroy(r: *Recognizer) void {
        r.scratches.deinit();
        if (r.tables) |*tables| tables.deinit();
        r.memory.deinit();
        if (!r.is_mapped) r.language.deinit(r.gpa);
        if (r.mapping) |mapping| mapping.close();
        r.gpa.free(r.notes);
        r.gpa.destroy(r);
    }

    pub fn initial(r: *const Recognizer) Position {
        return .{ .state = switch (r.language) {
            .choices => choices_module.root,
            .regex => dfa.start,
            .grammar => parser_module.nothing_pending,
        } };
    }

    /// The position after some bytes; null if no text of the language goes on with them. What stacks
    /// the pool gets may be dropped when it is null.
    pub fn advance(r: *const Recognizer, pool: *Pool, from: Position, bytes: []const u8) Allocator.Error!?Position {
        switch (r.language) {
            .choices => |*choices| {
                var node = from.state;
                for (bytes) |byte| {
                    node = choices.next(node, byte);
                    if (node == choices_module.root) return null;
                }
                return .{ .state = node };
            },
            .regex => |*automaton| {
                var state: u16 = @intCast(from.state);
                for (bytes) |byte| state = automaton.next(state, byte);
                return if (state == dfa.dead) null else .{ .state = state };
            },
            .grammar => |*program| return switch (program.width) {
                inline program_module.set_widths[0], program_module.set_widths[1] => |width| advanceGrammar(width, r.gpa, program, pool, from, bytes),
                else => unreachable,
            },
        }
    }

    /// Whether the text may end.
    pub fn canStop(r: *const Recognizer, pool: *Pool, at: Position) Allocator.Error!bool {
        switch (r.language) {
            .choices => |*choices| return choices.isEnd(at.state),
            .regex => |*automaton| return automaton.matches[at.state] != 0,
            .grammar => |*program| {
                const n_nodes = pool.nodes.items.len;
                defer pool.nodes.shrinkRetainingCapacity(n_nodes);
                return switch (program.width) {
                    inline program_module.set_widths[0], program_module.set_widths[1] => |width| canEnd(width, r.gpa, program, pool, at),
                    else => unreachable,
                };
            },
        }
    }

    /// The mask, if it is remembered.
    pub inline fn remembered(r: *const Recognizer, pool: *const Pool, at: Position) ?*const Mask {
        if (r.language != .grammar) {
            var key: StateKey = .{ .state = at.state };
            return r.memory.find(&key);
        }
        var key: StackKey = .{ .pool = pool, .stack = at.stack, .state = at.state };
        return r.memory.find(&key);
    }

    /// Finds the mask anew and remembers it if there is room. Otherwise it is lent by `scratch`.
    pub fn find(r: *Recognizer, pool: *Pool, at: Position, scratch: *Scratch) Allocator.Error!*const Mask {
        var least_depth: u32 = 0;
        switch (r.language) {
            .choices => |*choices| {
                var walker: walkers.ChoicesWalker = .init(choices, scratch.states, at.state);
                scratch.fromWalk(r, &walker, choices.isEnd(at.state));
            },
            .regex => |*automaton| {
                var walker: walkers.RegexWalker = .init(automaton, scratch.states, at.state);
                scratch.fromWalk(r, &walker, automaton.matches[at.state] != 0);
            },
            .grammar => |*program| least_depth = try switch (program.width) {
                inline program_module.set_widths[0], program_module.set_widths[1] => |width| r.findGrammar(width, pool, at, scratch),
                else => unreachable,
            },
        }
        var key: [mask_module.key_max]u32 = undefined;
        const length = r.keyOf(pool, at, least_depth, &key) orelse return &scratch.mask;
        return r.memory.insert(key[0..length], &scratch.mask) orelse &scratch.mask;
    }

    /// Builds what could be kept, instead of at first use.
    pub fn prepare(r: *Recognizer, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        if (r.tables) |*tables| try tables.prepare(r.source(), budget, diag);
    }

    fn source(r: *const Recognizer) signature.Source {
        return .{ .program = &r.language.grammar, .tokens = &r.vocabulary.tokens, .trie = r.trie };
    }

    /// The least depth of the stack that was looked at.
    fn findGrammar(r: *Recognizer, comptime width: usize, pool: *Pool, at: Position, scratch: *Scratch) Allocator.Error!u32 {
        const program = &r.language.grammar;
        const selector = try scratch.selector(width, r.gpa, program, pool);
        const state: u16 = @intCast(at.state);
        var restarts: [shards_max]*const signature.Table = undefined;
        if (try r.tables.?.forState(r.source(), state, restarts[0..program.n_shards])) |tables| {
            scratch.sink.clear();
            const can_stop = try selector.select(tables, state, at.stack, &scratch.sink);
            scratch.mask = scratch.sink.finish(can_stop, r.end_tokens);
            return selector.parser.least_depth;
        }
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        const parser = &selector.parser;
        parser.begin(at.stack);
        const places = try scratch.places(walkers.GrammarWalker(width).Place, r.gpa);
        var walker: walkers.GrammarWalker(width) = try .init(parser, places, state, at.stack);
        defer walker.deinit();
        scratch.fromWalk(r, &walker, try parser.canEnd(state, at.stack));
        if (walker.out_of_memory) return error.OutOfMemory;
        return 0;
    }

    /// 256 bytes are at most so many shards of 64 first classes.
    const shards_max = 4;

    /// The states that decided about a mask: of the lexer or automaton, then of the stack from its top.
    fn keyOf(r: *const Recognizer, pool: *const Pool, at: Position, least_depth: u32, key: []u32) ?usize {
        key[0] = at.state;
        if (r.language != .grammar) return 1;
        const depth = pool.depthOf(at.stack);
        const n_states = depth - least_depth + 1;
        if (n_states + 1 > key.len) return null;
        var states: StackKey = .{ .pool = pool, .stack = at.stack, .state = at.state };
        for (key[0 .. n_states + 1]) |*state| state.* = states.next();
        return n_states + 1;
    }
};

const StateKey = struct {
    state: u32,

    pub inline fn next(key: *StateKey) u32 {
        return key.state;
    }
};

const StackKey = struct {
    pool: *const Pool,
    stack: Stack,
    state: u32,
    taken: Taken = .nothing,

    const Taken = enum { nothing, state, top };
    const below_bottom = std.math.maxInt(u31);

    pub inline fn next(key: *StackKey) u32 {
        switch (key.taken) {
            .nothing => {
                key.taken = .state;
                return key.state;
            },
            .state => {
                key.taken = .top;
                return key.stack.top;
            },
            .top => {
                if (key.stack.below == parser_module.bottom) return below_bottom;
                const node = &key.pool.nodes.items[key.stack.below];
                key.stack.below = node.parent;
                return node.state;
            },
        }
    }
};

fn advanceGrammar(comptime width: usize, gpa: Allocator, program: *const Program, pool: *Pool, from: Position, bytes: []const u8) Allocator.Error!?Position {
    const Parser = parser_module.Parser(width);
    var parser: Parser = .{ .gpa = gpa, .program = program, .pool = pool };
    const lexer = &program.lexer;
    var state: u16 = @intCast(from.state);
    var stack = from.stack;
    for (bytes) |byte| {
        if (state != parser_module.nothing_pending) {
            const next = lexer.next(state, byte);
            if (next != dfa.dead) {
                state = next;
                continue;
            }
            stack = try parser.endLexeme(state, stack) orelse return null;
        }
        state = lexer.next(dfa.start, byte);
        if (state == dfa.dead) return null;
    }
    const reach = lexer.reaches[state];
    const after: Position = .{ .state = state, .stack = stack };
    if (state == parser_module.nothing_pending or program.reaches_skip[reach]) return after;
    return if (try parser.anyViable(stack, Sets(width).at(program.lexer.reach_sets, reach))) after else null;
}

fn canEnd(comptime width: usize, gpa: Allocator, program: *const Program, pool: *Pool, at: Position) Allocator.Error!bool {
    var parser: parser_module.Parser(width) = .{ .gpa = gpa, .program = program, .pool = pool };
    return parser.canEnd(@intCast(at.state), at.stack);
}
