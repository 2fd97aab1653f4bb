//! The automata of a schema's patterns and formats, one for each text, and shared with other schemas.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const budget_module = @import("engine").budget;
const Dfa = @import("engine").dfa.Dfa;
const SharedDfa = @import("engine").shared_dfa.SharedDfa;
const Automata = @import("engine").shared_dfa.Automata;
const formats = @import("formats.zig");
const patterns = @import("patterns.zig");

pub const Error = Allocator.Error || diagnostic.Error;

pub const Dfas = struct {
    gpa: Allocator,
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    /// Where schemas find those of others; null: nowhere.
    automata: ?*Automata,
    /// A reference to each.
    list: ArrayList(*SharedDfa) = .empty,
    /// Those that are compiled, and the number of the automaton of each.
    patterns: Texts = .{},
    of_patterns: ArrayList(u32) = .empty,
    by_format: std.EnumMap(formats.Format, u32) = .{},

    pub fn deinit(d: *Dfas) void {
        for (d.list.items) |one| one.release(d.gpa);
        d.list.deinit(d.gpa);
    }

    /// By number, with another reference to each.
    pub fn copy(d: *const Dfas, arena: Allocator) Allocator.Error![]const *SharedDfa {
        const list = try arena.dupe(*SharedDfa, d.list.items);
        for (list) |one| _ = one.retain();
        return list;
    }

    /// The number of the automaton of the texts in which a pattern is found.
    pub fn ofPattern(d: *Dfas, pattern: []const u8) Error!u32 {
        if (d.patterns.find(pattern)) |known| return d.of_patterns.items[known];
        const number = try d.add('p', pattern, null);
        try d.of_patterns.append(d.arena, number);
        _ = try d.patterns.put(d.arena, pattern);
        return number;
    }

    /// The number of the automaton of a format.
    pub fn ofFormat(d: *Dfas, format: formats.Format) Error!u32 {
        if (d.by_format.get(format)) |known| return known;
        const number = try d.add('f', @tagName(format), format);
        d.by_format.put(format, number);
        return number;
    }

    fn add(d: *Dfas, kind: u8, text: []const u8, format: ?formats.Format) Error!u32 {
        try d.list.ensureUnusedCapacity(d.gpa, 1);
        const key = try std.mem.concat(d.arena, u8, &.{ &.{kind}, text });
        d.list.appendAssumeCapacity(try d.find(key) orelse try d.make(key, text, format));
        return @intCast(d.list.items.len - 1);
    }

    /// Takes as much of the budget as if it were made. How many states that takes is not known: who bounds them
    /// gets a new one.
    fn find(d: *Dfas, key: []const u8) Error!?*SharedDfa {
        if (d.budget.states_max < budget_module.states_most) return null;
        const found = SharedDfa.find(d.automata orelse return null, key) orelse return null;
        errdefer found.release(d.gpa);
        try d.budget.take(found.bytes, "the pattern", d.diag);
        return found;
    }

    fn make(d: *Dfas, key: []const u8, text: []const u8, format: ?formats.Format) Error!*SharedDfa {
        const bytes = d.budget.bytes;
        var dfa: Dfa = if (format) |one|
            try formats.compile(d.gpa, d.arena, one, d.budget, d.diag)
        else
            try patterns.compile(d.gpa, d.arena, text, d.budget, d.diag);
        errdefer dfa.deinit(d.gpa);
        const made: *SharedDfa = try .create(d.gpa, key, dfa, d.budget.bytes - bytes);
        if (d.automata) |automata| automata.put(&made.shared);
        return made;
    }
};
