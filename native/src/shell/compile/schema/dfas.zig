//! The automata of a schema's patterns and formats, one for each text.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Dfa = @import("engine").dfa.Dfa;
const regex = @import("../regex/parse.zig");
const dfa_module = @import("../regex/dfa.zig");
const ast = @import("../regex/ast.zig");

pub const Error = Allocator.Error || diagnostic.Error;

pub const Dfas = struct {
    gpa: Allocator,
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    /// Made with `gpa`.
    list: std.ArrayList(Dfa) = .empty,
    by_pattern: std.StringHashMapUnmanaged(u32) = .empty,

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
        const slot = try d.by_pattern.getOrPut(d.arena, pattern);
        if (slot.found_existing) return slot.value_ptr.*;
        errdefer _ = d.by_pattern.remove(pattern);
        slot.value_ptr.* = try d.add(try d.compilePattern(pattern));
        return slot.value_ptr.*;
    }

    /// Null if the format is not known.
    pub fn ofFormat(_: *Dfas, _: []const u8) Error!?u32 {
        return null;
    }

    fn add(d: *Dfas, compiled: Dfa) Error!u32 {
        var automaton = compiled;
        errdefer automaton.deinit(d.gpa);
        try d.list.append(d.gpa, automaton);
        return @intCast(d.list.items.len - 1);
    }

    fn compilePattern(d: *Dfas, pattern: []const u8) Error!Dfa {
        var text = pattern;
        const at_start = text.len > 0 and text[0] == '^';
        if (at_start) text = text[1..];
        const at_end = std.mem.endsWith(u8, text, "$") and !std.mem.endsWith(u8, text, "\\$");
        if (at_end) text = text[0 .. text.len - 1];
        const middle = try regex.parse(d.arena, text, .{}, null, d.budget, d.diag);
        const before = if (at_start) ast.empty else ast.anything;
        const node = try ast.concat(d.arena, &.{ before, middle, if (at_end) ast.empty else ast.anything });
        return dfa_module.build(d.gpa, &.{.{ .node = node }}, 1, d.budget, "the pattern's automaton", d.diag);
    }
};
