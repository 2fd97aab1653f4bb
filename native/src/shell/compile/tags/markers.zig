//! The texts around parts as symbols. A text is cut where the vocabulary has a control token for it, and no token of
//! text: there that token is meant. Any token can be named, too.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const text_sort = @import("engine").text_sort;
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

    /// One after the other.
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
    /// Control tokens that have a text. Null until they are needed.
    control: ?*Control = null,
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
        if (!control.first_bytes[text[0]]) return null;
        var at = control.before(m.tokens, text);
        while (at) |i| : (at = control.shorter[i]) {
            const bytes = m.tokens.bytesOf(control.tokens[i]);
            if (control.is_text[i] or !std.mem.startsWith(u8, text, bytes)) continue;
            if (m.numberOf(control.tokens[i]) != null or m.findText(bytes) == null) return control.tokens[i];
            control.is_text[i] = true;
        }
        return null;
    }

    /// A token of text.
    fn findText(m: *const Markers, text: []const u8) ?u32 {
        for (0..m.tokens.n) |i| {
            const token: u32 = @intCast(i);
            if (std.mem.eql(u8, m.tokens.bytesOf(token), text) and m.tokens.isText(token)) return token;
        }
        return null;
    }

    fn findControl(m: *Markers) Allocator.Error!*Control {
        const control = try m.arena.create(Control);
        control.* = .{};
        m.control = control;
        var texts: ArrayList(text_sort.Text) = .empty;
        for (m.tokens.flags, 0..) |flags, i| {
            if (flags.unused or !flags.special and !flags.end_of_generation) continue;
            const bytes = m.tokens.bytesOf(@intCast(i));
            if (bytes.len == 0) continue;
            try texts.append(m.arena, .of(bytes, i));
            control.first_bytes[bytes[0]] = true;
        }
        try text_sort.sort(m.arena, texts.items);
        const tokens = try m.arena.alloc(u32, texts.items.len);
        for (tokens, texts.items) |*token, text| token.* = @intCast(text.place);
        control.shorter = try m.arena.alloc(?u32, tokens.len);
        control.is_text = try m.arena.alloc(bool, tokens.len);
        @memset(control.is_text, false);
        control.tokens = tokens;
        for (tokens, control.shorter, 0..) |token, *shorter, i| {
            shorter.* = if (i == 0) null else @intCast(i - 1);
            while (shorter.*) |other| {
                if (std.mem.startsWith(u8, m.tokens.bytesOf(token), m.tokens.bytesOf(tokens[other]))) break;
                shorter.* = control.shorter[other];
            }
        }
        return control;
    }
};

/// In the order of their texts.
const Control = struct {
    tokens: []const u32 = &.{},
    /// The longest one before that the text begins with.
    shorter: []?u32 = &.{},
    /// Whether a token of text spells it, too.
    is_text: []bool = &.{},
    first_bytes: [256]bool = @splat(false),

    /// The last one that is not after a text in their order: all that the text begins with begin that one, or are it.
    fn before(control: *const Control, tokens: *const Tokens, text: []const u8) ?u32 {
        var low: usize = 0;
        var high = control.tokens.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (std.mem.order(u8, tokens.bytesOf(control.tokens[middle]), text) == .gt) high = middle else low = middle + 1;
        }
        return if (low == 0) null else @intCast(low - 1);
    }
};
