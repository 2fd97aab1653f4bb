//! URI references (RFC 3986): resolving one against a base.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;

/// Without a fragment. The base has none.
pub fn resolve(arena: Allocator, base: []const u8, reference: []const u8) Allocator.Error![]const u8 {
    const r = split(withoutFragment(reference));
    if (r.scheme.len > 0) return join(arena, r.scheme, r.authority, try withoutDots(arena, r.path), r.query);
    const b = split(base);
    if (r.authority.len > 0) return join(arena, b.scheme, r.authority, try withoutDots(arena, r.path), r.query);
    if (r.path.len == 0) return join(arena, b.scheme, b.authority, b.path, if (r.query.len > 0) r.query else b.query);
    if (r.path[0] == '/') return join(arena, b.scheme, b.authority, try withoutDots(arena, r.path), r.query);
    return join(arena, b.scheme, b.authority, try withoutDots(arena, try merge(arena, &b, r.path)), r.query);
}

pub fn withoutFragment(uri: []const u8) []const u8 {
    return uri[0 .. std.mem.findScalar(u8, uri, '#') orelse uri.len];
}

/// After the `#`; empty if there is none.
pub fn fragment(uri: []const u8) []const u8 {
    const at = std.mem.findScalar(u8, uri, '#') orelse return "";
    return uri[at + 1 ..];
}

/// With %41 and its like decoded; null if a percent sign is followed by anything else.
pub fn decoded(arena: Allocator, text: []const u8) Allocator.Error!?[]const u8 {
    if (std.mem.findScalar(u8, text, '%') == null) return text;
    var out: ArrayList(u8) = try .initCapacity(arena, text.len);
    var at: usize = 0;
    while (at < text.len) : (at += 1) {
        if (text[at] != '%') {
            out.appendAssumeCapacity(text[at]);
            continue;
        }
        if (at + 2 >= text.len) return null;
        const high = std.fmt.charToDigit(text[at + 1], 16) catch return null;
        const low = std.fmt.charToDigit(text[at + 2], 16) catch return null;
        out.appendAssumeCapacity(high << 4 | low);
        at += 2;
    }
    return out.items;
}

/// Each with the delimiters that tell what it is; empty if it is not there.
const Parts = struct { scheme: []const u8 = "", authority: []const u8 = "", path: []const u8 = "", query: []const u8 = "" };

fn split(uri: []const u8) Parts {
    var parts: Parts = .{};
    var rest = uri;
    const colon = std.mem.findAny(u8, rest, ":/?") orelse rest.len;
    if (colon > 0 and colon < rest.len and rest[colon] == ':') {
        parts.scheme = rest[0 .. colon + 1];
        rest = rest[colon + 1 ..];
    }
    if (std.mem.startsWith(u8, rest, "//")) {
        const end = std.mem.findAnyPos(u8, rest, 2, "/?") orelse rest.len;
        parts.authority = rest[0..end];
        rest = rest[end..];
    }
    const query = std.mem.findScalar(u8, rest, '?') orelse rest.len;
    parts.path = rest[0..query];
    parts.query = rest[query..];
    return parts;
}

fn join(arena: Allocator, scheme: []const u8, authority: []const u8, path: []const u8, query: []const u8) Allocator.Error![]const u8 {
    return std.mem.concat(arena, u8, &.{ scheme, authority, path, query });
}

fn merge(arena: Allocator, base: *const Parts, path: []const u8) Allocator.Error![]const u8 {
    if (base.authority.len > 0 and base.path.len == 0) return std.mem.concat(arena, u8, &.{ "/", path });
    const directory = if (std.mem.findScalarLast(u8, base.path, '/')) |slash| base.path[0 .. slash + 1] else "";
    return std.mem.concat(arena, u8, &.{ directory, path });
}

/// Section 5.2.4.
fn withoutDots(arena: Allocator, path: []const u8) Allocator.Error![]const u8 {
    if (std.mem.find(u8, path, "./") == null and !std.mem.endsWith(u8, path, ".")) return path;
    var out: ArrayList(u8) = try .initCapacity(arena, path.len);
    var segments = std.mem.splitScalar(u8, path, '/');
    while (segments.next()) |segment| {
        const is_last = segments.peek() == null;
        if (std.mem.eql(u8, segment, "..")) {
            // The segment before, of which only the slash at its front stays.
            const kept = std.mem.trimEnd(u8, out.items, "/");
            out.shrinkRetainingCapacity(if (std.mem.findScalarLast(u8, kept, '/')) |slash| slash + 1 else @intFromBool(path[0] == '/'));
        } else if (!std.mem.eql(u8, segment, ".")) {
            out.appendSliceAssumeCapacity(segment);
            if (!is_last) out.appendAssumeCapacity('/');
        }
    }
    return out.items;
}

test "the examples of section 5.4" {
    var arena_state: Arena = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const cases = [_][2][]const u8{
        .{ "g:h", "g:h" },                      .{ "g", "http://a/b/c/g" },
        .{ "./g", "http://a/b/c/g" },           .{ "g/", "http://a/b/c/g/" },
        .{ "/g", "http://a/g" },                .{ "//g", "http://g" },
        .{ "?y", "http://a/b/c/d;p?y" },        .{ "g?y", "http://a/b/c/g?y" },
        .{ "#s", "http://a/b/c/d;p?q" },        .{ "g?y#s", "http://a/b/c/g?y" },
        .{ "", "http://a/b/c/d;p?q" },          .{ ".", "http://a/b/c/" },
        .{ "..", "http://a/b/" },               .{ "../g", "http://a/b/g" },
        .{ "../..", "http://a/" },              .{ "../../g", "http://a/g" },
        .{ "../../../g", "http://a/g" },        .{ "/./g", "http://a/g" },
        .{ "/../g", "http://a/g" },             .{ "g..", "http://a/b/c/g.." },
        .{ "./g/.", "http://a/b/c/g/" },        .{ "g/../h", "http://a/b/c/h" },
        .{ "urn:uuid:1-2#/a", "urn:uuid:1-2" },
    };
    for (cases) |case| try std.testing.expectEqualStrings(case[1], try resolve(arena, "http://a/b/c/d;p?q", case[0]));
    try std.testing.expectEqualStrings("g.json", try resolve(arena, "", "g.json"));
    try std.testing.expectEqualStrings("http://h/g", try resolve(arena, "http://h", "g"));
    try std.testing.expectEqualStrings("a b", (try decoded(arena, "a%20b")).?);
    try std.testing.expectEqual(null, try decoded(arena, "a%2"));
}
