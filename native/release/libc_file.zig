//! libc_file FOLDER OUTPUT: describes the C library in FOLDER, in the format of `zig libc`.

const std = @import("std");

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const folder, const output = .{ arguments[1], arguments[2] };
    const cwd: std.Io.Dir = .cwd();
    const path = try cwd.realPathFileAlloc(init.io, folder, init.arena.allocator());
    const text = try std.fmt.allocPrint(init.arena.allocator(),
        \\include_dir={0s}
        \\sys_include_dir={0s}
        \\crt_dir={0s}
        \\cc_dir={0s}
        \\static_crt_dir=
        \\msvc_lib_dir=
        \\kernel32_lib_dir=
        \\darwin_sdk_dir=
        \\
    , .{path});
    try cwd.writeFile(init.io, .{ .sub_path = output, .data = text });
}
