//! Makes of terminals and productions the fastest language that is right for them: one lexer that uses maximal munch
//! with an LR parser, or every way to read a text at once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const sort = @import("engine").sort.sort;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const program_module = @import("engine").program;
const Program = program_module.Program;
const Language = @import("engine").language.Language;
const Lexing = @import("engine").ambiguous.Lexing;
const NamedTokens = @import("engine").named_tokens.NamedTokens;
const AnyOrder = @import("engine").any_order.AnyOrder;
const token_limits = @import("engine").token_limits;
const Limits = token_limits.Limits;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Conflicts = bnf.Conflicts;
const Reading = bnf.Reading;
const dfa = @import("../regex/dfa.zig");
const Dfa = dfa.Dfa;
const Pattern = @import("../regex/pattern.zig").Pattern;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;
const tables = @import("../lr/tables.zig");
const Tables = tables.Tables;
const maximal_munch = @import("../lr/maximal_munch.zig");
const buildProgram = @import("../lr/build_program.zig").buildProgram;
const normalise = @import("normalise.zig").normalise;
const bounded_terminals = @import("bounded_terminals.zig");
const bounded = @import("bounded.zig");
const findParted = @import("../lr/separators.zig").findParted;
const separable = @import("separable.zig");
const shadowed = @import("shadowed.zig");

/// The language owns what it has from `gpa`; all else lives in the context's arena. ELIZA_ERR_GRAMMAR: no text is in the
/// language, or a conflict that `reading` refuses.
pub fn choose(gpa: Allocator, ctx: *const Context, grammar: *const Bnf, reading: Reading, warnings: *tables.Warnings) Error!Language {
    if (grammar.terminals.len > program_module.terminals_max) {
        return ctx.diag.fail(.limit, "the grammar has more than {d} terminals", .{program_module.terminals_max});
    }
    if (try bounded_terminals.find(ctx, grammar, reading)) |with_texts| {
        const n_warnings = warnings.items.len;
        var language = try build(gpa, ctx, &with_texts, reading, warnings);
        if (reading.lexing == .any) return language;
        errdefer language.deinit(gpa, .owned);
        if (try bounded_terminals.areApart(ctx, &language.ambiguous.program, language.ambiguous.texts)) return language;
        language.deinit(gpa, .owned);
        warnings.shrinkRetainingCapacity(n_warnings);
    }
    return build(gpa, ctx, grammar, reading, warnings);
}

fn build(gpa: Allocator, ctx: *const Context, grammar: *const Bnf, reading: Reading, warnings: *tables.Warnings) Error!Language {
    const patterns = try patternsOf(ctx, grammar, reading.lexing);
    var lexer = try dfa.build(gpa, patterns, program_module.setWidth(patterns.len), ctx.budget, "the lexer", ctx.diag);
    return withLexer(gpa, ctx, grammar, &lexer, reading, warnings) catch |e| {
        // Whoever took it over has left nothing in its place.
        if (lexer.transitions.len > 0) lexer.deinit(gpa);
        return e;
    };
}

fn withLexer(
    gpa: Allocator,
    ctx: *const Context,
    grammar: *const Bnf,
    lexer: *Dfa,
    reading: Reading,
    warnings: *tables.Warnings,
) Error!Language {
    const found = try ctx.filled(bool, grammar.terminals.len, false);
    for (lexer.match_patterns) |terminal| found[terminal] = true;
    const has_limits = for (grammar.terminals) |terminal| {
        if (terminal.tokens_max > 0) break true;
    } else grammar.counted.len > 0 or grammar.texts.len > 0 or hasLists(grammar);
    const is_plain = reading.isPlain();
    const parted = if (reading.lexing == .contextual) try findParted(ctx, grammar, lexer) else &.{};
    // Where terminals were cut, conflicts may be of the cuts.
    const is_obeyed = reading.lexing != .any and (is_plain or reading.conflicts == .refuse and !reading.is_split);
    if (is_obeyed) {
        const n_warnings = warnings.items.len;
        if (try deterministic(ctx, grammar, found, reading.conflicts, warnings)) |parser| {
            if (is_plain and !has_limits and try isLongest(ctx, grammar, &parser, lexer, reading.lexing, parted)) {
                if (reading.lexing == .longest) {
                    try maximal_munch.warnOfInseparable(ctx.arena, grammar, &parser, lexer, warnings, ctx.budget, ctx.diag);
                    try shadowed.warn(ctx, grammar, &parser, lexer, warnings);
                }
                return finish(gpa, ctx, grammar, lexer, &parser, &.{}, null);
            }
            warnings.shrinkRetainingCapacity(n_warnings); // the same ones come again
        }
    }
    const normal = try normalise(ctx, grammar);
    const parser = try tables.build(ctx.arena, &normal, found, .keep, warnings, ctx.budget, ctx.diag);
    if (!is_obeyed and reading.conflicts != .follow) try warnOfFollowed(ctx, reading, warnings);
    if (reading.lexing == .longest) try shadowed.warn(ctx, &normal, &parser, lexer, warnings);
    const is_longest = is_plain and !has_limits and !parser.has_conflicts and
        try isLongest(ctx, &normal, &parser, lexer, reading.lexing, parted);
    return if (is_longest)
        finish(gpa, ctx, &normal, lexer, &parser, &.{}, null)
    else
        finish(gpa, ctx, &normal, lexer, &parser, parted, reading);
}

/// Null if the grammar is not LR(1), and then a warning says why.
fn deterministic(
    ctx: *const Context,
    grammar: *const Bnf,
    found: []const bool,
    conflicts: Conflicts,
    warnings: *tables.Warnings,
) Error!?Tables {
    const n_warnings = warnings.items.len;
    const how: tables.Conflicts = if (conflicts == .shift) .shift else .refuse;
    var diag: Diagnostic = .{};
    return tables.build(ctx.arena, grammar, found, how, warnings, ctx.budget, if (conflicts == .follow) &diag else ctx.diag) catch |e| {
        if (e == error.OutOfMemory or conflicts != .follow) return e;
        if (diag.status != .grammar) return ctx.diag.fail(diag.status, "{s}", .{diag.message()});
        warnings.shrinkRetainingCapacity(n_warnings);
        try ctx.append(warnings, try ctx.arena.dupe(u8, diag.message()));
        return null;
    };
}

fn isLongest(
    ctx: *const Context,
    grammar: *const Bnf,
    parser: *const Tables,
    lexer: *const Dfa,
    lexing: Lexing,
    parted: []const u64,
) Error!bool {
    for (grammar.terminals) |terminal| if (terminal.skip and !terminal.leads) return false;
    return switch (lexing) {
        .longest => true,
        .contextual => separable.isLongest(ctx, grammar, parser, lexer, parted),
        .any => separable.isSeparable(ctx, parser, lexer),
    };
}

fn hasLists(grammar: *const Bnf) bool {
    return for (grammar.rules) |rule| {
        if (rule.member != null) break true;
    } else false;
}

fn warnOfFollowed(ctx: *const Context, reading: Reading, warnings: *tables.Warnings) Error!void {
    const beside = if (reading.lexing == .any)
        "%lexing any"
    else if (reading.is_split)
        "look-around or ignore_once, which cut terminals"
    else
        "tokens or schemas";
    const warning = "%conflicts {t} is not obeyed beside {s}: every parse is followed";
    try ctx.append(warnings, try std.fmt.allocPrint(ctx.arena, warning, .{ reading.conflicts, @as([]const u8, beside) }));
}

/// Takes the lexer over. `reading` null: maximal munch and one way to parse. `parted`: as the program has it.
fn finish(
    gpa: Allocator,
    ctx: *const Context,
    grammar: *const Bnf,
    lexer: *Dfa,
    parser: *const Tables,
    parted: []const u64,
    reading: ?Reading,
) Error!Language {
    const taken = lexer.*;
    lexer.transitions = &.{};
    var program = try buildProgram(gpa, grammar, taken, parser, parted);
    errdefer program.deinit(gpa);
    const how = reading orelse return .{ .grammar = try .init(gpa, program) };
    var limits = try limitsOf(gpa, ctx, grammar, &program);
    errdefer limits.deinit(gpa);
    var any_order = if (hasLists(grammar)) try anyOrderOf(gpa, ctx, grammar, &program) else AnyOrder{};
    errdefer any_order.deinit(gpa);
    const texts = try bounded.build(gpa, ctx, grammar.texts, reading.?.token_bytes_max);
    errdefer texts.destroy(gpa, .owned);
    return .{ .ambiguous = .{
        .program = program,
        .lexing = how.lexing,
        .named = try copyTokens(gpa, how.tokens),
        .limits = limits,
        .any_order = any_order,
        .texts = texts,
    } };
}

fn limitsOf(gpa: Allocator, ctx: *const Context, grammar: *const Bnf, program: *const Program) Error!Limits {
    var steps: ArrayList(u32) = .empty;
    const limited = try ctx.filled(u64, program.width, 0);
    const of = try ctx.alloc(u32, grammar.terminals.len);
    for (of, grammar.terminals, 0..) |*to, terminal, i| {
        to.* = terminal.tokens_max;
        if (to.* == 0) continue;
        program_module.add(limited, i);
        if (std.mem.findScalar(u32, steps.items, to.*) == null) try ctx.append(&steps, to.*);
    }
    if (steps.items.len > Limits.steps_max) {
        return ctx.diag.fail(.limit, "the grammar has more than {d} different max_tokens", .{Limits.steps_max});
    }
    sort(u32, steps.items, {}, std.sort.asc(u32));
    var limits: Limits = .{};
    errdefer limits.deinit(gpa);
    if (steps.items.len > 0) {
        limits.of = try gpa.dupe(u32, of);
        limits.limited = try gpa.dupe(u64, limited);
        limits.steps = try gpa.dupe(u32, steps.items);
        const n_states = program.lexer.nStates();
        if (!limits.setStates(n_states)) {
            const why = "max_tokens {d} is too large for a lexer of {d} states";
            return ctx.diag.fail(.limit, why, .{ steps.items[steps.items.len - 1], n_states });
        }
    }
    if (grammar.counted.len > 0) try addRules(gpa, grammar, program, &limits);
    return limits;
}

fn addRules(gpa: Allocator, grammar: *const Bnf, program: *const Program, limits: *Limits) Allocator.Error!void {
    const rules = try gpa.alloc(token_limits.Rule, grammar.counted.len);
    limits.rules = rules;
    const begun = try gpa.alloc(u32, program.nParserStates());
    limits.begun = begun;
    @memset(begun, 0);
    for (rules, grammar.counted) |*to, from| {
        to.* = .{ .begin = from.begin, .end = from.end, .tokens = from.tokens_max };
        const symbol = for (grammar.productions) |p| {
            if (p.symbols.len > 0 and std.meta.eql(p.symbols[0], .{ .terminal = from.begin })) break program.n_terminals + 1 + p.rule;
        } else continue;
        for (0..begun.len) |state| if (program.shifts(state, from.begin)) {
            begun[program.transition(state, from.begin)] = @intCast(symbol);
        };
    }
}

fn anyOrderOf(gpa: Allocator, ctx: *const Context, grammar: *const Bnf, program: *const Program) Error!AnyOrder {
    const width = program.width;
    const members = try ctx.filled(u16, program.nParserStates(), 0);
    // [rule]: its member, and one.
    const of_rules = try ctx.filled(u16, grammar.rules.len, 0);
    var numbers: ArrayList(u8) = .empty;
    for (grammar.rules, of_rules, 0..) |rule, *of, i| if (rule.member) |number| {
        try ctx.append(&numbers, number);
        of.* = @intCast(numbers.items.len);
        for (0..members.len) |state| {
            const symbol: u32 = @intCast(program.n_terminals + 1 + i);
            if (program.hasTransition(state, symbol)) members[program.transition(state, symbol)] = of.*;
        }
        try ctx.check();
    };
    const firsts = try ctx.filled(u64, numbers.items.len * width, 0);
    for (grammar.productions) |p| if (of_rules[p.rule] > 0 and p.symbols[0] == .terminal) {
        program_module.add(firsts[(of_rules[p.rule] - 1) * width ..][0..width], p.symbols[0].terminal);
    };
    var needed: ArrayList(u8) = .empty;
    for (grammar.needed) |set| try ctx.appendSlice(&needed, &AnyOrder.bytesOf(set));
    var made: AnyOrder = .{};
    errdefer made.deinit(gpa);
    made.members = try gpa.dupe(u16, members);
    made.numbers = try gpa.dupe(u8, numbers.items);
    made.firsts = try gpa.dupe(u64, firsts);
    made.needed = try gpa.dupe(u8, needed.items);
    return made;
}

fn copyTokens(gpa: Allocator, tokens: *const NamedTokens) Allocator.Error!NamedTokens {
    const starts = try gpa.dupe(u32, tokens.starts);
    errdefer gpa.free(starts);
    return .{ .starts = starts, .classes = try gpa.dupe(u8, tokens.classes), .others = tokens.others, .n_classes = tokens.n_classes };
}

/// Unless maximal munch decides, all terminals that match are found: which of them it is, is the parser's affair.
fn patternsOf(ctx: *const Context, grammar: *const Bnf, lexing: Lexing) Error![]const Pattern {
    const patterns = try ctx.alloc(Pattern, grammar.terminals.len);
    for (patterns, grammar.terminals) |*pattern, terminal| {
        // A skipped terminal is ignored everywhere, so being soft means nothing.
        const is_soft = lexing != .longest or terminal.soft and !terminal.skip;
        pattern.* = .{ .node = terminal.pattern, .soft = is_soft };
    }
    return patterns;
}
