//! `zig build release`: the library for every platform, the Android archive, and a manifest of it all.
//!
//!     release/manifest.json                       path, size, SHA-256 of each file; target and exports of a library
//!     release/SHA256SUMS                          for `sha256sum --check`
//!     release/LICENSE, release/THIRD_PARTY.md     the licences
//!     release/sbom.cdx.json                       what is in the files of others' work, as CycloneDX
//!     release/include/                            the header
//!     release/lib/<platform>/                     desktop, by the platform's name in npm; pkgconfig/ for Unix
//!     release/lib/darwin-universal/               for Macs with either processor
//!     release/wasm/                               the WebAssembly modules for JavaScript: with all languages, and smaller
//!     release/lib/cmake/elizainference/           for find_package
//!     release/apple/                              an XCFramework for iOS and macOS, as a Swift package
//!     release/android/jniLibs/<abi>/              the library and the bridge to Java
//!     release/android/second-name/<abi>/          the library for apps that have another one of its name
//!     release/android/elizainference-<version>.*  the Java classes (.jar), all of Android (.aar)
//!     release/maven/                              the Android archive as a Maven repository has it
//!     release/symbols/<platform>/                 each library under the same id with names and lines; android/<abi>/ too

const std = @import("std");
const aar = @import("aar.zig");
const apple = @import("apple.zig");
const bionic = @import("bionic.zig");
const java = @import("java.zig");
const library = @import("library.zig");
const sbom = @import("sbom.zig");
const targets = @import("targets.zig");

/// The step `release`.
pub fn addStep(b: *std.Build, config: library.Config) void {
    const with_java = b.option(bool, "java", "Release the Java classes, too, which takes a javac (default: yes)") orelse true;
    const with_dsym = b.option(bool, "dsym", "Release symbols for macOS, too, which takes LLVM's dsymutil (default: yes)") orelse true;
    const version = config.version;
    var files: Files = .init(b, version);
    for (targets.legal) |name| files.add(name, null, b.path(name));
    files.add("sbom.cdx.json", null, b.addWriteFiles().add("sbom.cdx.json", sbom.text(b, version)));
    files.add("include/eliza_inference.h", null, b.path("native/include/eliza_inference.h"));
    addDesktop(b, &files, config, with_dsym);
    for (std.enums.values(library.Languages)) |languages| {
        files.add(b.fmt("wasm/{s}", .{languages.moduleName()}), null, library.addWebAssembly(b, config, languages));
    }
    addCmake(b, &files, version);
    addAndroid(b, &files, config, with_java);
    files.finish();
}

fn addDesktop(b: *std.Build, files: *Files, config: library.Config, with_dsym: bool) void {
    const join = library.tool(b, "universal");
    var macs: std.EnumMap(std.Target.Cpu.Arch, std.Build.LazyPath) = .init(.{});
    for (targets.desktop) |platform| {
        const shared = library.add(b, shipped(b, platform.triple, "baseline", config, null));
        const core = shared.library;
        const folder = b.fmt("lib/{s}", .{platform.name});
        files.add(b.fmt("{s}/{s}", .{ folder, core.out_filename }), platform.triple, shared.file);
        const target = core.rootModuleTarget();
        if (target.os.tag != .macos or with_dsym) addSymbols(b, files, platform.name, shared);
        if (shared.import_library) |file| {
            files.add(b.fmt("{s}/elizainference.lib", .{folder}), null, file);
        } else addPkgConfig(b, files, platform.name, config.version);
        if (target.os.tag == .macos) macs.put(target.cpu.arch, shared.file);
    }
    const universal = apple.joinMac(b, join, macs.get(.aarch64).?, macs.get(.x86_64).?);
    files.add("lib/darwin-universal/libelizainference.dylib", null, universal);
    addPkgConfig(b, files, "darwin-universal", config.version);
    for (apple.addFramework(b, join, config)) |file| files.add(file.path, null, file.content);
}

fn addSymbols(b: *std.Build, files: *Files, platform: []const u8, shared: library.Shared) void {
    const found: []const apple.File = switch (shared.library.rootModuleTarget().os.tag) {
        .macos => apple.addSymbols(b, shared.symbols.?, "libelizainference.dylib"),
        .windows => &.{.{ .path = "elizainference.pdb", .content = shared.symbols.? }},
        else => &.{.{ .path = shared.library.out_filename, .content = shared.symbols.? }},
    };
    for (found) |file| files.add(b.fmt("symbols/{s}/{s}", .{ platform, file.path }), null, file.content);
}

/// For pkg-config, with `PKG_CONFIG_PATH` at the folder. The release may lie anywhere.
fn addPkgConfig(b: *std.Build, files: *Files, platform: []const u8, version: []const u8) void {
    const text = b.fmt(
        \\prefix=${{pcfiledir}}/../../..
        \\libdir=${{prefix}}/lib/{s}
        \\includedir=${{prefix}}/include
        \\
        \\Name: elizainference
        \\Description: Constrained generation for language models
        \\Version: {s}
        \\Libs: -L${{libdir}} -lelizainference
        \\Cflags: -I${{includedir}}
        \\
    , .{ platform, version });
    const path = b.fmt("lib/{s}/pkgconfig/elizainference.pc", .{platform});
    files.add(path, null, b.addWriteFiles().add("elizainference.pc", text));
}

fn addAndroid(b: *std.Build, files: *Files, config: library.Config, with_java: bool) void {
    const version = config.version;
    const zip = library.tool(b, "zip");
    const renaming = library.tool(b, "rename");
    var libraries: [targets.android.len]aar.Libraries = undefined;
    for (targets.android, &libraries) |platform, *made| {
        const target = targets.resolve(b, platform.triple, platform.cpu);
        const options = shipped(b, platform.triple, platform.cpu, config, bionic.libcFile(b, target));
        const core = library.add(b, options);
        const bridge = java.addBridge(b, core.file, options);
        made.* = .{ .abi = platform.abi, .core = core.file, .bridge = bridge.file };
        for ([_]library.Shared{ core, bridge }) |shared| {
            const path = b.fmt("android/jniLibs/{s}/{s}", .{ platform.abi, shared.library.out_filename });
            files.add(path, platform.triple, shared.file);
            addSymbols(b, files, b.fmt("android/{s}", .{platform.abi}), shared);
        }
        const rename = b.addRunArtifact(renaming);
        rename.addFileArg(made.core);
        const second = "lib" ++ library.second_name ++ ".so";
        const renamed = rename.addOutputFileArg(second);
        rename.addArgs(&.{ "libelizainference.so", second });
        files.add(b.fmt("android/second-name/{s}/" ++ second, .{platform.abi}), platform.triple, renamed);
    }
    const jar: ?std.Build.LazyPath = if (with_java) java.addJar(b, zip) else null;
    if (jar) |classes| files.add(b.fmt("android/elizainference-{s}.jar", .{version}), null, classes);
    const archive = aar.add(b, zip, version, &libraries, jar);
    files.add(b.fmt("android/elizainference-{s}.aar", .{version}), null, archive);
    const in_maven = b.fmt("maven/eliza/inference/elizainference/{0s}/elizainference-{0s}", .{version});
    files.add(b.fmt("{s}.aar", .{in_maven}), null, archive);
    files.add(b.fmt("{s}.pom", .{in_maven}), null, b.addWriteFiles().add("pom.xml", b.fmt(
        \\<?xml version="1.0" encoding="UTF-8"?>
        \\<project xmlns="http://maven.apache.org/POM/4.0.0">
        \\  <modelVersion>4.0.0</modelVersion>
        \\  <groupId>eliza.inference</groupId>
        \\  <artifactId>elizainference</artifactId>
        \\  <version>{s}</version>
        \\  <packaging>aar</packaging>
        \\</project>
        \\
    , .{version})));
}

fn addCmake(b: *std.Build, files: *Files, version: []const u8) void {
    const folder = "lib/cmake/elizainference/elizainference-config";
    files.add(folder ++ ".cmake", null, b.path("android/cmake/elizainference-config.cmake"));
    files.add(folder ++ "-version.cmake", null, b.addWriteFiles().add("version.cmake", b.fmt(
        \\set(PACKAGE_VERSION "{s}")
        \\if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
        \\  set(PACKAGE_VERSION_EXACT TRUE)
        \\endif()
        \\if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
        \\  set(PACKAGE_VERSION_COMPATIBLE TRUE)
        \\endif()
        \\
    , .{version})));
}

fn shipped(
    b: *std.Build,
    triple: []const u8,
    cpu: []const u8,
    config: library.Config,
    libc_file: ?std.Build.LazyPath,
) library.Options {
    return .{
        .target = targets.resolve(b, triple, cpu),
        .optimize = .fast,
        .strip = true,
        .config = config,
        .libc_file = libc_file,
    };
}

/// The files that are installed and listed in the manifest.
const Files = struct {
    b: *std.Build,
    step: *std.Build.Step,
    manifest: *std.Build.Step.Run,
    manifest_file: std.Build.LazyPath,
    sums_file: std.Build.LazyPath,

    fn init(b: *std.Build, version: []const u8) Files {
        const manifest = b.addRunArtifact(library.tool(b, "manifest"));
        const output = manifest.addOutputFileArg("manifest.json");
        const sums = manifest.addOutputFileArg("SHA256SUMS");
        manifest.addArg(version);
        manifest.addFileArg(b.path("native/abi/manifest.json"));
        return .{
            .b = b,
            .step = b.step("release", "Build everything that is shipped into release/ of the prefix"),
            .manifest = manifest,
            .manifest_file = output,
            .sums_file = sums,
        };
    }

    /// `path` is that in the release, `triple` the platform of a library.
    fn add(files: *Files, path: []const u8, triple: ?[]const u8, file: std.Build.LazyPath) void {
        files.install(path, file);
        files.manifest.addArgs(&.{ path, triple orelse "-" });
        files.manifest.addFileArg(file);
    }

    fn finish(files: *Files) void {
        files.install("manifest.json", files.manifest_file);
        files.install("SHA256SUMS", files.sums_file);
    }

    fn install(files: *Files, path: []const u8, file: std.Build.LazyPath) void {
        files.step.dependOn(&files.b.addInstallFile(file, files.b.fmt("release/{s}", .{path})).step);
    }
};
