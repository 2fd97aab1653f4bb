//! The match lists of a DFA: which patterns match in a state. Many states share a list.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const interner = @import("interner.zig");

/// The match lists, interned. `offsets` begins as 0, 0: list 0 is empty.
pub const MatchLists = struct {
    offsets: ArrayList(u32) = .empty,
    patterns: ArrayList(u16) = .empty,
    interned: interner.Interner = .{},

    /// The patterns of a list, ascending.
    pub fn get(lists: *const MatchLists, list: u32) []const u16 {
        const offsets = lists.offsets.items;
        return lists.patterns.items[offsets[list]..offsets[list + 1]];
    }

    /// The number of the list that was appended to `patterns`, which goes away again if there is an equal one.
    pub fn intern(lists: *MatchLists, arena: Allocator) Allocator.Error!u16 {
        const first = lists.offsets.items[lists.offsets.items.len - 1];
        const added = lists.patterns.items[first..];
        if (added.len == 0) return 0;
        var hash: u32 = 0;
        for (added) |pattern| hash = interner.combine(hash, pattern);
        if (lists.interned.find(hash, Same{ .lists = lists, .added = added })) |list| {
            lists.patterns.shrinkRetainingCapacity(first);
            return @intCast(list);
        }
        const list: u16 = @intCast(lists.offsets.items.len - 1);
        try lists.interned.insert(arena, hash, list);
        try lists.offsets.append(arena, @intCast(lists.patterns.items.len));
        return list;
    }

    const Same = struct {
        lists: *const MatchLists,
        added: []const u16,

        pub fn equals(same: Same, list: u32) bool {
            return std.mem.eql(u16, same.lists.get(list), same.added);
        }
    };
};
