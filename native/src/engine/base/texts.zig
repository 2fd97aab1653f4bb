//! Numbers for texts: equal texts have one number, in the order in which they came.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("array_list.zig").ArrayList;
const NumberMap = @import("number_map.zig").NumberMap;

pub const Texts = struct {
    /// By number. Lent by whoever put them.
    list: ArrayList([]const u8) = .empty,
    /// By hash: where another text has the same, or one that follows it, by the next.
    by_hash: NumberMap = .{},

    pub fn deinit(texts: *Texts, gpa: Allocator) void {
        texts.list.deinit(gpa);
        texts.by_hash.deinit(gpa);
    }

    pub fn count(texts: *const Texts) u32 {
        return @intCast(texts.list.items.len);
    }

    /// Null if the text has no number.
    pub fn find(texts: *const Texts, text: []const u8) ?u32 {
        var hash = hashOf(text);
        return texts.search(text, &hash);
    }

    /// The number of a text, which must outlive this if it is new: then it is the count before. If it fails, nothing has
    /// changed.
    pub fn put(texts: *Texts, gpa: Allocator, text: []const u8) Allocator.Error!u32 {
        var hash = hashOf(text);
        if (texts.search(text, &hash)) |number| return number;
        try texts.by_hash.putItem(gpa, hash, []const u8, &texts.list, text);
        return texts.count() - 1;
    }

    /// Moves on to the hash under which the text is, or belongs.
    fn search(texts: *const Texts, text: []const u8, hash: *u64) ?u32 {
        while (texts.by_hash.get(hash.*)) |number| : (hash.* += 1) {
            if (std.mem.eql(u8, texts.list.items[number], text)) return number;
        }
        return null;
    }

    /// With room above for the next ones.
    fn hashOf(text: []const u8) u64 {
        return std.hash.Wyhash.hash(0, text) >> 1;
    }
};

test "equal texts have one number, also where hashes collide" {
    const gpa = std.testing.allocator;
    var texts: Texts = .{};
    defer texts.deinit(gpa);
    var buffer: [100][3]u8 = undefined;
    for (&buffer, 0..) |*text, i| text.* = .{ 'a', @intCast('0' + i / 10), @intCast('0' + i % 10) };
    // As if another text had the hash of the first.
    try texts.by_hash.putItem(gpa, Texts.hashOf(&buffer[0]), []const u8, &texts.list, "other");
    for (0..2) |_| for (&buffer, 1..) |*text, i| try std.testing.expectEqual(i, try texts.put(gpa, text));
    try std.testing.expectEqual(101, texts.count());
    for (&buffer, 1..) |*text, i| try std.testing.expectEqual(@as(u32, @intCast(i)), texts.find(text));
    try std.testing.expectEqual(null, texts.find("b"));
    try std.testing.expectEqualStrings("a42", texts.list.items[43]);
}
