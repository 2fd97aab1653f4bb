//! A JSON Schema as a formula over assertions, in flat arrays: what shell/compile/schema makes of a document,
//! and what the machine walks along a text.
//!
//! A node says something about a value. An assertion about strings holds for every value that is none, and so
//! for the other types, as in JSON Schema. References are resolved: a node may lead back to itself, always
//! through a member or an item.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("../base/arena.zig").Arena;
const SharedDfa = @import("shared_dfa.zig").SharedDfa;
const Decimal = @import("decimal.zig").Decimal;
const Form = @import("form.zig").Form;

pub const NodeId = u32;

/// A run of elements in one of the arrays.
pub const Range = extern struct {
    from: u32 = 0,
    len: u32 = 0,
};

/// What a JSON value is. A number is an integer if its value is one.
pub const Types = packed struct(u8) {
    null: bool = false,
    boolean: bool = false,
    integer: bool = false,
    fraction: bool = false,
    string: bool = false,
    array: bool = false,
    object: bool = false,
    _: u1 = 0,

    pub const all: Types = @bitCast(@as(u8, 0x7f));
    pub const number: Types = .{ .integer = true, .fraction = true };

    /// Of a scalar, by its canonical text.
    pub fn of(text: []const u8) Types {
        return switch (text[0]) {
            'n' => .{ .null = true },
            't', 'f' => .{ .boolean = true },
            '"' => .{ .string = true },
            else => if (std.mem.findScalar(u8, text, '.') == null) .{ .integer = true } else .{ .fraction = true },
        };
    }

    pub fn ofAny(texts: []const []const u8) Types {
        var types: Types = .{};
        for (texts) |text| types = types.unionWith(.of(text));
        return types;
    }

    pub fn isEmpty(types: Types) bool {
        return types == @as(Types, .{});
    }

    pub fn unionWith(x: Types, y: Types) Types {
        return @bitCast(@as(u8, @bitCast(x)) | @as(u8, @bitCast(y)));
    }

    pub fn intersectWith(x: Types, y: Types) Types {
        return @bitCast(@as(u8, @bitCast(x)) & @as(u8, @bitCast(y)));
    }
};

/// In place of an upper bound.
pub const unbounded = std.math.maxInt(u32);

/// Both are inclusive.
pub const Bounds = extern struct {
    min: u32 = 0,
    max: u32 = unbounded,
};

pub const Node = union(enum) {
    always,
    never,
    /// Of `children`: all, at least one, exactly one of them.
    all: Range,
    any: Range,
    one: Range,
    not: NodeId,
    conditional: struct { when: NodeId, then: NodeId, otherwise: NodeId },

    types: Types,
    /// Of `values`: the value is one of these, which are ordered by their text.
    listed: Range,

    /// In characters.
    string_length: Bounds,
    /// Of `dfas`, over the UTF-8 of the content.
    string_matches: u32,

    /// Of `limits`.
    number_limit: u32,
    /// Of `decimals`: the value is a multiple of it.
    number_multiple: u32,

    array_length: Bounds,
    array_items: struct {
        /// Of `children`: for the first items.
        prefix: Range,
        rest: NodeId,
    },
    array_contains: struct { item: NodeId, count: Bounds },
    array_unique,

    object_count: Bounds,
    /// Of `keys`: there is a member with it.
    object_has: u32,
    object_names: NodeId,
    object_members: struct {
        /// Of `members`: by key, in the order of the document.
        named: Range,
        /// Of `matching`: by what matches the key.
        matching: Range,
        /// For all other members.
        rest: NodeId,
    },
};

pub const Member = extern struct { key: u32, value: NodeId };
pub const Matching = extern struct { dfa: u32, value: NodeId };

pub const Limit = struct {
    side: enum { at_least, above, at_most, below },
    decimal: u32,
};

/// What a schema was compiled from: to open its file is to compile it again.
pub const Source = struct {
    text: []const u8,
    /// As the compiler packs them.
    options: u32,
    /// The caller's documents that it used: of each its URI and its text.
    documents: []const u8,
    /// Where each URI and each text ends.
    ends: []const u64,
};

pub const Schema = struct {
    /// Holds all that follows.
    arena: Arena,
    source: Source,
    /// How documents are written.
    form: Form,
    nodes: []const Node,
    root: NodeId,
    children: []const NodeId,
    members: []const Member,
    matching: []const Matching,
    limits: []const Limit,
    decimals: []const Decimal,
    /// Content of each key, once each: UTF-8 in which surrogates may stand alone.
    keys: []const []const u8,
    /// JSON texts of scalars, canonical; the values of a node are different, ascending by bytes.
    values: []const []const u8,
    /// A reference to each.
    dfas: []const *SharedDfa,

    pub fn deinit(s: *Schema, gpa: Allocator) void {
        for (s.dfas) |one| one.release(gpa);
        var arena = s.arena;
        arena.deinit();
        gpa.destroy(s);
    }
};
