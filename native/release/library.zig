//! The shared library for one target, as `zig build` and `zig build release` make it.

const std = @import("std");
const windows = @import("windows.zig");

/// What all libraries of a build share.
pub const Config = struct {
    version: []const u8,
    /// The Zig module `config`: the version.
    module: *std.Build.Step.Options,
    /// The program of identify.zig.
    identify: *std.Build.Step.Compile,

    pub fn init(b: *std.Build, version: []const u8) Config {
        const module = b.addOptions();
        module.addOption([]const u8, "version", version);
        return .{ .version = version, .module = module, .identify = tool(b, "identify") };
    }
};

/// The languages of recognizers that a library has: all; all but grammars; choices, regular expressions and token trees. Tags
/// have parts in those that there are.
pub const Languages = enum {
    all,
    schemas,
    regexes,

    /// The WebAssembly module that has these.
    pub fn moduleName(languages: Languages) []const u8 {
        return switch (languages) {
            .all => "elizainference.wasm",
            inline else => |some| "elizainference-" ++ @tagName(some) ++ ".wasm",
        };
    }
};

/// How to compile a library.
pub const Options = struct {
    target: std.Build.ResolvedTarget,
    optimize: std.lang.OptimizeMode,
    strip: bool,
    config: Config,
    languages: Languages = .all,
    /// Describes the system's C library if Zig does not bring it.
    libc_file: ?std.Build.LazyPath = null,
    /// Of the file, without what the system puts around it.
    name: []const u8 = "elizainference",
    /// For tests: says when two threads use memory at once. The program that links the library is compiled so, too.
    sanitize_thread: bool = false,
};

/// For apps that have another library of the first name. As long as that one: `rename.zig` puts it in its place.
pub const second_name = "elizaconstrain";

/// A shared library, and what debuggers and crash reporters need besides.
pub const Shared = struct {
    /// Linked, but for Windows: `windows.zig` does that.
    library: *std.Build.Step.Compile,
    /// What is shipped.
    file: std.Build.LazyPath,
    /// For Windows, unless it is for debugging: what other programs are linked with.
    import_library: ?std.Build.LazyPath = null,
    /// The same code under the same id with names and lines: an unstripped copy, or a PDB. Null if it is all in `library`.
    symbols: ?std.Build.LazyPath,
    /// What was compiled for it: one object, or the library.
    compiled: *std.Build.Step.Compile,
};

/// The library, from native/src.
pub fn add(b: *std.Build, options: Options) Shared {
    const exports = b.path("native/abi/eliza_inference.map");
    const shared = addShared(b, options.name, b.path("native/src/library.zig"), exports, null, options);
    addParts(b, shared.compiled, options);
    return shared;
}

/// The same as an archive of objects, which becomes a part of an app. The names that it exports are those of the header.
pub fn addStatic(b: *std.Build, options: Options) *std.Build.Step.Compile {
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/library.zig"),
        .target = options.target,
        .optimize = options.optimize,
        .link_libc = true,
        .pic = true,
        .strip = options.strip,
        .unwind_tables = if (options.sanitize_thread) null else unwind_tables,
        .sanitize_thread = options.sanitize_thread,
    });
    const library = b.addLibrary(.{ .name = "elizainference", .linkage = .static, .root_module = module });
    library.bundle_compiler_rt = false; // each app's own linker brings it
    addParts(b, library, options);
    return library;
}

/// The same for fuzzers, with safety checks, and instrumented as LLVM's libFuzzer reads it: counters of edges, compared numbers.
pub fn addFuzzed(b: *std.Build, target: std.Build.ResolvedTarget, config: Config) *std.Build.Step.Compile {
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/library.zig"),
        .target = target,
        .optimize = .safe,
        .link_libc = true,
        .pic = true,
        .fuzz = true,
    });
    const library = b.addLibrary(.{ .name = "elizainference", .linkage = .static, .root_module = module, .use_llvm = true });
    library.bundle_compiler_rt = true;
    addParts(b, library, .{ .target = target, .optimize = .safe, .strip = false, .config = config });
    return library;
}

/// The library without models as a WebAssembly module, for hosts in JavaScript: they give it a clock and its callbacks
/// (`native/src/shell/abi/webassembly.zig`). Every host that has SIMD, which came last, has the other features too.
pub fn addWebAssembly(b: *std.Build, config: Config, languages: Languages) std.Build.LazyPath {
    const target = b.resolveTargetQuery(.{
        .cpu_arch = .wasm32,
        .os_tag = .freestanding,
        .cpu_features_add = std.Target.wasm.featureSet(&.{ .bulk_memory, .nontrapping_fptoint, .sign_ext, .simd128 }),
    });
    const options: Options = .{ .target = target, .optimize = .small, .strip = true, .config = config, .languages = languages };
    const module = b.createModule(.{
        .root_source_file = b.path("native/src/library.zig"),
        .target = target,
        .optimize = options.optimize,
        .single_threaded = true,
        .strip = true,
        .unwind_tables = .none,
    });
    const object = b.addObject(.{ .name = "elizainference", .root_module = module });
    object.bundle_compiler_rt = true;
    addParts(b, object, options);
    // By the linker's own command: the compiler's leaves five bytes for each number of a function or place in memory.
    const link_module = b.addSystemCommand(&.{ b.graph.zig_exe, "wasm-ld", "--compress-relocations", "-O2", "--strip-all" });
    link_module.addArgs(&.{ "--gc-sections", "--no-entry", "--export-dynamic", "--stack-first" });
    link_module.addArgs(&.{ "-z", b.fmt("stack-size={d}", .{webassembly_stack_bytes}), "-o" });
    const linked = link_module.addOutputFileArg(languages.moduleName());
    link_module.addFileArg(object.getEmittedBin());
    return linked;
}

/// As a thread of a batch has.
const webassembly_stack_bytes = 1 << 20;

/// The modules after the root.
fn addParts(b: *std.Build, compiled: *std.Build.Step.Compile, options: Options) void {
    const engine = beside(b, compiled.root_module, "native/src/engine/engine.zig");
    const message = beside(b, compiled.root_module, "native/src/message.zig");
    const shell = beside(b, compiled.root_module, "native/src/shell/shell.zig");
    // The shell is not worth the size of fast code.
    if (options.optimize == .fast) {
        message.optimize = .small;
        shell.optimize = .small;
    }
    engine.addImport("message", message);
    addForProcessors(b, engine);
    addLanguages(b, engine, options.languages);
    shell.addImport("engine", engine);
    shell.addImport("message", message);
    shell.addOptions("config", options.config.module);
    addGrammars(b, shell);
    compiled.root_module.addImport("shell", shell);
}

/// Gives `shell` the grammars that texts may import from.
pub fn addGrammars(b: *std.Build, shell: *std.Build.Module) void {
    for ([_][]const u8{ "lark.lark", "python.lark" }) |name| {
        shell.addAnonymousImport(name, .{ .root_source_file = b.path(b.pathJoin(&.{ "native/grammars", name })) });
    }
}

/// Tells `engine` which languages to have.
pub fn addLanguages(b: *std.Build, engine: *std.Build.Module, languages: Languages) void {
    const built = b.addOptions();
    built.addOption(Languages, "languages", languages);
    engine.addOptions("built", built);
}

/// Gives `engine` what is compiled for the target, and again for processors that are told at run time: loops over bitmaps, and
/// what writes logits.
pub fn addForProcessors(b: *std.Build, engine: *std.Build.Module) void {
    const baseline = beside(b, engine, "native/src/engine/base/blocks.zig");
    engine.addImport("blocks", baseline);
    const target = engine.resolved_target.?;
    if (target.result.cpu.arch != .x86_64) return;
    const avx2 = beside(b, engine, "native/src/engine/base/blocks_avx2.zig");
    avx2.resolved_target = withFeatures(b, target, &.{.avx2});
    avx2.addImport("blocks", baseline);
    engine.addImport("blocks_avx2", avx2);
    const avx512 = beside(b, engine, "native/src/engine/base/exclude_avx512.zig");
    avx512.resolved_target = withFeatures(b, target, &.{ .avx512f, .avx512dq, .avx512bw, .avx512vl });
    engine.addImport("exclude_avx512", avx512);
}

fn withFeatures(b: *std.Build, target: std.Build.ResolvedTarget, features: []const std.Target.x86.Feature) std.Build.ResolvedTarget {
    var query = target.query;
    query.cpu_features_add.addFeatureSet(std.Target.x86.featureSet(features));
    return b.resolveTargetQuery(query);
}

/// The header in Zig. Its types are the same on every platform; it is translated for one whose C library Zig
/// brings.
pub fn addHeader(b: *std.Build) *std.Build.Module {
    const translated = b.addTranslateC(.{
        .root_source_file = b.path("native/include/eliza_inference.h"),
        .target = b.resolveTargetQuery(.{ .cpu_arch = .x86_64, .os_tag = .linux, .abi = .musl }),
        .optimize = .debug,
        .link_libc = true,
    });
    return b.createModule(.{ .root_source_file = translated.getOutput() });
}

/// A module that is compiled as `other` is.
fn beside(b: *std.Build, other: *const std.Build.Module, root_source_file: []const u8) *std.Build.Module {
    return b.createModule(.{
        .root_source_file = b.path(root_source_file),
        .target = other.resolved_target,
        .optimize = other.optimize,
        .link_libc = other.link_libc,
        .single_threaded = other.single_threaded,
        .pic = other.pic,
        .strip = other.strip,
        .unwind_tables = other.unwind_tables,
        .sanitize_thread = other.sanitize_thread,
        .fuzz = other.fuzz,
    });
}

/// Crash reporters walk through frames by these: 72,000 bytes of the library for arm64. Exact at each instruction, as profilers
/// that interrupt anywhere would have them, they are 102,000.
const unwind_tables: std.lang.UnwindTables = .sync;

/// Puts it where `zig build` puts libraries.
pub fn install(b: *std.Build, step: *std.Build.Step, shared: Shared) void {
    const import_library = shared.import_library orelse {
        step.dependOn(&b.addInstallArtifact(shared.library, .{}).step);
        return;
    };
    const name = shared.library.name;
    step.dependOn(&b.addInstallBinFile(shared.file, b.fmt("{s}.dll", .{name})).step);
    step.dependOn(&b.addInstallBinFile(shared.symbols.?, b.fmt("{s}.pdb", .{name})).step);
    step.dependOn(&b.addInstallLibFile(import_library, b.fmt("{s}.lib", .{name})).step);
}

/// A shared library of one Zig file. Exports what the version script lets through. `needed` is another one that it loads.
pub fn addShared(
    b: *std.Build,
    name: []const u8,
    root_source_file: std.Build.LazyPath,
    version_script: std.Build.LazyPath,
    needed: ?std.Build.LazyPath,
    options: Options,
) Shared {
    const module = b.createModule(.{
        .root_source_file = root_source_file,
        .target = options.target,
        .optimize = options.optimize,
        .link_libc = true,
        .pic = true,
        .strip = false,
        .unwind_tables = if (options.optimize == .debug) null else unwind_tables,
    });
    module.addOptions("config", options.config.module);
    const is_windows = options.target.result.os.tag == .windows;
    if (is_windows and options.optimize != .debug) {
        const library = b.addLibrary(.{ .name = name, .linkage = .dynamic, .root_module = module });
        const dll = windows.link(b, library, options.config.version, needed);
        return .{ .library = library, .file = dll.file, .import_library = dll.import_library, .symbols = dll.symbols, .compiled = library };
    }
    if (is_windows or !options.strip) {
        const library = link(b, name, module, version_script, needed, options);
        return .{ .library = library, .file = library.getEmittedBin(), .symbols = null, .compiled = library };
    }
    const object = b.addObject(.{ .name = name, .root_module = module });
    var linked: [2]*std.Build.Step.Compile = undefined;
    for (&linked, [_]bool{ true, false }) |*library, strip| {
        const objects = b.createModule(.{
            .target = options.target,
            .optimize = options.optimize,
            .link_libc = true,
            .pic = true,
            .strip = strip,
        });
        objects.addObjectFile(object.getEmittedBin());
        library.* = link(b, name, objects, version_script, needed, options);
    }
    const identify = b.addRunArtifact(options.config.identify);
    for (linked) |library| identify.addFileArg(library.getEmittedBin());
    const file = linked[0].getEmittedBin();
    return .{ .library = linked[0], .file = file, .symbols = identify.addOutputFileArg(linked[0].out_filename), .compiled = object };
}

fn link(
    b: *std.Build,
    name: []const u8,
    module: *std.Build.Module,
    version_script: std.Build.LazyPath,
    needed: ?std.Build.LazyPath,
    options: Options,
) *std.Build.Step.Compile {
    // By file: a dependency of the build would leave the path of its cache in the library.
    if (needed) |file| module.addObjectFile(file);
    const library = b.addLibrary(.{ .name = name, .linkage = .dynamic, .root_module = module });
    if (options.target.result.ofmt == .elf) {
        library.setVersionScript(version_script);
        library.link_z_max_page_size = 16384; // Android devices with 16 KiB pages
        library.link_gc_sections = true;
        library.link_z_defs = true; // a name that the C library lacks fails here, not on the device
        if (options.optimize != .debug) {
            library.build_id = .sha1;
            library.link_eh_frame_hdr = true;
            library.compress_debug_sections = .zlib;
        }
    }
    if (options.libc_file) |file| library.setLibCFile(file);
    return library;
}

/// A program of this folder, which a build runs.
pub fn tool(b: *std.Build, comptime name: []const u8) *std.Build.Step.Compile {
    const module = b.createModule(.{ .root_source_file = b.path("native/release/" ++ name ++ ".zig"), .target = b.graph.host });
    return b.addExecutable(.{ .name = name, .root_module = module });
}
