//! What mask/walk.zig walks a grammar with: lexer and parser, byte by byte. For lexer states that have no table
//! of signatures, because there is no room for one.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const dfa = @import("../language/dfa.zig");
const Stack = @import("../language/position.zig").Stack;
const program_module = @import("program.zig");
const parser_module = @import("parser.zig");
const Error = parser_module.Error;
const nothing_pending = parser_module.nothing_pending;
const Sets = @import("terminal_set.zig").Sets;
const NumberMap = @import("../base/number_map.zig").NumberMap;

/// A walk from one position. Belongs to one thread.
pub fn Walker(comptime width: usize) type {
    return struct {
        parser: *Parser,
        states: []Place,
        depth: usize = 0,
        /// The stacks that were reached, with all that is viable on each.
        configurations: ArrayList(Configuration) = .empty,
        /// From a configuration and a match list to the next configuration, or `refused`.
        after: NumberMap = .{},
        /// A walk cannot fail. Once it has, it refuses every byte, and its mask does not count.
        failure: ?Error = null,

        const W = @This();
        const Parser = parser_module.Parser(width);
        const sets = Sets(width);
        const refused = std.math.maxInt(u32);
        const Configuration = struct { stack: Stack, viable: sets.Set };
        /// Where the walk is: the lexer's state and the configuration before the pending lexeme.
        pub const Place = struct { state: u16, configuration: u32 };

        /// At a position. `states` has room for the longest token and one more. The caller has begun the
        /// parser's run.
        pub fn init(parser: *Parser, states: []Place, state: u16, stack: Stack) Error!W {
            var w: W = .{ .parser = parser, .states = states };
            errdefer w.deinit();
            states[0] = .{ .state = state, .configuration = try w.configure(stack) };
            return w;
        }

        /// Leaves the parser to the caller.
        pub fn deinit(w: *W) void {
            w.configurations.deinit(w.parser.gpa);
            w.after.deinit(w.parser.gpa);
        }

        pub fn tryPushByte(w: *W, byte: u8) bool {
            if (w.failure != null) return false;
            const next = w.step(w.states[w.depth], byte) catch |e| {
                w.failure = e;
                return false;
            } orelse return false;
            w.depth += 1;
            w.states[w.depth] = next;
            return true;
        }

        pub fn popBytes(w: *W, n: usize) void {
            w.depth -= n;
        }

        fn step(w: *W, place: Place, byte: u8) Error!?Place {
            try w.parser.pool.watch.steps(1);
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

        fn end(w: *W, configuration: u32, list: u16) Error!u32 {
            if (list == 0) return refused;
            const key = @as(u64, configuration) << 16 | list;
            if (w.after.get(key)) |after| return after;
            const after = try w.finish(configuration, list);
            try w.after.put(w.parser.gpa, key, after);
            return after;
        }

        fn finish(w: *W, configuration: u32, list: u16) Error!u32 {
            const program = w.parser.program;
            for (program.lexer.list(list)) |terminal| {
                const stack = w.configurations.items[configuration].stack;
                if (program_module.has(program.skip, terminal)) return configuration;
                if (try w.parser.take(stack, terminal)) |after| return w.configure(after);
            }
            return refused;
        }

        fn configure(w: *W, stack: Stack) Error!u32 {
            const mark = w.parser.levels.items.len;
            defer w.parser.levels.shrinkRetainingCapacity(mark);
            const viable = try w.parser.viable(stack, &@splat(std.math.maxInt(u64)));
            try w.configurations.append(w.parser.gpa, .{ .stack = stack, .viable = viable });
            return @intCast(w.configurations.items.len - 1);
        }
    };
}
