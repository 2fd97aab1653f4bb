//! `zig build release`: the library for every platform.

const std = @import("std");
const bionic = @import("bionic.zig");
const library = @import("library.zig");
const targets = @import("targets.zig");

pub fn addStep(b: *std.Build, version: []const u8, config: *std.Build.Step.Options) void {
    _ = version;
    const step = b.step("release", "Build the library for every platform into release/ of the prefix");
    for (targets.desktop) |platform| {
        const compiled = library.add(b, .{
            .target = targets.resolve(b, platform.triple, "baseline"),
            .optimize = .fast,
            .strip = true,
            .config = config,
        });
        const folder = b.fmt("release/lib/{s}", .{platform.name});
        install(b, step, compiled.getEmittedBin(), b.fmt("{s}/{s}", .{ folder, compiled.out_filename }));
    }
    for (targets.android) |platform| {
        const target = targets.resolve(b, platform.triple, platform.cpu);
        const compiled = library.add(b, .{
            .target = target,
            .optimize = .fast,
            .strip = true,
            .config = config,
            .libc_file = bionic.libcFile(b, target),
        });
        install(b, step, compiled.getEmittedBin(), b.fmt("release/android/jniLibs/{s}/{s}", .{ platform.abi, compiled.out_filename }));
    }
}

fn install(b: *std.Build, step: *std.Build.Step, file: std.Build.LazyPath, to: []const u8) void {
    step.dependOn(&b.addInstallFile(file, to).step);
}
