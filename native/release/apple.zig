//! What Xcode takes: an XCFramework of static libraries for iOS and macOS, with the manifest of a Swift package around
//! it, and one library for both processors of a Mac.

const std = @import("std");
const library = @import("library.zig");
const targets = @import("targets.zig");

/// A file of the release. `triple` is the platform of a library that stands for one.
pub const File = struct { path: []const u8, content: std.Build.LazyPath };

const framework = "apple/CElizaInference.xcframework";
const archive = "libelizainference.a";

/// A library of the framework: one platform, one or two processors.
const Slice = struct {
    name: []const u8,
    platform: []const u8,
    simulator: bool = false,
    targets: []const Target,
};

const Target = struct { architecture: []const u8, triple: []const u8 };

const slices = [_]Slice{
    .{
        .name = "ios-arm64",
        .platform = "ios",
        .targets = &.{.{ .architecture = "arm64", .triple = "aarch64-ios.15.0" }},
    },
    .{
        .name = "ios-arm64_x86_64-simulator",
        .platform = "ios",
        .simulator = true,
        .targets = &.{
            .{ .architecture = "arm64", .triple = "aarch64-ios.15.0-simulator" },
            .{ .architecture = "x86_64", .triple = "x86_64-ios.15.0-simulator" },
        },
    },
    .{
        .name = "macos-arm64_x86_64",
        .platform = "macos",
        .targets = &.{
            .{ .architecture = "arm64", .triple = "aarch64-macos.11.0" },
            .{ .architecture = "x86_64", .triple = "x86_64-macos.11.0" },
        },
    },
};

const module_map =
    \\module CElizaInference {
    \\    header "eliza_inference.h"
    \\    export *
    \\}
    \\
;

const package =
    \\// swift-tools-version:5.5
    \\import PackageDescription
    \\
    \\let package = Package(
    \\    name: "CElizaInference",
    \\    platforms: [.iOS(.v15), .macOS(.v11)],
    \\    products: [.library(name: "CElizaInference", targets: ["CElizaInference"])],
    \\    targets: [.binaryTarget(name: "CElizaInference", path: "CElizaInference.xcframework")]
    \\)
    \\
;

/// The framework and the package. `join` is the program of universal.zig.
pub fn addFramework(b: *std.Build, join: *std.Build.Step.Compile, config: library.Config) []const File {
    const texts = b.addWriteFiles();
    const map = texts.add("module.modulemap", module_map);
    var files: std.ArrayList(File) = .empty;
    append(b, &files, "apple/Package.swift", texts.add("Package.swift", package));
    append(b, &files, framework ++ "/Info.plist", texts.add("Info.plist", information(b)));
    for (targets.legal) |name| append(b, &files, b.fmt("{s}/{s}", .{ framework, name }), b.path(name));
    for (slices) |slice| {
        const folder = b.fmt("{s}/{s}", .{ framework, slice.name });
        append(b, &files, b.fmt("{s}/{s}", .{ folder, archive }), addSlice(b, join, slice, config));
        append(b, &files, b.fmt("{s}/Headers/eliza_inference.h", .{folder}), b.path("native/include/eliza_inference.h"));
        append(b, &files, b.fmt("{s}/Headers/module.modulemap", .{folder}), map);
    }
    return files.items;
}

/// One file of the libraries for Macs with either processor.
pub fn joinMac(b: *std.Build, join: *std.Build.Step.Compile, arm64: std.Build.LazyPath, x86_64: std.Build.LazyPath) std.Build.LazyPath {
    const run = b.addRunArtifact(join);
    const joined = run.addOutputFileArg("libelizainference.dylib");
    run.addArg("arm64");
    run.addFileArg(arm64);
    run.addArg("x86_64");
    run.addFileArg(x86_64);
    return joined;
}

/// What debuggers and crash reports of a Mac look names and lines up in, made by the `dsymutil` in the PATH. `whole` is the library
/// with its symbols; the folder of its build must still be there.
pub fn addSymbols(b: *std.Build, whole: std.Build.LazyPath, comptime name: []const u8) []const File {
    const run = b.addRunFile(b.findProgramLazy(.{ .names = &.{"dsymutil"} }));
    run.addFileArg(whole);
    run.addArg("-o");
    const bundle = run.addOutputDirectoryArg(name ++ ".dSYM");
    var files: std.ArrayList(File) = .empty;
    for ([_][]const u8{ "Contents/Info.plist", "Contents/Resources/DWARF/" ++ name }) |path| {
        append(b, &files, b.fmt(name ++ ".dSYM/{s}", .{path}), bundle.path(b, path));
    }
    return files.items;
}

fn addSlice(b: *std.Build, join: *std.Build.Step.Compile, slice: Slice, config: library.Config) std.Build.LazyPath {
    const run = b.addRunArtifact(join);
    const joined = run.addOutputFileArg(archive);
    for (slice.targets) |target| {
        const made = library.addStatic(b, .{
            .target = targets.resolve(b, target.triple, "baseline"),
            .optimize = .fast,
            .strip = true,
            .config = config,
        });
        if (slice.targets.len == 1) return made.getEmittedBin();
        run.addArg(target.architecture);
        run.addFileArg(made.getEmittedBin());
    }
    return joined;
}

/// Info.plist: which library is for what.
fn information(b: *std.Build) []const u8 {
    var text: []const u8 =
        \\<?xml version="1.0" encoding="UTF-8"?>
        \\<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        \\<plist version="1.0">
        \\<dict>
        \\<key>CFBundlePackageType</key><string>XFWK</string>
        \\<key>XCFrameworkFormatVersion</key><string>1.0</string>
        \\<key>AvailableLibraries</key>
        \\<array>
        \\
    ;
    for (slices) |slice| {
        var architectures: []const u8 = "";
        for (slice.targets) |target| architectures = b.fmt("{s}<string>{s}</string>", .{ architectures, target.architecture });
        text = b.fmt("{s}" ++
            \\<dict>
            \\<key>LibraryIdentifier</key><string>{s}</string>
            \\<key>LibraryPath</key><string>{s}</string>
            \\<key>BinaryPath</key><string>{s}</string>
            \\<key>HeadersPath</key><string>Headers</string>
            \\<key>SupportedPlatform</key><string>{s}</string>
            \\{s}<key>SupportedArchitectures</key><array>{s}</array>
            \\</dict>
            \\
        , .{
            text,
            slice.name,
            archive,
            archive,
            slice.platform,
            if (slice.simulator) "<key>SupportedPlatformVariant</key><string>simulator</string>\n" else "",
            architectures,
        });
    }
    return b.fmt("{s}</array>\n</dict>\n</plist>\n", .{text});
}

fn append(b: *std.Build, files: *std.ArrayList(File), path: []const u8, content: std.Build.LazyPath) void {
    files.append(b.allocator, .{ .path = path, .content = content }) catch @panic("OOM");
}
