//! The platforms of a release. The oldest system that a file runs on is decided here.

const std = @import("std");

pub const Desktop = struct {
    /// As Node.js calls the platform and the processor: the folder, and the end of the npm package's name.
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

/// What every archive takes along, from the project's folder.
pub const legal = [_][]const u8{ "LICENSE", "THIRD_PARTY.md" };

pub const Android = struct {
    /// As Android calls it: the folder under jniLibs.
    abi: []const u8,
    triple: []const u8,
    cpu: []const u8,
};

/// The oldest Android that the libraries load on.
pub const android_api = 24;

pub const android = [_]Android{
    .{ .abi = "arm64-v8a", .triple = "aarch64-linux-android.24", .cpu = "baseline" },
    // The triple androideabi would leave out the floating-point unit that every device with this ABI has.
    .{ .abi = "armeabi-v7a", .triple = "arm-linux-android.24", .cpu = "generic+v7a+neon+vfp3" },
    .{ .abi = "x86_64", .triple = "x86_64-linux-android.24", .cpu = "baseline" },
};

pub fn resolve(b: *std.Build, triple: []const u8, cpu: []const u8) std.Build.ResolvedTarget {
    const query = std.Target.Query.parse(.{ .arch_os_abi = triple, .cpu_features = cpu }) catch
        std.debug.panic("{s} is no target", .{triple});
    return b.resolveTargetQuery(query);
}
