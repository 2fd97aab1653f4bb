//! The bill of materials of a release, as CycloneDX 1.6 has it: what THIRD_PARTY.md lists, with versions.

const std = @import("std");
const builtin = @import("builtin");

const Component = struct {
    type: []const u8 = "library",
    name: []const u8,
    version: []const u8,
    description: []const u8,
    licenses: []const License,
    purl: ?[]const u8 = null,
    @"bom-ref": []const u8,
};

const License = struct { license: struct { id: []const u8 } };

fn licensed(comptime id: []const u8) []const License {
    return &.{.{ .license = .{ .id = id } }};
}

const zig = builtin.zig_version_string;

const components = [_]Component{
    .{
        .name = "Zig's standard library and compiler runtime",
        .version = zig,
        .description = "in every native library",
        .licenses = licensed("MIT"),
        .purl = "pkg:pypi/ziglang@" ++ zig,
        .@"bom-ref" = "zig",
    },
    .{
        .name = "mingw-w64's start-up code",
        .version = "as in Zig " ++ zig,
        .description = "in the libraries for Windows",
        .licenses = licensed("ZPL-2.1"),
        .@"bom-ref" = "mingw-w64",
    },
    .{
        .name = "@msgpack/msgpack",
        .version = "3.1.3",
        .description = "in the npm package",
        .licenses = licensed("ISC"),
        .purl = "pkg:npm/%40msgpack/msgpack@3.1.3",
        .@"bom-ref" = "msgpack",
    },
    .{
        .type = "data",
        .name = "Unicode Character Database",
        .version = "18.0.0",
        .description = "tables made from it, in every native library",
        .licenses = licensed("Unicode-3.0"),
        .@"bom-ref" = "unicode",
    },
    .{
        .type = "data",
        .name = "the meta-schemas of JSON Schema",
        .version = "2020-12",
        .description = "without annotations, and those of older drafts, in every native library",
        .licenses = licensed("BSD-3-Clause"),
        .@"bom-ref" = "json-schema",
    },
};

/// The text of the file.
pub fn text(b: *std.Build, version: []const u8) []const u8 {
    const project: Component = .{
        .name = "libelizainference",
        .version = version,
        .description = "Constrained generation for language models",
        .licenses = licensed("MIT"),
        .@"bom-ref" = "libelizainference",
    };
    var refs: [components.len][]const u8 = undefined;
    for (components, &refs) |component, *ref| ref.* = component.@"bom-ref";
    const document = .{
        .bomFormat = "CycloneDX",
        .specVersion = "1.6",
        .version = 1,
        .metadata = .{ .component = project },
        .components = components,
        .dependencies = .{.{ .ref = project.@"bom-ref", .dependsOn = refs }},
    };
    const json = std.json.Stringify.valueAlloc(b.allocator, document, .{ .whitespace = .indent_2, .emit_null_optional_fields = false });
    return b.fmt("{s}\n", .{json catch @panic("OOM")});
}
