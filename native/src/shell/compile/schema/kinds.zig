//! Which types a value may have at most, as far as a formula tells at once.

const std = @import("std");
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const spelling = @import("engine").schema_spelling;
const Formula = @import("formula.zig").Formula;

/// References that are followed.
const depth_max = 32;

pub fn typesOf(f: *const Formula, node: NodeId) Types {
    return find(f, node, 0);
}

fn find(f: *const Formula, node: NodeId, depth: u32) Types {
    if (depth == depth_max) return .all;
    switch (f.nodes.items[node]) {
        .never => return .{},
        .types => |types| return types,
        .not => |of| return switch (f.nodes.items[of]) {
            .types => |types| @bitCast(bits(.all) & ~bits(types)),
            else => .all,
        },
        .all => |range| {
            var met = bits(.all);
            for (f.children.items[range.from..][0..range.len]) |one| met &= bits(find(f, one, depth + 1));
            return @bitCast(met);
        },
        .any, .one => |range| {
            var met: u8 = 0;
            for (f.children.items[range.from..][0..range.len]) |one| met |= bits(find(f, one, depth + 1));
            return @bitCast(met);
        },
        .conditional => |c| return @bitCast(bits(find(f, c.then, depth + 1)) | bits(find(f, c.otherwise, depth + 1))),
        .listed => |range| {
            var met: Types = .{};
            for (f.values.items[range.from..][0..range.len]) |text| switch (spelling.classOf(text)) {
                .null => met.null = true,
                .boolean => met.boolean = true,
                .number => {
                    met.integer = true;
                    met.fraction = true;
                },
                .string => met.string = true,
                .array, .object => unreachable, // scalars are listed
            };
            return met;
        },
        else => return .all,
    }
}

fn bits(types: Types) u8 {
    return @bitCast(types);
}
