//! Free text as regular expressions: without some texts in it, or up to the first of them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("../regex/ast.zig");
const intersection = @import("../regex/intersection.zig");

const Error = Allocator.Error || diagnostic.Error;

const what = "free text";

/// What free text ends at, each a text that is not empty.
pub const FreeText = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    ends: []const []const u8,

    /// Any text in which none of the ends is. Lives in the arena, as all of these do.
    pub fn without(f: *const FreeText) Error!*const ast.Node {
        if (f.ends.len == 0) return ast.anything;
        const with = try ast.concat(f.arena, &.{ try f.upToAny(), ast.anything });
        return intersection.intersect(
            f.arena,
            &.{ .{ .node = ast.anything, .soft = true }, .{ .node = with, .soft = true } },
            1,
            f.budget,
            what,
            f.diag,
        );
    }

    /// Any text that ends with the first of the ends in it, which is this one.
    pub fn upTo(f: *const FreeText, end: []const u8) Error!*const ast.Node {
        const first = try intersection.shortest(f.arena, try f.upToAny(), f.budget, what, f.diag);
        const bytes = try ast.create(f.arena, .{ .bytes = end });
        const ending = try ast.concat(f.arena, &.{ ast.anything, bytes });
        return intersection.intersect(
            f.arena,
            &.{ .{ .node = first, .soft = true }, .{ .node = ending, .soft = true } },
            2,
            f.budget,
            what,
            f.diag,
        );
    }

    fn upToAny(f: *const FreeText) Allocator.Error!*const ast.Node {
        const nodes = try f.arena.alloc(*const ast.Node, f.ends.len);
        for (nodes, f.ends) |*node, end| node.* = try ast.create(f.arena, .{ .bytes = end });
        return ast.concat(f.arena, &.{ ast.anything, try ast.alternate(f.arena, nodes) });
    }
};
