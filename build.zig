//! One build: the shared library, its tests, the formatting check.
//!
//!     python -m ziglang build -Doptimize=fast     zig-out/lib/libelizainference.so and the header
//!     python -m ziglang build test                unit tests, header check, conformance cases
//!     python -m ziglang build fmt                 fails if a file is not formatted
const std = @import("std");
const manifest = @import("build.zig.zon");

pub fn build(b: *std.Build) void {
    // Baseline CPU: the library is shipped, so it must not depend on the machine that built it.
    const target = b.standardTargetOptions(.{ .default_target = .{ .cpu_model = .baseline } });
    const optimize = b.standardOptimizeOption(.{});

    const options = b.addOptions();
    options.addOption([]const u8, "version", manifest.version);

    const strip = b.option(bool, "strip", "Leave out debug information (default: yes, except in debug builds)") orelse (optimize != .debug);
    addLibrary(b, target, optimize, strip, options);
    addTests(b, target, optimize, options);

    const formatted = b.addFmt(.{ .paths = &.{ b.path("native"), b.path("tests/native"), b.path("build.zig") }, .check = true });
    b.step("fmt", "Fail if a Zig file is not formatted").dependOn(&formatted.step);
}

fn addLibrary(
    b: *std.Build,
    target: std.Build.ResolvedTarget,
    optimize: std.lang.OptimizeMode,
    strip: bool,
    options: *std.Build.Step.Options,
) void {
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/root.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .pic = true,
        .strip = strip,
        // Windows keeps its tables: without them the bundled mingw sources do not assemble.
        .unwind_tables = if (optimize == .debug or target.result.os.tag == .windows) null else .none,
    });
    module.addOptions("config", options);
    const library = b.addLibrary(.{ .name = "elizainference", .linkage = .dynamic, .root_module = module });
    if (target.result.ofmt == .elf) {
        library.setVersionScript(b.path("native/abi/eliza_inference.map"));
        library.link_z_max_page_size = 16384; // Android devices with 16 KiB pages
        library.link_gc_sections = true;
    }
    library.installHeader(b.path("native/include/eliza_inference.h"), "eliza_inference.h");
    b.installArtifact(library);
}

fn addTests(
    b: *std.Build,
    target: std.Build.ResolvedTarget,
    optimize: std.lang.OptimizeMode,
    options: *std.Build.Step.Options,
) void {
    const header = b.addTranslateC(.{
        .root_source_file = b.path("native/include/eliza_inference.h"),
        .target = target,
        .optimize = optimize,
        .link_libc = false,
    });
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/root.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = &.{.{ .name = "header", .module = header.createModule() }},
    });
    module.addOptions("config", options);
    const filters = b.option([]const []const u8, "test-filter", "Run only the tests whose name contains this") orelse &.{};
    const units = b.addTest(.{ .root_module = module, .filters = filters });

    const cases = b.addOptions();
    cases.addOption([]const u8, "conformance_dir", "tests/conformance");
    const runner = b.createModule(.{
        .root_source_file = b.path("tests/native/conformance.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "eliza", .module = module }},
    });
    runner.addOptions("conformance_options", cases);
    const conformance = b.addTest(.{ .name = "conformance", .root_module = runner, .filters = filters });

    const step = b.step("test", "Run the unit tests and the conformance cases");
    const run_units = b.addRunArtifact(units);
    run_units.has_side_effects = true; // a test that is not run again is not counted
    step.dependOn(&run_units.step);
    const run_cases = b.addRunArtifact(conformance);
    run_cases.setCwd(b.path("."));
    run_cases.has_side_effects = true; // the build does not see that a case file has changed
    step.dependOn(&run_cases.step);
}
