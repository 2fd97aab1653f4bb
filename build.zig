//! One build: the shared library, its tests, a release.
//!
//!     python -m ziglang build -Doptimize=fast     zig-out/lib/libelizainference.so and the header
//!     python -m ziglang build test                unit tests, header check, conformance cases
//!     python -m ziglang build jni                 the library and its bridge to Java
//!     python -m ziglang build wasm                the WebAssembly modules for JavaScript, in zig-out/wasm
//!     python -m ziglang build threads             tests/native/threads_test.c with ThreadSanitizer, in zig-out/bin
//!     python -m ziglang build release             all that is shipped, into zig-out/release
const std = @import("std");
const manifest = @import("build.zig.zon");
const java = @import("native/release/java.zig");
const library = @import("native/release/library.zig");
const release = @import("native/release/release.zig");

pub fn build(b: *std.Build) void {
    // Baseline CPU: the library is shipped, so it must not depend on the machine that built it.
    const target = b.standardTargetOptions(.{ .default_target = .{ .cpu_model = .baseline } });
    const optimize = b.standardOptimizeOption(.{});

    const config: library.Config = .init(b, manifest.version);

    const strip = b.option(bool, "strip", "Leave out debug information (default: yes, except in debug builds)") orelse (optimize != .debug);
    const name = b.option([]const u8, "name", "The library's name, such as " ++ library.second_name ++ " (default: elizainference)");
    const chosen: library.Options = .{
        .target = target,
        .optimize = optimize,
        .strip = strip,
        .config = config,
        .name = name orelse "elizainference",
    };
    const shared = library.add(b, chosen);
    b.getInstallStep().dependOn(&b.addInstallHeaderFile(b.path("native/include/eliza_inference.h"), "eliza_inference.h").step);
    library.install(b, b.getInstallStep(), shared);
    java.addStep(b, shared, chosen);
    const wasm = b.step("wasm", "Build the WebAssembly modules for JavaScript");
    for (std.enums.values(library.Languages)) |languages| {
        const path = b.fmt("wasm/{s}", .{languages.moduleName()});
        wasm.dependOn(&b.addInstallFile(library.addWebAssembly(b, config, languages), path).step);
    }
    const fuzzed = b.addInstallArtifact(library.addFuzzed(b, target, config), .{ .dest_dir = .{ .override = .{ .custom = "fuzz" } } });
    b.step("fuzz", "Build the library for tests/fuzz, into zig-out/fuzz").dependOn(&fuzzed.step);
    addTests(b, target, optimize, config);
    addThreadsTest(b, chosen);
    release.addStep(b, config);
}

/// The library and a program that uses it from many threads, both with ThreadSanitizer.
fn addThreadsTest(b: *std.Build, chosen: library.Options) void {
    var options = chosen;
    options.sanitize_thread = true;
    options.strip = false;
    const program = b.addExecutable(.{ .name = "threads_test", .root_module = b.createModule(.{
        .target = options.target,
        .optimize = options.optimize,
        .link_libc = true,
        .sanitize_thread = true,
    }) });
    program.root_module.addCSourceFile(.{ .file = b.path("tests/native/threads_test.c"), .flags = &.{"-std=c11"} });
    program.root_module.addIncludePath(b.path("native/include"));
    program.root_module.linkLibrary(library.addStatic(b, options));
    b.step("threads", "Build the test of many threads, with ThreadSanitizer").dependOn(&b.addInstallArtifact(program, .{}).step);
}

fn addTests(
    b: *std.Build,
    target: std.Build.ResolvedTarget,
    optimize: std.lang.OptimizeMode,
    config: library.Config,
) void {
    const message = b.createModule(.{
        .root_source_file = b.path("native/src/message.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
    });
    const engine = b.createModule(.{
        .root_source_file = b.path("native/src/engine/engine.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = &.{.{ .name = "message", .module = message }},
    });
    library.addForProcessors(b, engine);
    library.addLanguages(b, engine, .all);
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/shell/shell.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = &.{
            .{ .name = "header", .module = library.addHeader(b) },
            .{ .name = "engine", .module = engine },
            .{ .name = "message", .module = message },
        },
    });
    module.addOptions("config", config.module);
    library.addGrammars(b, module);
    module.addAnonymousImport("abi_manifest", .{ .root_source_file = b.path("native/abi/manifest.json") });
    const filters = b.option([]const []const u8, "test-filter", "Run only the tests whose name contains this") orelse &.{};
    const runner_path = b.option([]const u8, "test-runner", "What runs the tests instead of Zig's own: tests/mutation has one");
    const test_runner: ?std.Build.Step.Compile.TestRunner = if (runner_path) |path| .{ .path = b.path(path), .mode = .simple } else null;
    const messages = b.addTest(.{ .name = "message", .root_module = message, .filters = filters, .test_runner = test_runner });
    const engines = b.addTest(.{ .name = "engine", .root_module = engine, .filters = filters, .test_runner = test_runner });
    const units = b.addTest(.{ .name = "shell", .root_module = module, .filters = filters, .test_runner = test_runner });

    const cases = b.addOptions();
    cases.addOption([]const u8, "conformance_dir", "tests/conformance");
    const runner = b.createModule(.{
        .root_source_file = b.path("tests/native/conformance.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "eliza", .module = module }},
    });
    runner.addOptions("conformance_options", cases);
    const conformance = b.addTest(.{ .name = "conformance", .root_module = runner, .filters = filters, .test_runner = test_runner });

    const step = b.step("test", "Run the unit tests and the conformance cases");
    for ([_]*std.Build.Step.Compile{ messages, engines, units }) |tests| {
        const run = b.addRunArtifact(tests);
        run.has_side_effects = true; // a test that is not run again is not counted
        step.dependOn(&run.step);
    }
    const run_cases = b.addRunArtifact(conformance);
    run_cases.setCwd(b.path("."));
    run_cases.has_side_effects = true; // the build does not see that a case file has changed
    step.dependOn(&run_cases.step);

    const only_build = b.step("tests", "Build the tests into zig-out/tests and run none");
    for ([_]*std.Build.Step.Compile{ messages, engines, units, conformance }) |tests| {
        const install = b.addInstallArtifact(tests, .{ .dest_dir = .{ .override = .{ .custom = "tests" } } });
        only_build.dependOn(&install.step);
    }
}
