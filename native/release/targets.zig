//! The platforms of a release, and the oldest system that each file runs on.

const std = @import("std");

/// A platform with a wheel and an npm package.
pub const Desktop = struct {
    /// Node.js's names of platform and processor: the folder, and the end of the npm package's name.
    name: []const u8,
    triple: []const u8,
};

pub const desktop = [_]Desktop{
    .{ .name = "linux-x64", .triple = "x86_64-linux-gnu.2.17" },
    .{ .name = "linux-arm64", .triple = "aarch64-linux-gnu.2.17" },
    .{ .name = "linux-x64-musl", .triple = "x86_64-linux-musl" },
    .{ .name = "linux-arm64-musl", .triple = "aarch64-linux-musl" },
    .{ .name = "darwin-x64", .triple = "x86_64-macos.11.0" },
    .{ .name = "darwin-arm64", .triple = "aarch64-macos.11.0" },
    .{ .name = "win32-x64", .triple = "x86_64-windows-gnu" },
    .{ .name = "win32-arm64", .triple = "aarch64-windows-gnu" },
};

/// Files of the project that every archive takes along.
pub const legal = [_][]const u8{ "LICENSE", "THIRD_PARTY.md" };

/// An ABI of the AAR.
pub const Android = struct {
    /// Android's name: the folder under jniLibs.
    abi: []const u8,
    triple: []const u8,
    cpu: []const u8,
};

/// The oldest Android that the libraries load on.
pub const android_api = 24;

pub const android = [_]Android{
    .{ .abi = "arm64-v8a", .triple = "aarch64-linux-android.24", .cpu = "baseline" },
    // The triple androideabi would not use the floating-point unit, which every device with this ABI has.
    .{ .abi = "armeabi-v7a", .triple = "arm-linux-android.24", .cpu = "generic+v7a+neon+vfp3" },
    .{ .abi = "x86_64", .triple = "x86_64-linux-android.24", .cpu = "baseline" },
};

/// The target of a triple, with a processor's name or "baseline".
pub fn resolve(b: *std.Build, triple: []const u8, cpu: []const u8) std.Build.ResolvedTarget {
    const query = std.Target.Query.parse(.{ .arch_os_abi = triple, .cpu_features = cpu }) catch
        std.debug.panic("{s} is no target", .{triple});
    return b.resolveTargetQuery(query);
}
