//! The Java API and its bridge to the library.

const std = @import("std");
const library = @import("library.zig");
const targets = @import("targets.zig");

/// The bridge, a shared library that loads `core`.
pub fn addBridge(b: *std.Build, core: std.Build.LazyPath, options: library.Options) library.Shared {
    const bridge = library.addShared(
        b,
        "elizainference_jni",
        b.path("android/jni/bridge.zig"),
        b.path("android/jni/eliza_inference_jni.map"),
        core,
        options,
    );
    bridge.compiled.root_module.addImport("header", library.addHeader(b));
    return bridge;
}

/// `zig build jni`: for the desktop, where Java loads the bridge by its path, with the library beside it.
pub fn addStep(b: *std.Build, core: library.Shared, options: library.Options) void {
    const bridge = addBridge(b, core.import_library orelse core.file, options);
    if (options.target.result.ofmt == .elf) bridge.library.root_module.addRPathSpecial("$ORIGIN");
    const step = b.step("jni", "Build the library and its bridge to Java");
    for ([_]library.Shared{ core, bridge }) |shared| library.install(b, step, shared);
}

/// A jar of the classes, in byte code of Java 8, compiled by the `javac` in the PATH.
pub fn addJar(b: *std.Build, zip: *std.Build.Step.Compile) std.Build.LazyPath {
    const compile = b.addRunFile(b.findProgramLazy(.{ .names = &.{"javac"} }));
    compile.addArgs(&.{ "--release", "8", "-encoding", "UTF-8", "-Xlint:all,-options", "-Werror", "-g:none", "-d" });
    const classes = compile.addOutputDirectoryArg("classes");
    for (sources) |name| compile.addFileArg(b.path(b.fmt("android/java/eliza/inference/{s}.java", .{name})));

    const pack = b.addRunArtifact(zip);
    const jar = pack.addOutputFileArg("classes.jar");
    pack.addArg("META-INF/MANIFEST.MF");
    pack.addFileArg(b.addWriteFiles().add("MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n"));
    for (targets.legal) |name| {
        pack.addArg(b.fmt("META-INF/{s}", .{name}));
        pack.addFileArg(b.path(name));
    }
    pack.addArg("eliza/inference/");
    pack.addDirectoryArg(classes.path(b, "eliza/inference"));
    return jar;
}

const sources = [_][]const u8{
    "CompileOptions", "Constraint",   "ElizaException", "ElizaInference", "Joined",       "JsonSchemaOptions",
    "LarkOptions",    "Matcher",      "Mode",           "Model",          "Native",       "StopReason",
    "Stream",         "StreamConfig", "TokenListener",  "Vocabulary",     "package-info",
};
