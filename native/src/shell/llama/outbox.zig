//! What a step has produced and the caller has not received yet: at most one token, accepted but not yet in the
//! context, and its text. A token whose text does not fit the caller's buffer waits here.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Step = @import("engine").span.Step;
const Text = @import("text.zig").Text;
const fitting = @import("text.zig").fitting;

/// Starts empty. Every call is given the same allocator.
pub const Outbox = struct {
    /// Null: none is waiting.
    token: ?i32 = null,
    /// What the token did to the span.
    step: Step = .{},
    /// Whole characters, with room for what the end of the text adds.
    text: ArrayList(u8) = .empty,
    /// Bytes of `text` already delivered.
    delivered: usize = 0,
    /// The bytes of an incomplete character.
    held: Text = .{},

    /// Frees the text.
    pub fn deinit(box: *Outbox, gpa: Allocator) void {
        box.text.deinit(gpa);
    }

    /// Whether neither token nor text is waiting. Bytes of an incomplete character do not count.
    pub fn isEmpty(box: *const Outbox) bool {
        return box.token == null and box.waiting().len == 0;
    }

    /// The text that was not delivered yet. Lent until the box changes.
    pub fn waiting(box: *const Outbox) []const u8 {
        return box.text.items[box.delivered..];
    }

    /// Adds the text of the next token. The box is empty.
    pub fn putText(box: *Outbox, gpa: Allocator, bytes: []const u8) Allocator.Error!void {
        box.removeDelivered();
        try box.text.ensureUnusedCapacity(gpa, bytes.len + room_for_end);
        try box.held.push(gpa, &box.text, bytes);
        try box.text.ensureUnusedCapacity(gpa, room_for_end);
    }

    /// The text ends here: an incomplete character is replaced. Needs no memory.
    pub fn endText(box: *Outbox) void {
        if (box.isEmpty()) box.removeDelivered();
        box.held.finish(&box.text);
    }

    /// The waiting text with a zero byte after it. Lent until the box changes.
    pub fn terminated(box: *Outbox) [:0]const u8 {
        box.text.appendAssumeCapacity(0);
        box.text.items.len -= 1;
        return box.waiting().ptr[0..box.waiting().len :0];
    }

    /// Delivers the waiting text, if it fits `out` whole, or with `in_parts` as many characters as fit. Returns
    /// whether none is left.
    pub fn copyText(box: *Outbox, out: []u8, in_parts: bool, n_copied: *usize) bool {
        const from = box.waiting();
        n_copied.* = if (from.len <= out.len) from.len else if (in_parts) fitting(from, out.len) else 0;
        @memcpy(out[0..n_copied.*], from[0..n_copied.*]);
        box.delivered += n_copied.*;
        return n_copied.* == from.len;
    }

    /// Counts the waiting text as delivered.
    pub fn dropText(box: *Outbox) void {
        box.delivered = box.text.items.len;
    }

    /// Removes the token: it was delivered, and its text too.
    pub fn takeToken(box: *Outbox) void {
        box.token = null;
        box.step = .{};
        box.removeDelivered();
    }

    /// Empties the box, incomplete characters included.
    pub fn clear(box: *Outbox) void {
        box.takeToken();
        box.text.clearRetainingCapacity();
        box.delivered = 0;
        box.held = .{};
    }

    fn removeDelivered(box: *Outbox) void {
        if (box.waiting().len > 0) return;
        box.text.clearRetainingCapacity();
        box.delivered = 0;
    }

    const room_for_end = Text.replacement.len + 1;
};

test "text that does not fit waits, or comes in parts" {
    const gpa = std.testing.allocator;
    var box: Outbox = .{};
    defer box.deinit(gpa);
    try box.putText(gpa, "ab\u{20ac}");
    box.token = 7;
    var out: [4]u8 = undefined;
    var n: usize = undefined;
    try std.testing.expect(!box.copyText(&out, false, &n));
    try std.testing.expectEqual(0, n);
    try std.testing.expect(!box.copyText(&out, true, &n));
    try std.testing.expectEqualStrings("ab", out[0..n]);
    try std.testing.expect(box.copyText(&out, true, &n));
    try std.testing.expectEqualStrings("\u{20ac}", out[0..n]);
    box.takeToken();
    try std.testing.expect(box.isEmpty());
}

test "the end replaces what is held" {
    const gpa = std.testing.allocator;
    var box: Outbox = .{};
    defer box.deinit(gpa);
    try box.putText(gpa, "a\xe2\x82");
    try std.testing.expectEqualStrings("a", box.terminated());
    box.endText();
    try std.testing.expectEqualStrings("a\u{fffd}", box.terminated());
}

test "what was delivered is not kept" {
    const gpa = std.testing.allocator;
    var box: Outbox = .{};
    defer box.deinit(gpa);
    var out: [8]u8 = undefined;
    var n: usize = undefined;
    for (0..100) |_| {
        try box.putText(gpa, "word");
        try std.testing.expect(box.copyText(&out, false, &n));
        box.takeToken();
    }
    try std.testing.expectEqual(0, box.text.items.len);
}
