//! A regular expression as a language: the DFA that matches it, or if repetitions make it large, a text of bounded length.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const span = @import("../contract/span.zig");
const Info = @import("../contract/info.zig").Info;
const dfa_module = @import("dfa.zig");
const Dfa = dfa_module.Dfa;
const bounded_texts = @import("bounded_texts.zig");
const BoundedTexts = bounded_texts.BoundedTexts;
const Position = @import("position.zig").Position;
const Pool = @import("position.zig").Pool;
const StackForm = @import("position.zig").StackForm;
const Arrays = @import("arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;

/// recognizer/language.zig says what each operation promises. A position's state is the DFA's, or the text's.
pub const Regex = struct {
    dfa: Dfa = .none,
    /// In place of the DFA: one text.
    texts: *const BoundedTexts = BoundedTexts.none,

    pub const kind: Kind = .regex;
    pub const stack_form: StackForm = .none;

    pub fn deinit(r: *Regex, gpa: Allocator, arrays: Arrays) void {
        if (arrays == .owned) r.dfa.deinit(gpa);
        r.texts.destroy(gpa, arrays);
        r.* = undefined;
    }

    pub fn describe(r: *const Regex, info: *Info) void {
        const dfa = if (r.texts.isEmpty()) &r.dfa else &r.texts.dfa;
        info.n_states = dfa.nStates();
        info.automaton_bytes = dfa.bytes();
    }

    pub fn initial(r: *const Regex) u32 {
        return if (r.texts.isEmpty()) dfa_module.start else r.texts.initial(0);
    }

    pub fn advance(r: *const Regex, _: Allocator, _: *Pool, from: Position, text: []const u8) Allocator.Error!?Position {
        if (from.state >= bounded_texts.first_state) return r.advanceText(from, text);
        var state: u16 = @intCast(from.state);
        for (text) |byte| state = r.dfa.next(state, byte);
        return if (state == dfa_module.dead) null else .{ .state = state };
    }

    noinline fn advanceText(r: *const Regex, from: Position, text: []const u8) ?Position {
        var state = from.state;
        for (text) |byte| state = r.texts.next(state, byte) orelse return null;
        return .{ .state = state };
    }

    pub fn canStop(r: *const Regex, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        if (at.state >= bounded_texts.first_state) return r.texts.canStop(at.state);
        return r.dfa.matches[at.state] != 0;
    }

    pub fn computeMask(r: *Regex, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) span.Error!u32 {
        if (at.state >= bounded_texts.first_state) {
            try r.computeMaskOfText(context, pool, at, scratch);
            return 0;
        }
        var walker: Walker = .init(&r.dfa, scratch.states, at.state);
        try context.computeByWalk(&walker, r.dfa.matches[at.state] != 0, scratch, &pool.watch);
        return 0;
    }

    noinline fn computeMaskOfText(r: *Regex, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) span.Error!void {
        const from = r.texts.canonical(at.state);
        const can_stop = r.texts.canStop(at.state);
        if (r.texts.freeState(from)) |state| {
            var walker: Walker = .init(&r.texts.dfa, scratch.states, state);
            return context.computeByWalk(&walker, can_stop, scratch, &pool.watch);
        }
        scratch.states[0] = from;
        var walker: TextWalker = .{ .texts = r.texts, .states = scratch.states.ptr };
        return context.computeByWalk(&walker, can_stop, scratch, &pool.watch);
    }

    pub fn prepare(_: *Regex, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}

    pub fn save(r: *const Regex, writer: anytype) Allocator.Error!void {
        try writer.put(&r.dfa);
        return writer.put(r.texts);
    }

    pub fn open(gpa: Allocator, reader: anytype) error{ OutOfMemory, Damaged }!Regex {
        const dfa = try reader.get(Dfa);
        return .{ .dfa = dfa, .texts = try BoundedTexts.create(gpa, try reader.get(BoundedTexts)) };
    }

    pub fn isSound(r: *const Regex, _: *const MaskContext) Allocator.Error!bool {
        if (r.texts.isEmpty()) return r.dfa.isSound(1);
        return r.texts.list.len == 1 and r.texts.isSound(1);
    }
};

/// The same near the bounds of a text.
const TextWalker = struct {
    texts: *const BoundedTexts,
    states: [*]u32,
    depth: usize = 0,

    pub inline fn tryPushByte(w: *TextWalker, byte: u8) bool {
        const next = w.texts.next(w.states[w.depth], byte) orelse return false;
        w.depth += 1;
        w.states[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *TextWalker, n: usize) void {
        w.depth -= n;
    }
};

/// What mask/walk.zig walks with. `states` has room for the longest token and one more.
const Walker = struct {
    columns: *const [256]u32,
    transitions: [*]const u16,
    states: [*]u32,
    depth: usize = 0,

    fn init(dfa: *const Dfa, states: []u32, state: u32) Walker {
        states[0] = state;
        return .{ .columns = &dfa.columns, .transitions = dfa.transitions.ptr, .states = states.ptr };
    }

    pub inline fn tryPushByte(w: *Walker, byte: u8) bool {
        const next = w.transitions[w.columns[byte] + w.states[w.depth]];
        if (next == dfa_module.dead) return false;
        w.depth += 1;
        w.states[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *Walker, n: usize) void {
        w.depth -= n;
    }
};

test "a file may not number patterns that a regular expression has not" {
    var two = [_]u16{ 0, 1 };
    var no_set = [_]u16{ 0, 0 };
    var offsets = [_]u32{ 0, 0, 1 };
    var patterns = [_]u16{0};
    var sets = [_]u64{1};
    const dfa: Dfa = .{
        .words = 1,
        .columns = @splat(0),
        .transitions = &two,
        .matches = &two,
        .match_offsets = &offsets,
        .match_patterns = &patterns,
        .reaches = &no_set,
        .reach_sets = &sets,
    };
    try std.testing.expect(dfa.isSound(1));
    const regex: Regex = .{ .dfa = dfa };
    patterns[0] = 1;
    try std.testing.expect(dfa.isSound(2) and !dfa.isSound(1) and !try regex.isSound(undefined));
    patterns[0] = 0;
    sets[0] = 3;
    try std.testing.expect(dfa.isSound(2) and !dfa.isSound(1) and !try regex.isSound(undefined));
    sets[0] = 1 << 63;
    try std.testing.expect(dfa.isSound(64) and !dfa.isSound(63));
}
