//! From the text of a regular expression to its tree. The dialect is the one that the header gives at
//! eliza_inference_constraint_create_regex. Groups are kept on a stack of their own, so that no pattern
//! can exhaust the caller's.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../budget.zig").Budget;
const ast = @import("ast.zig");
const Node = ast.Node;

pub const Error = Allocator.Error || diagnostic.Error;

/// The flags in force where the pattern begins; `(?i)` and its like change them within it.
pub const Flags = packed struct {
    ignore_case: bool = false,
    dot_all: bool = false,
    verbose: bool = false,
    /// Makes `^` and `$` mean lines, which is not served: they become errors.
    multi_line: bool = false,
};

/// The tree lives in `arena`, as do slices of `pattern` never: the pattern may go. A message begins with
/// the byte offset of the error, "12: "; where `failed_at` is given, the offset goes there instead.
pub fn parse(arena: Allocator, pattern: []const u8, flags: Flags, failed_at: ?*usize, budget: *Budget, diag: *Diagnostic) Error!*const Node {
    _ = .{ arena, pattern, flags, failed_at, budget };
    return diag.fail(.not_implemented, "regular expressions are not built yet", .{});
}

/// The tree of exactly `text` (valid UTF-8), or of what differs from it only by case.
pub fn literal(arena: Allocator, text: []const u8, ignore_case: bool) Allocator.Error!*const Node {
    _ = ignore_case;
    const node = try arena.create(Node);
    node.* = .{ .bytes = try arena.dupe(u8, text) };
    return node;
}
