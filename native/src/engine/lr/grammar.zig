//! A grammar as a language: a lexer and an LR parser. A position's state is the lexer's, of the pending lexeme;
//! its stack is the parser's.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const dfa = @import("../language/dfa.zig");
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const program_module = @import("program.zig");
const Program = program_module.Program;
const check = @import("check.zig");
const parser_module = @import("parser.zig");
const nothing_pending = parser_module.nothing_pending;
const Sets = @import("terminal_set.zig").Sets;
const Selector = @import("selection.zig").Selector;
const signature = @import("signature.zig");
const TableStore = @import("table_store.zig").TableStore;
const Walker = @import("walker.zig").Walker;

const Error = parser_module.Error;

/// recognizer/language.zig says what each operation promises.
pub const Grammar = struct {
    program: Program,
    tables: TableStore,
    /// Out of a file: its tables may have a token in two groups.
    is_opened: bool = false,

    pub const kind: Kind = .grammar;
    pub const stack_form: StackForm = .one;

    /// Takes the program over, unless it fails.
    pub fn init(gpa: Allocator, program: Program) Allocator.Error!Grammar {
        return .{ .program = program, .tables = try .init(gpa, program.lexer.nStates(), program.n_shards) };
    }

    pub fn deinit(g: *Grammar, gpa: Allocator, arrays: Arrays) void {
        g.tables.deinit();
        if (arrays == .owned) g.program.deinit(gpa);
        g.* = undefined;
    }

    pub fn describe(g: *const Grammar, info: *Info) void {
        g.program.describe(info);
        info.n_tables = g.tables.count();
    }

    pub fn initial(_: *const Grammar) u32 {
        return nothing_pending;
    }

    pub fn advance(g: *const Grammar, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) Error!?Position {
        return switch (g.program.width) {
            inline program_module.set_widths[0], program_module.set_widths[1] => |width| advanceWide(
                width,
                gpa,
                &g.program,
                pool,
                from,
                text,
            ),
            else => unreachable,
        };
    }

    pub fn canStop(g: *const Grammar, gpa: Allocator, pool: *Pool, at: Position) Error!bool {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        return switch (g.program.width) {
            inline program_module.set_widths[0], program_module.set_widths[1] => |width| canEndWide(width, gpa, &g.program, pool, at),
            else => unreachable,
        };
    }

    pub fn computeMask(g: *Grammar, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) Error!u32 {
        switch (g.program.width) {
            inline program_module.set_widths[0], program_module.set_widths[1] => |width| {
                return g.computeMaskWide(width, context, pool, at, scratch);
            },
            else => unreachable,
        }
    }

    pub fn prepare(g: *Grammar, context: *const MaskContext, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return g.tables.prepare(.{ .program = &g.program, .context = context }, budget, diag);
    }

    pub fn save(g: *const Grammar, writer: anytype) Allocator.Error!void {
        try writer.put(&g.program);
        return g.tables.save(writer);
    }

    pub fn open(gpa: Allocator, reader: anytype) error{ OutOfMemory, Damaged }!Grammar {
        const program = try reader.get(Program);
        if (program.n_shards > check.shards_max or program.lexer.matches.len > std.math.maxInt(u16)) return error.Damaged;
        var g: Grammar = try .init(gpa, program);
        errdefer g.tables.deinit();
        g.is_opened = true;
        try g.tables.open(reader);
        return g;
    }

    pub fn isSound(g: *const Grammar, context: *const MaskContext) Allocator.Error!bool {
        return try check.isSound(context.gpa, &g.program) and try g.tables.isSound(.{ .program = &g.program, .context = context });
    }

    fn computeMaskWide(
        g: *Grammar,
        comptime width: usize,
        context: *const MaskContext,
        pool: *Pool,
        at: Position,
        scratch: *Scratch,
    ) Error!u32 {
        const program = &g.program;
        const selector = try selectorOf(width, context.gpa, program, pool, scratch);
        const state: u16 = @intCast(at.state);
        var restarts: [check.shards_max]*const signature.Table = undefined;
        const source: signature.Source = .{ .program = program, .context = context, .watch = &pool.watch };
        if (try g.tables.forState(source, state, restarts[0..program.n_shards])) |tables| {
            scratch.builder.clear();
            const can_stop = try selector.select(tables, state, at.stack, &scratch.builder);
            scratch.mask = if (g.is_opened)
                scratch.builder.finishDistinct(can_stop, context.trie.end_tokens)
            else
                scratch.builder.finish(can_stop, context.trie.end_tokens);
            return selector.parser.least_depth;
        }
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        const parser = &selector.parser;
        parser.begin(at.stack);
        const places = try scratch.places(Walker(width).Place, context.gpa);
        var walker: Walker(width) = try .init(parser, places, state, at.stack);
        defer walker.deinit();
        const can_end = try parser.canEnd(state, at.stack);
        context.computeByWalk(&walker, can_end, scratch, &pool.watch) catch |e| return walker.failure orelse e;
        return walker.failure orelse 0;
    }
};

fn selectorOf(
    comptime width: usize,
    gpa: Allocator,
    program: *const Program,
    pool: *Pool,
    scratch: *Scratch,
) Error!*Selector(width) {
    const S = Selector(width);
    if (scratch.attachmentOf(S)) |selector| {
        selector.parser.pool = pool;
        return selector;
    }
    const new: S = .{ .parser = .{ .gpa = gpa, .program = program, .pool = pool } };
    return scratch.attach(gpa, new);
}

fn advanceWide(
    comptime width: usize,
    gpa: Allocator,
    program: *const Program,
    pool: *Pool,
    from: Position,
    text: []const u8,
) Error!?Position {
    var parser: parser_module.Parser(width) = .{ .gpa = gpa, .program = program, .pool = pool };
    const lexer = &program.lexer;
    var state: u16 = @intCast(from.state);
    var stack = from.stack;
    try pool.watch.steps(1);
    for (text) |byte| {
        if (state != nothing_pending) {
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
    if (state == nothing_pending or program.reaches_skip[reach]) return after;
    return if (try parser.anyViable(stack, Sets(width).at(lexer.reach_sets, reach))) after else null;
}

fn canEndWide(comptime width: usize, gpa: Allocator, program: *const Program, pool: *Pool, at: Position) Error!bool {
    var parser: parser_module.Parser(width) = .{ .gpa = gpa, .program = program, .pool = pool };
    return parser.canEnd(@intCast(at.state), at.stack);
}
