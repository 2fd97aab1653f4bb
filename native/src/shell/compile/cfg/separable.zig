//! Whether the fast lexer is right: one that uses maximal munch of all terminals, wherever the parser is. It is
//! if each text that can be split into lexemes at all can be split in that way alone.

const std = @import("std");
const dfa = @import("../regex/dfa.zig");
const Dfa = dfa.Dfa;
const Bnf = @import("../bnf.zig").Bnf;
const Tables = @import("../lr/tables.zig").Tables;
const sets = @import("../lr/sets.zig");
const width_max = @import("engine").program.width_max;
const maximal_munch = @import("../lr/maximal_munch.zig");
const Classes = maximal_munch.Classes;
const findFirsts = maximal_munch.findFirsts;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// A sufficient condition. First, no two terminals that match one lexeme are accepted by one state of the parser. Second,
/// where a lexeme may end and also continue with a byte, nothing that follows it begins with that byte: so there is
/// one place where it can end.
pub fn isSeparable(ctx: *const Context, tables: *const Tables, lexer: *const Dfa) Error!bool {
    const accepted = try findAccepted(ctx, tables);
    if (!try isOneOfEach(ctx, tables, lexer, accepted)) return false;
    const firsts = try findFirsts(ctx, lexer, tables.n_terminals);
    const nexts = try findNexts(ctx, tables, accepted, firsts);
    for (1..lexer.nStates()) |state| {
        if (state % 256 == 0) try ctx.check();
        for (lexer.matchList(@intCast(state))) |terminal| {
            for (0..lexer.nClasses()) |class| {
                if (lexer.column(class)[state] != dfa.dead and sets.has(&nexts[terminal], class)) return false;
            }
        }
    }
    return true;
}

/// Whether a lexer that uses maximal munch of all terminals is also right where a terminal is tried only where the
/// parser can take it, and a lexeme may end early before what nothing can separate from it (glr/run.zig). A sufficient
/// condition. First, as above, where skipped terminals are accepted by every state. Second, where a lexeme may end and
/// also continue with a byte, nothing that follows begins with the byte, or every state that accepts the lexeme also
/// accepts something that continues so. Third, whatever follows a lexeme can be separated from it. `parted` is of
/// lr/separators.zig.
pub fn isLongest(ctx: *const Context, grammar: *const Bnf, tables: *const Tables, lexer: *const Dfa, parted: []const u64) Error!bool {
    const accepted = try findAccepted(ctx, tables);
    const skip = try ctx.filled(u64, tables.words, 0);
    for (grammar.terminals, 0..) |terminal, number| if (terminal.skip) sets.add(skip, number);
    for (0..tables.n_states) |state| _ = sets.unite(sets.row(accepted, state, tables.words), skip);
    if (!try isOneOfEach(ctx, tables, lexer, accepted)) return false;
    if (endsLazily(grammar, lexer)) return false;
    const firsts = try findFirsts(ctx, lexer, tables.n_terminals);
    const followers = try findFollowers(ctx, tables, accepted);
    for (1..lexer.nStates()) |state| {
        if (state % 64 == 0) try ctx.check();
        if (lexer.matches[state] == 0) continue;
        var goes_on: Classes = @splat(0);
        for (0..lexer.nClasses()) |class| {
            if (lexer.column(class)[state] != dfa.dead) sets.add(&goes_on, class);
        }
        for (lexer.matchList(@intCast(state))) |terminal| {
            var nexts: Classes = @splat(0);
            const after = sets.row(followers, terminal, tables.words);
            var all = sets.iterate(after);
            while (all.next()) |next| if (next < tables.n_terminals) {
                _ = sets.unite(&nexts, &firsts[next]);
            };
            var following = sets.iterate(after);
            if (!isSeparated(firsts, goes_on, after, skip, parted, lexer.words)) while (following.next()) |next| {
                if (next >= tables.n_terminals or !isWithin(firsts[next], goes_on)) continue;
                if (next != terminal or !sets.has(skip, next) or !beginsAsItGoesOn(lexer, state)) return false;
            };
            for (0..lexer.nClasses()) |class| {
                const to = lexer.column(class)[state];
                if (to == dfa.dead or !sets.has(&nexts, class)) continue;
                if (!goesOnAlways(tables, lexer, accepted, skip, terminal, to)) return false;
            }
        }
    }
    return true;
}

/// Whether something skipped can come after a lexeme, and then, if not at once, whatever can follow.
fn isSeparated(firsts: []const Classes, goes_on: Classes, after: []const u64, skip: []const u64, parted: []const u64, words: usize) bool {
    var buffer: [width_max]u64 = @splat(0);
    const behind = buffer[0..words];
    var is_any = false;
    var separators = sets.iterate(skip);
    var row: usize = 0;
    while (separators.next()) |one| : (row += 1) if (!isWithin(firsts[one], goes_on)) {
        is_any = true;
        _ = sets.unite(behind, sets.row(parted, row, words));
    };
    var all = sets.iterate(after);
    while (all.next()) |next| {
        if (next >= firsts.len) break;
        if (!sets.has(skip, next) and isWithin(firsts[next], goes_on) and !sets.has(behind, next)) return false;
    }
    return is_any;
}

/// Whether a lazy terminal matches where the lexeme could continue, or be another.
fn endsLazily(grammar: *const Bnf, lexer: *const Dfa) bool {
    for (1..lexer.nStates()) |state| {
        const terminals = lexer.matchList(@intCast(state));
        const has_lazy = for (terminals) |terminal| {
            if (grammar.terminals[terminal].lazy) break true;
        } else false;
        if (!has_lazy) continue;
        if (terminals.len > 1) return true;
        for (0..lexer.nClasses()) |class| if (lexer.column(class)[state] != dfa.dead) return true;
    }
    return false;
}

fn goesOnAlways(tables: *const Tables, lexer: *const Dfa, accepted: []const u64, skip: []const u64, terminal: u16, to: u16) bool {
    const reach = lexer.reachSet(to)[0..tables.words];
    for (0..tables.n_states) |state| {
        const row = sets.row(accepted, state, tables.words);
        if (!sets.has(skip, terminal) and !sets.has(row, terminal)) continue;
        if (!sets.intersects(row, reach)) return false;
    }
    return true;
}

/// Whether it is the same to continue in a state and to begin again.
fn beginsAsItGoesOn(lexer: *const Dfa, state: usize) bool {
    for (0..lexer.nClasses()) |class| {
        const column = lexer.column(class);
        if (column[state] != dfa.dead and column[state] != column[dfa.start]) return false;
    }
    return true;
}

fn isWithin(a: Classes, b: Classes) bool {
    for (a, b) |x, y| if (x & ~y != 0) return false;
    return true;
}

/// Whether no two terminals that match one lexeme are accepted by one state of the parser.
fn isOneOfEach(ctx: *const Context, tables: *const Tables, lexer: *const Dfa, accepted: []const u64) Error!bool {
    for (0..lexer.nLists()) |list| {
        const terminals = lexer.list(@intCast(list));
        if (terminals.len < 2) continue;
        for (0..tables.n_states) |state| {
            if (state % 1024 == 0) try ctx.check();
            var n: u32 = 0;
            for (terminals) |terminal| n += @intFromBool(sets.has(sets.row(accepted, state, tables.words), terminal));
            if (n > 1) return false;
        }
    }
    return true;
}

/// [state * words]: the terminals on which a state has an action.
pub fn findAccepted(ctx: *const Context, t: *const Tables) Error![]u64 {
    const accepted = try ctx.alloc(u64, t.shift_sets.len);
    @memcpy(accepted, t.shift_sets);
    for (0..t.n_states) |state| {
        for (t.reduction_offsets[state]..t.reduction_offsets[state + 1]) |reduction| {
            _ = sets.unite(sets.row(accepted, state, t.words), sets.row(t.reduction_sets, reduction, t.words));
        }
    }
    return accepted;
}

/// [terminal]: the classes that what comes after it can begin with.
fn findNexts(ctx: *const Context, t: *const Tables, accepted: []const u64, firsts: []const Classes) Error![]Classes {
    const followers = try findFollowers(ctx, t, accepted);
    const nexts = try ctx.filled(Classes, t.n_terminals, @splat(0));
    for (nexts, 0..) |*classes, terminal| {
        var after = sets.iterate(sets.row(followers, terminal, t.words));
        while (after.next()) |next| if (next < t.n_terminals) {
            _ = sets.unite(classes, &firsts[next]);
        };
    }
    return nexts;
}

/// [terminal * words]: what is accepted after it. After a skipped one, that is everything.
fn findFollowers(ctx: *const Context, t: *const Tables, accepted: []const u64) Error![]u64 {
    const followers = try ctx.filled(u64, @as(usize, t.n_terminals) * t.words, 0);
    const is_shifted = try ctx.filled(bool, t.n_terminals, false);
    for (0..t.n_states) |state| {
        if (state % 64 == 0) try ctx.check();
        var shifted = sets.iterate(sets.row(t.shift_sets, state, t.words));
        while (shifted.next()) |terminal| {
            if (terminal == t.n_terminals) break;
            is_shifted[terminal] = true;
            _ = sets.unite(sets.row(followers, terminal, t.words), sets.row(accepted, t.transition(state, terminal), t.words));
        }
    }
    for (is_shifted, 0..) |shifts, terminal| if (!shifts) @memset(sets.row(followers, terminal, t.words), std.math.maxInt(u64));
    return followers;
}
