//! The texts around parts as symbols. A text is cut where the vocabulary has a control token for it, and no token of
//! text: there that token is meant. Any token can be named, too.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const message = @import("message");
const Tokens = @import("engine").vocabulary.Tokens;
const symbols = @import("engine").tag_symbols;
const Symbol = symbols.Symbol;
const NamedTokens = symbols.NamedTokens;

/// A begin text, an end text, or another that is looked for.
pub const Marker = struct {
    symbols: []const Symbol = &.{},
    /// As it is shown in messages.
    text: []const u8 = "",

    /// One behind the other.
    pub fn joined(arena: Allocator, markers: []const Marker) Allocator.Error!Marker {
        var list: ArrayList(Symbol) = .empty;
        var text: ArrayList(u8) = .empty;
        for (markers) |marker| {
            try list.appendSlice(arena, marker.symbols);
            try text.appendSlice(arena, marker.text);
        }
        return .{ .symbols = list.items, .text = text.items };
    }
};

/// Makes markers, and numbers the tokens in them.
pub const Markers = struct {
    arena: Allocator,
    tokens: *const Tokens,
    /// Control tokens that have a text, by its first byte. Null until they are needed.
    control: ?*[256]ArrayList(u32) = null,
    /// [symbol - first_token].
    ids: ArrayList(u32) = .empty,

    pub const Error = Allocator.Error || error{TooMany};

    pub fn ofText(m: *Markers, text: []const u8) Error!Marker {
        var list: ArrayList(Symbol) = .empty;
        var at: usize = 0;
        while (at < text.len) {
            if (try m.controlAt(text[at..])) |token| {
                try list.append(m.arena, try m.symbolOf(token));
                at += m.tokens.bytesOf(token).len;
            } else {
                try list.append(m.arena, text[at]);
                at += 1;
            }
        }
        return .{ .symbols = list.items, .text = text };
    }

    pub fn ofToken(m: *Markers, token: u32) Error!Marker {
        const one = try m.arena.alloc(Symbol, 1);
        one[0] = try m.symbolOf(token);
        const text = m.tokens.bytesOf(token);
        if (text.len > 0) return .{ .symbols = one, .text = text };
        var buffer: [16]u8 = undefined;
        return .{ .symbols = one, .text = try m.arena.dupe(u8, message.print(&buffer, "<[{d}]>", .{token})) };
    }

    /// The control token with this text, or else any token; null if there is none.
    pub fn find(m: *const Markers, text: []const u8) ?u32 {
        var found: ?u32 = null;
        for (0..m.tokens.n) |i| {
            const token: u32 = @intCast(i);
            if (!std.mem.eql(u8, m.tokens.bytesOf(token), text)) continue;
            if (m.tokens.flagsOf(token).special) return token;
            found = found orelse token;
        }
        return found;
    }

    /// Owned by the caller.
    pub fn named(m: *const Markers, gpa: Allocator) Allocator.Error!NamedTokens {
        const ids = try gpa.dupe(u32, m.ids.items);
        errdefer gpa.free(ids);
        std.sort.heap(u32, ids, {}, std.sort.asc(u32));
        const numbers = try gpa.alloc(Symbol, ids.len);
        for (ids, numbers) |id, *number| number.* = m.numberOf(id).?;
        return .{ .ids = ids, .symbols = numbers };
    }

    fn symbolOf(m: *Markers, token: u32) Error!Symbol {
        if (m.numberOf(token)) |known| return known;
        if (m.ids.items.len == symbols.named_max) return error.TooMany;
        try m.ids.append(m.arena, token);
        return m.numberOf(token).?;
    }

    fn numberOf(m: *const Markers, token: u32) ?Symbol {
        const at = std.mem.findScalar(u32, m.ids.items, token) orelse return null;
        return symbols.first_token + @as(Symbol, @intCast(at));
    }

    /// The longest control token that a text begins with.
    fn controlAt(m: *Markers, text: []const u8) Allocator.Error!?u32 {
        if (text.len == 0) return null;
        const control = m.control orelse try m.findControl();
        const list = &control[text[0]];
        while (true) {
            var longest: ?usize = null;
            var n: usize = 0;
            for (list.items, 0..) |token, i| {
                const bytes = m.tokens.bytesOf(token);
                if (bytes.len <= n or !std.mem.startsWith(u8, text, bytes)) continue;
                longest = i;
                n = bytes.len;
            }
            const found = longest orelse return null;
            const token = list.items[found];
            if (m.numberOf(token) != null or m.findText(text[0..n]) == null) return token;
            _ = list.swapRemove(found);
        }
    }

    /// A token of text.
    fn findText(m: *const Markers, text: []const u8) ?u32 {
        for (0..m.tokens.n) |i| {
            const token: u32 = @intCast(i);
            if (std.mem.eql(u8, m.tokens.bytesOf(token), text) and m.tokens.isText(token)) return token;
        }
        return null;
    }

    fn findControl(m: *Markers) Allocator.Error!*[256]ArrayList(u32) {
        const control = try m.arena.create([256]ArrayList(u32));
        control.* = @splat(.empty);
        m.control = control;
        for (m.tokens.flags, 0..) |flags, i| {
            if (flags.unused or !flags.special and !flags.end_of_generation) continue;
            const bytes = m.tokens.bytesOf(@intCast(i));
            if (bytes.len > 0) try control[bytes[0]].append(m.arena, @intCast(i));
        }
        return control;
    }
};
