//! The automata of a schema's patterns and formats, one for each text.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Dfa = @import("engine").dfa.Dfa;
const formats = @import("formats.zig");
const patterns = @import("patterns.zig");

pub const Error = Allocator.Error || diagnostic.Error;

pub const Dfas = struct {
    gpa: Allocator,
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    /// Made with `gpa`.
    list: ArrayList(Dfa) = .empty,
    /// Those that are compiled, and the number of the automaton of each.
    patterns: Texts = .{},
    of_patterns: ArrayList(u32) = .empty,
    by_format: std.EnumMap(formats.Format, u32) = .{},

    pub fn deinit(d: *Dfas) void {
        for (d.list.items) |*one| one.deinit(d.gpa);
        d.list.deinit(d.gpa);
    }

    /// By number.
    pub fn copy(d: *const Dfas, arena: Allocator) Allocator.Error![]const *const Dfa {
        const copies = try arena.alloc(Dfa, d.list.items.len);
        const list = try arena.alloc(*const Dfa, copies.len);
        for (list, copies, d.list.items) |*to, *one, from| {
            to.* = one;
            one.* = from;
            inline for (.{ "transitions", "matches", "match_offsets", "match_patterns", "reaches", "reach_sets" }) |field| {
                @field(one, field) = try arena.dupe(std.meta.Elem(@TypeOf(@field(from, field))), @field(from, field));
            }
        }
        return list;
    }

    /// The number of the automaton of the texts in which a pattern is found.
    pub fn ofPattern(d: *Dfas, pattern: []const u8) Error!u32 {
        if (d.patterns.find(pattern)) |known| return d.of_patterns.items[known];
        const number = try d.add(try patterns.compile(d.gpa, d.arena, pattern, d.budget, d.diag));
        try d.of_patterns.append(d.arena, number);
        _ = try d.patterns.put(d.arena, pattern);
        return number;
    }

    /// The number of the automaton of a format.
    pub fn ofFormat(d: *Dfas, format: formats.Format) Error!u32 {
        if (d.by_format.get(format)) |known| return known;
        const number = try d.add(try formats.compile(d.gpa, d.arena, format, d.budget, d.diag));
        d.by_format.put(format, number);
        return number;
    }

    fn add(d: *Dfas, compiled: Dfa) Error!u32 {
        var automaton = compiled;
        errdefer automaton.deinit(d.gpa);
        try d.list.append(d.gpa, automaton);
        return @intCast(d.list.items.len - 1);
    }
};
