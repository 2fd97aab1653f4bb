//! What a schema in a grammar says of the documents' white space, and the like, under "x-guidance", as llguidance has it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const Space = @import("engine").json_space.Policy;
const Order = @import("engine").json_form.Order;
const Style = @import("../parameters/style.zig").Style;
const json = @import("../schema/json.zig");
const Options = @import("../schema/compile.zig").Options;
const escape_letters = @import("../schema/spelled.zig").escape_letters;

const key = "x-guidance";

pub const Guidance = struct {
    options: Options = .{},
    /// Members that have no effect here.
    unsupported: []const []const u8 = &.{},
};

/// Of a schema, which need not be one. ELIZA_ERR_GRAMMAR: it is no JSON, or an option has no such value.
pub fn read(arena: Allocator, schema_text: []const u8, budget: *Budget, diag: *Diagnostic) (Allocator.Error || diagnostic.Error)!Guidance {
    if (std.mem.find(u8, schema_text, key) == null) return .{};
    var n_objects: u32 = 0;
    const schema = try json.read(arena, arena, schema_text, &n_objects, budget, diag);
    const found = if (schema == .object) schema.object.get(key) else null;
    const members = if (found != null and found.?.* == .object) found.?.object.members() else return .{};
    var guidance: Guidance = .{};
    var unsupported: ArrayList([]const u8) = .empty;
    var flexible: ?bool = null;
    var separators: [2][]const u8 = .{ ",", ":" };
    for (members) |member| {
        const Known = enum {
            whitespace_flexible,
            item_separator,
            key_separator,
            lenient,
            coerce_one_of,
            json_allow_general_unicode_escapes,
            json_allowed_escapes,
            order,
            style,
            excludes,
            whitespace_max,
        };
        const known = std.meta.stringToEnum(Known, member.key) orelse {
            try unsupported.append(arena, member.key);
            continue;
        };
        const options = &guidance.options;
        switch (known) {
            .whitespace_flexible => flexible = try flag(member, diag),
            .item_separator, .key_separator => {
                separators[@intFromBool(known == .key_separator)] = try text(member, diag);
                flexible = flexible orelse false;
            },
            .whitespace_max => options.form.space_max = try shortCount(member, diag),
            .lenient => options.lenient = try flag(member, diag),
            // `oneOf` is exact, and free strings are spelled in any way.
            .coerce_one_of => _ = try flag(member, diag),
            .json_allow_general_unicode_escapes => if (!try flag(member, diag)) try unsupported.append(arena, member.key),
            .json_allowed_escapes => options.refused_escapes = try refusedBeside(try text(member, diag), diag),
            .excludes => options.excludes = try areTexts(member.value, diag),
            .order => options.form.order = try oneOf(Order, member, diag),
            .style => options.style = if (std.mem.eql(u8, try text(member, diag), "json")) null else try oneOf(Style, member, diag),
        }
    }
    guidance.unsupported = unsupported.items;
    if (guidance.options.form.space_max != null) return guidance;
    if (flexible) |is| guidance.options.form.space = if (is) .any else try spaceOf(separators, diag);
    return guidance;
}

fn flag(member: json.Member, diag: *Diagnostic) diagnostic.Error!bool {
    if (member.value == .boolean) return member.value.boolean;
    return diag.fail(.grammar, "/{s}/{s}: expected true or false", .{ key, member.key });
}

fn text(member: json.Member, diag: *Diagnostic) diagnostic.Error![]const u8 {
    if (member.value == .string) return member.value.string;
    return diag.fail(.grammar, "/{s}/{s}: expected a string", .{ key, member.key });
}

/// The name of a value of an enumeration.
fn oneOf(comptime T: type, member: json.Member, diag: *Diagnostic) diagnostic.Error!T {
    const name = try text(member, diag);
    return std.meta.stringToEnum(T, name) orelse
        diag.fail(.grammar, "/{s}/{s}: {f} is not known", .{ key, member.key, quoted(name) });
}

/// Of `excludes`: whether there is any. The compiler reads them again.
fn areTexts(value: json.Value, diag: *Diagnostic) diagnostic.Error!bool {
    const texts: []const json.Value = if (value == .array) value.array else &.{value};
    for (texts) |one| if (value != .array or one != .string or one.string.len == 0 or !std.unicode.utf8ValidateSlice(one.string)) {
        return diag.fail(.grammar, "/{s}/excludes: expected an array of texts that are not empty", .{key});
    };
    return texts.len > 0;
}

fn shortCount(member: json.Member, diag: *Diagnostic) diagnostic.Error!u8 {
    const digits = if (member.value == .number) member.value.number else "";
    return std.fmt.parseInt(u8, digits, 10) catch
        diag.fail(.grammar, "/{s}/{s}: expected a whole number up to 255", .{ key, member.key });
}

/// The escapes that are not among some.
fn refusedBeside(allowed: []const u8, diag: *Diagnostic) diagnostic.Error!u8 {
    var refused: u8 = std.math.maxInt(u8);
    for (allowed) |letter| {
        const number = std.mem.findScalar(u8, escape_letters, letter) orelse
            return diag.fail(.grammar, "/{s}/json_allowed_escapes: {f} has others than {s}", .{ key, quoted(allowed), escape_letters });
        refused &= ~(@as(u8, 1) << @intCast(number));
    }
    return refused;
}

fn spaceOf(separators: [2][]const u8, diag: *Diagnostic) diagnostic.Error!Space {
    for ([_]Space{ .compact, .spaced }, [_][2][]const u8{ .{ ",", ":" }, .{ ", ", ": " } }) |space, both| {
        if (std.mem.eql(u8, separators[0], both[0]) and std.mem.eql(u8, separators[1], both[1])) return space;
    }
    return diag.fail(.grammar, "/{s}: the separators {f} and {f} are unsupported", .{ key, quoted(separators[0]), quoted(separators[1]) });
}

test "white space as llguidance's options have it" {
    const Arena = @import("engine").arena.Arena;
    const cases = [_]struct { []const u8, Space }{
        .{ "{}", .loose },
        .{ "{\"x-guidance\": {}}", .loose },
        .{ "{\"x-guidance\": {\"whitespace_flexible\": true}}", .any },
        .{ "{\"x-guidance\": {\"whitespace_flexible\": false}}", .compact },
        .{ "{\"x-guidance\": {\"item_separator\": \", \", \"key_separator\": \": \"}}", .spaced },
    };
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    for (cases) |case| {
        const guidance = try read(arena.allocator(), case[0], &budget, &diag);
        try std.testing.expectEqual(case[1], guidance.options.form.space);
    }
    const all = "{\"x-guidance\": {\"json_allowed_escapes\": \"nrbtf\\\\\\\"u\"}}";
    try std.testing.expectEqual(0, (try read(arena.allocator(), all, &budget, &diag)).options.refused_escapes);
    const some = "{\"x-guidance\": {\"json_allowed_escapes\": \"\\\"\\\\\"}}";
    try std.testing.expectEqual(0xfc, (try read(arena.allocator(), some, &budget, &diag)).options.refused_escapes);
    const other = "{\"x-guidance\": {\"item_separator\": \";\"}}";
    try std.testing.expectError(error.Failed, read(arena.allocator(), other, &budget, &diag));
    try std.testing.expectEqualStrings("/x-guidance: the separators \";\" and \":\" are unsupported", diag.message());
}
