//! The Android archive: the Java API with the native libraries for an app, and the library with its header for
//! the app's own native code (Prefab).

const std = @import("std");
const targets = @import("targets.zig");

/// What one ABI has, by Android's name of the ABI.
pub const Libraries = struct { abi: []const u8, core: std.Build.LazyPath, bridge: std.Build.LazyPath };

/// Without `classes` there are the native libraries alone.
pub fn add(
    b: *std.Build,
    zip: *std.Build.Step.Compile,
    version: []const u8,
    libraries: []const Libraries,
    classes: ?std.Build.LazyPath,
) std.Build.LazyPath {
    const pack = b.addRunArtifact(zip);
    const archive = pack.addOutputFileArg("elizainference.aar");
    addText(pack, "AndroidManifest.xml", b.fmt(
        \\<?xml version="1.0" encoding="utf-8"?>
        \\<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="eliza.inference">
        \\    <uses-sdk android:minSdkVersion="{d}" />
        \\</manifest>
        \\
    , .{targets.android_api}));
    addText(pack, "R.txt", "");
    for (targets.legal) |name| addFile(pack, name, b.path(name));
    if (classes) |jar| {
        addFile(pack, "classes.jar", jar);
        addText(pack, "proguard.txt", "# Native code finds these by name.\n-keep class eliza.inference.** { *; }\n");
    }
    const module = "prefab/modules/elizainference";
    addText(pack, "prefab/prefab.json", b.fmt(
        "{{\"schema_version\": 2, \"name\": \"elizainference\", \"version\": \"{s}\", \"dependencies\": []}}\n",
        .{version},
    ));
    addText(pack, module ++ "/module.json", "{\"export_libraries\": [], \"library_name\": \"libelizainference\"}\n");
    addFile(pack, module ++ "/include/eliza_inference.h", b.path("native/include/eliza_inference.h"));
    for (libraries) |library| {
        const in_module = b.fmt("{s}/libs/android.{s}", .{ module, library.abi });
        addText(pack, b.fmt("{s}/abi.json", .{in_module}), b.fmt(
            "{{\"abi\": \"{s}\", \"api\": {d}, \"ndk\": 25, \"stl\": \"none\", \"static\": false}}\n",
            .{ library.abi, targets.android_api },
        ));
        addFile(pack, b.fmt("{s}/libelizainference.so", .{in_module}), library.core);
        addFile(pack, b.fmt("jni/{s}/libelizainference.so", .{library.abi}), library.core);
        addFile(pack, b.fmt("jni/{s}/libelizainference_jni.so", .{library.abi}), library.bridge);
    }
    return archive;
}

fn addFile(pack: *std.Build.Step.Run, name: []const u8, file: std.Build.LazyPath) void {
    pack.addArg(name);
    pack.addFileArg(file);
}

fn addText(pack: *std.Build.Step.Run, name: []const u8, text: []const u8) void {
    addFile(pack, name, pack.step.owner.addWriteFiles().add(std.fs.path.basename(name), text));
}
