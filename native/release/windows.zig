//! A DLL with control-flow guard: Windows ends the process when it calls, through a pointer, what is no function that it may call so.
//!
//! The compiler has no option for that, but brings what has: its C compiler, which can take the library's bitcode along with the C file
//! that it compiles, and its linker, which reads options from the environment, as Microsoft's does.

const std = @import("std");

pub const Dll = struct {
    file: std.Build.LazyPath,
    import_library: std.Build.LazyPath,
    symbols: std.Build.LazyPath,
};

/// Of a library that is compiled and not linked. `needed` is another one that it loads.
pub fn link(b: *std.Build, library: *std.Build.Step.Compile, version: []const u8, needed: ?std.Build.LazyPath) Dll {
    const module = library.root_module;
    const name = library.name;
    const run = b.addSystemCommand(&.{ b.graph.zig_exe, "build-lib", "-dynamic", "-lc", "--name", name });
    run.addArgs(&.{ "-target", triple(b, library), "-mcpu", "baseline", b.fmt("-O{t}", .{module.optimize.?}), "-fno-strip" });
    run.addFileArg(guarded(b, library));
    run.addFileArg(resources(b, name, version));
    if (needed) |file| run.addFileArg(file);
    const file = run.addPrefixedOutputFileArg("-femit-bin=", b.fmt("{s}.dll", .{name}));
    const import_library = run.addPrefixedOutputFileArg("-femit-implib=", b.fmt("{s}.lib", .{name}));
    // And nothing else of the environment: what the linker is run with is in the symbols, which give the library its id.
    run.clearEnvironment();
    run.setEnvironmentVariable("LINK", "-guard:cf");
    run.addArg("--cache-dir");
    run.addDirectoryArg(.cache_root);
    run.addArg("--global-cache-dir");
    run.addDirectoryArg(.{ .relative = .{ .base = .global_cache } });
    return .{ .file = file, .import_library = import_library, .symbols = file.dirname().path(b, b.fmt("{s}.pdb", .{name})) };
}

/// One object of the library and its load configuration, with checks before calls and a list of what they may call.
fn guarded(b: *std.Build, library: *std.Build.Step.Compile) std.Build.LazyPath {
    const object = b.fmt("{s}.obj", .{library.name});
    const run = b.addSystemCommand(&.{ b.graph.zig_exe, "cc", "-target", triple(b, library), "-mguard=cf" });
    run.addArgs(&.{ "-O3", "-g0", "-Xclang", "-fmerge-functions" }); // as Zig compiles its own
    run.addArgs(&.{ "-Xclang", b.fmt("-object-file-name={s}", .{object}) }); // or it would be named at random
    run.addArgs(&.{ "-Xclang", "-mlink-bitcode-file", "-Xclang" });
    run.addFileArg(library.getEmittedLlvmBc());
    run.addArg("-c");
    run.addFileArg(b.path("native/release/load_configuration.c"));
    run.addArg("-o");
    return run.addOutputFileArg(object);
}

fn triple(b: *std.Build, library: *std.Build.Step.Compile) []const u8 {
    return library.root_module.resolved_target.?.query.zigTriple(b.allocator) catch @panic("OOM");
}

/// What Windows shows of a file.
fn resources(b: *std.Build, name: []const u8, version: []const u8) std.Build.LazyPath {
    const run = b.addSystemCommand(&.{ b.graph.zig_exe, "rc", "/:auto-includes", "none", "/fo" });
    const compiled = run.addOutputFileArg("version.res");
    run.addFileArg(b.addWriteFiles().add("version.rc", versionText(b, name, version)));
    return compiled;
}

fn versionText(b: *std.Build, name: []const u8, version: []const u8) []const u8 {
    const number = std.SemanticVersion.parse(version) catch std.debug.panic("{s} is no version", .{version});
    return b.fmt(
        \\1 VERSIONINFO
        \\FILEVERSION {0d},{1d},{2d},0
        \\PRODUCTVERSION {0d},{1d},{2d},0
        \\FILETYPE 2 // a DLL
        \\BEGIN
        \\    BLOCK "StringFileInfo"
        \\    BEGIN
        \\        BLOCK "040904B0" // English, Unicode
        \\        BEGIN
        \\            VALUE "FileDescription", "Constrained generation for language models"
        \\            VALUE "FileVersion", "{3s}"
        \\            VALUE "InternalName", "{4s}"
        \\            VALUE "LegalCopyright", "MIT licence"
        \\            VALUE "OriginalFilename", "{4s}.dll"
        \\            VALUE "ProductName", "libelizainference"
        \\            VALUE "ProductVersion", "{3s}"
        \\        END
        \\    END
        \\    BLOCK "VarFileInfo"
        \\    BEGIN
        \\        VALUE "Translation", 0x409, 1200
        \\    END
        \\END
        \\
    , .{ number.major, number.minor, number.patch, version, name });
}
