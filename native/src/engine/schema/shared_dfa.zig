//! The automaton of a pattern or format: one for all schemas of a vocabulary that use it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Shared = @import("../base/shared_cache.zig").Shared;
pub const Automata = @import("../vocabulary/string_index.zig").StringIndex.Automata;
const Dfa = @import("../language/dfa.zig").Dfa;

pub const SharedDfa = struct {
    shared: Shared,
    dfa: Dfa,
    /// What compiling it took of its budget.
    bytes: u64,

    /// A reference, if it is there.
    pub fn find(automata: *Automata, key: []const u8) ?*SharedDfa {
        return @fieldParentPtr("shared", automata.get(key) orelse return null);
    }

    /// Takes the automaton over, unless it fails. The caller owns the reference.
    pub fn create(gpa: Allocator, key: []const u8, dfa: Dfa, bytes: u64) Allocator.Error!*SharedDfa {
        const made = try gpa.create(SharedDfa);
        errdefer gpa.destroy(made);
        made.* = .{ .shared = try .init(gpa, key, destroy), .dfa = dfa, .bytes = bytes };
        return made;
    }

    pub fn retain(one: *SharedDfa) *SharedDfa {
        _ = one.shared.retain();
        return one;
    }

    pub fn release(one: *SharedDfa, gpa: Allocator) void {
        one.shared.release(gpa);
    }

    fn destroy(shared: *Shared, gpa: Allocator) void {
        const one: *SharedDfa = @fieldParentPtr("shared", shared);
        one.dfa.deinit(gpa);
        gpa.destroy(one);
    }
};
