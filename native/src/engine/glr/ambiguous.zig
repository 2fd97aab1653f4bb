//! Any context-free grammar as a language: a lexer that may end a lexeme wherever it matches, and a generalised LR
//! parser. A position is the set of all ways to read the text (graph.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const Program = @import("../lr/program.zig").Program;
const nothing_pending = @import("../lr/parser.zig").nothing_pending;
const run_module = @import("run.zig");
const Run = run_module.Run;
pub const Lexing = run_module.Lexing;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const Walker = @import("walker.zig").Walker;

/// recognizer/language.zig says what each operation promises.
pub const Ambiguous = struct {
    program: Program,
    lexing: Lexing,
    named: NamedTokens = .{},

    pub const kind: Kind = .grammar;
    pub const stack_form: StackForm = .graph;

    pub fn deinit(a: *Ambiguous, gpa: Allocator, arrays: Arrays) void {
        if (arrays == .owned) {
            a.program.deinit(gpa);
            a.named.deinit(gpa);
        }
        a.* = undefined;
    }

    pub fn describe(a: *const Ambiguous, info: *Info) void {
        a.program.describe(info);
    }

    pub fn initial(_: *const Ambiguous) u32 {
        return nothing_pending;
    }

    pub fn advance(a: *const Ambiguous, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) run_module.Error!?Position {
        var run: Run = try .init(gpa, &a.program, a.lexing, pool, from);
        defer run.deinit();
        const set = try takeText(&run, text);
        return if (set == Run.empty) null else try run.positionOf(set);
    }

    pub fn advanceToken(
        a: *const Ambiguous,
        gpa: Allocator,
        pool: *Pool,
        from: Position,
        token: u32,
        flags: Flags,
        text: ?[]const u8,
    ) run_module.Error!?Position {
        var run: Run = try .init(gpa, &a.program, a.lexing, pool, from);
        defer run.deinit();
        const as_text = if (text) |bytes| try takeText(&run, bytes) else Run.empty;
        const class = a.named.classOf(token, flags);
        const as_itself = if (class != NamedTokens.no_class) try run.stepToken(first_set, class) else Run.empty;
        const set = try run.unite(as_text, as_itself);
        return if (set == Run.empty) null else try run.positionOf(set);
    }

    /// No text has the byte that stands before a token's class.
    fn takeText(run: *Run, text: []const u8) run_module.Error!u32 {
        var set: u32 = first_set;
        for (text) |byte| {
            if (byte == NamedTokens.lead) return Run.empty;
            set = try run.step(set, byte);
            if (set == Run.empty) break;
        }
        return set;
    }

    pub fn takesTokens(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!bool {
        if (a.named.isEmpty()) return false;
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(gpa, &a.program, a.lexing, pool, at);
        defer run.deinit();
        return try run.step(first_set, NamedTokens.lead) != Run.empty;
    }

    pub fn canStop(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!bool {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(gpa, &a.program, a.lexing, pool, at);
        defer run.deinit();
        return run.canEnd(first_set);
    }

    pub fn computeMask(a: *Ambiguous, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) run_module.Error!u32 {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(context.gpa, &a.program, a.lexing, pool, at);
        defer run.deinit();
        var walker: Walker = try .init(&run, &a.named, scratch.states, first_set);
        defer walker.deinit();
        context.computeByWalk(&walker, try run.canEnd(first_set), scratch);
        if (walker.failure) |failed| return failed;
        return @intCast(run.looked);
    }

    pub fn save(a: *const Ambiguous, writer: anytype) Allocator.Error!void {
        try writer.put(&a.program);
        try writer.put(&a.named);
        return writer.put(&@as(u32, @backingInt(a.lexing)));
    }

    pub fn open(_: Allocator, reader: anytype) error{ OutOfMemory, Damaged }!Ambiguous {
        const program = try reader.get(Program);
        const named = try reader.get(NamedTokens);
        const lexing = std.enums.fromInt(Lexing, try reader.get(u32)) orelse return error.Damaged;
        return .{ .program = program, .lexing = lexing, .named = named };
    }

    pub fn prepare(_: *Ambiguous, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}

    /// Of a run: the configurations of its position.
    const first_set = 1;
};
