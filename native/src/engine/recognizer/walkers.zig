//! What `walk` needs of each kind of recognizer: a stack of states.

const std = @import("std");
const Allocator = std.mem.Allocator;
const dfa = @import("dfa.zig");
const choices_module = @import("choices.zig");
const program_module = @import("lr/program.zig");
const parser_module = @import("lr/parser.zig");
const Sets = @import("lr/terminal_set.zig").Sets;
const Stack = parser_module.Stack;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const nothing_pending = parser_module.nothing_pending;

/// Along an automaton. `states` has room for the longest token and one more.
pub const RegexWalker = struct {
    columns: *const [256]u32,
    transitions: [*]const u16,
    states: [*]u32,
    depth: usize = 0,

    pub fn init(automaton: *const dfa.Dfa, states: []u32, state: u32) RegexWalker {
        states[0] = state;
        return .{ .columns = &automaton.columns, .transitions = automaton.transitions.ptr, .states = states.ptr };
    }

    pub inline fn tryPushByte(w: *RegexWalker, byte: u8) bool {
        const next = w.transitions[w.columns[byte] + w.states[w.depth]];
        if (next == dfa.dead) return false;
        w.depth += 1;
        w.states[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *RegexWalker, n: usize) void {
        w.depth -= n;
    }
};

/// Along the trie of choices.
pub const ChoicesWalker = struct {
    choices: *const choices_module.Choices,
    states: []u32,
    depth: usize = 0,

    pub fn init(choices: *const choices_module.Choices, states: []u32, state: u32) ChoicesWalker {
        states[0] = state;
        return .{ .choices = choices, .states = states };
    }

    pub inline fn tryPushByte(w: *ChoicesWalker, byte: u8) bool {
        const next = w.choices.next(w.states[w.depth], byte);
        if (next == choices_module.root) return false;
        w.depth += 1;
        w.states[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *ChoicesWalker, n: usize) void {
        w.depth -= n;
    }
};

/// Lexer and parser, byte by byte: what the tables of signatures save. For lexer states that have no
/// table, because there is no room for one.
pub fn GrammarWalker(comptime width: usize) type {
    return struct {
        parser: *Parser,
        states: []Place,
        depth: usize = 0,
        /// Stacks that were reached, with all that is viable on each.
        configurations: std.ArrayList(Configuration) = .empty,
        /// By configuration and match list: the configuration after it, or `refused`.
        after: NumberMap = .{},
        /// A walk cannot fail: out of memory, it refuses what comes.
        out_of_memory: bool = false,

        const W = @This();
        const Parser = parser_module.Parser(width);
        const sets = Sets(width);
        const refused = std.math.maxInt(u32);
        const Configuration = struct { stack: Stack, viable: sets.Set };
        pub const Place = struct { state: u16, configuration: u32 };

        pub fn init(parser: *Parser, states: []Place, state: u16, stack: Stack) Allocator.Error!W {
            var w: W = .{ .parser = parser, .states = states };
            errdefer w.deinit();
            states[0] = .{ .state = state, .configuration = try w.configure(stack) };
            return w;
        }

        pub fn deinit(w: *W) void {
            w.configurations.deinit(w.parser.gpa);
            w.after.deinit(w.parser.gpa);
        }

        pub fn tryPushByte(w: *W, byte: u8) bool {
            const next = w.step(w.states[w.depth], byte) catch {
                w.out_of_memory = true;
                return false;
            } orelse return false;
            w.depth += 1;
            w.states[w.depth] = next;
            return true;
        }

        pub fn popBytes(w: *W, n: usize) void {
            w.depth -= n;
        }

        fn step(w: *W, place: Place, byte: u8) Allocator.Error!?Place {
            const lexer = &w.parser.program.lexer;
            if (place.state != nothing_pending) {
                const next = lexer.next(place.state, byte);
                if (next != dfa.dead) return w.checked(next, place.configuration);
            }
            const next = lexer.next(dfa.start, byte);
            if (next == dfa.dead) return null;
            const configuration = if (place.state == nothing_pending)
                place.configuration
            else
                try w.end(place.configuration, lexer.matches[place.state]);
            return if (configuration == refused) null else w.checked(next, configuration);
        }

        fn checked(w: *const W, state: u16, configuration: u32) ?Place {
            const program = w.parser.program;
            const reach = program.lexer.reaches[state];
            const viable = &w.configurations.items[configuration].viable;
            const possible = program.reaches_skip[reach] or sets.intersects(viable, sets.at(program.lexer.reach_sets, reach));
            return if (possible) .{ .state = state, .configuration = configuration } else null;
        }

        fn end(w: *W, configuration: u32, list: u16) Allocator.Error!u32 {
            if (list == 0) return refused;
            const key = @as(u64, configuration) << 16 | list;
            if (w.after.get(key)) |after| return after;
            const after = try w.finish(configuration, list);
            try w.after.put(w.parser.gpa, key, after);
            return after;
        }

        fn finish(w: *W, configuration: u32, list: u16) Allocator.Error!u32 {
            const program = w.parser.program;
            for (program.lexer.list(list)) |terminal| {
                const stack = w.configurations.items[configuration].stack;
                if (program_module.has(program.skip, terminal)) return configuration;
                if (try w.parser.take(stack, terminal)) |after| return w.configure(after);
            }
            return refused;
        }

        fn configure(w: *W, stack: Stack) Allocator.Error!u32 {
            const mark = w.parser.levels.items.len;
            defer w.parser.levels.shrinkRetainingCapacity(mark);
            const viable = try w.parser.viable(stack, &@splat(std.math.maxInt(u64)));
            try w.configurations.append(w.parser.gpa, .{ .stack = stack, .viable = viable });
            return @intCast(w.configurations.items.len - 1);
        }
    };
}
