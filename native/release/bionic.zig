//! What the linker needs to know of Android's C library, without the NDK: shared libraries that define the
//! names which ours may use, with nothing after them. On the device the real ones take their place.

const std = @import("std");

/// Names that bionic has since API 24 or earlier. A name that is missing here fails the link.
const libc_names = [_][]const u8{
    // memory
    "malloc",                    "calloc",                    "realloc",      "free",           "posix_memalign",    "malloc_usable_size",
    // strings
    "memcpy",                    "memmove",                   "memset",       "memcmp",         "memchr",            "strlen",
    "strcmp",
    // files
                       "fopen",                     "fclose",       "fread",          "fwrite",            "rename",
    "unlink",                    "opendir",                   "readdir",      "closedir",       "open",              "close",
    "fstat",                     "mmap",                      "munmap",
    // processes and threads
          "abort",          "getpid",            "getenv",
    "clock_gettime",             "sched_getaffinity",         "sysconf",      "syscall",        "__errno",           "dl_iterate_phdr",
    "pthread_create",            "pthread_join",              "pthread_self", "pthread_detach", "pthread_attr_init", "pthread_attr_destroy",
    "pthread_attr_setstacksize", "pthread_attr_setguardsize", "lseek",        "lseek64",        "mmap64",            "madvise",
    "realpath",
};
const libdl_names = [_][]const u8{ "dlopen", "dlsym", "dlclose", "dlerror", "dladdr" };

/// The file that tells Zig where this C library is.
pub fn libcFile(b: *std.Build, target: std.Build.ResolvedTarget) std.Build.LazyPath {
    const folder = b.addWriteFiles();
    _ = folder.addCopyFile(stub(b, target, "c", &libc_names), "libc.so");
    _ = folder.addCopyFile(stub(b, target, "dl", &libdl_names), "libdl.so");
    _ = folder.addCopyFile(stub(b, target, "m", &.{"fmod"}), "libm.so"); // always linked, never used

    const empty = b.addObject(.{ .name = "crt", .root_module = assembled(b, target, b.addWriteFiles().add("empty.s", "")) });
    for ([_][]const u8{ "crtbegin_so.o", "crtend_so.o" }) |name| _ = folder.addCopyFile(empty.getEmittedBin(), name);

    const write = b.addRunArtifact(tool(b));
    write.addDirectoryArg(folder.getDirectory());
    return write.addOutputFileArg("libc.txt");
}

fn stub(b: *std.Build, target: std.Build.ResolvedTarget, name: []const u8, exports: []const []const u8) std.Build.LazyPath {
    var text: std.ArrayList(u8) = .empty;
    for (exports) |symbol| {
        text.appendSlice(b.allocator, b.fmt(".globl {0s}\n.type {0s}, %function\n{0s}:\n", .{symbol})) catch @panic("OOM");
    }
    text.appendSlice(b.allocator, ".byte 0\n") catch @panic("OOM");
    const source = b.addWriteFiles();
    const library = b.addLibrary(.{
        .name = name,
        .linkage = .dynamic,
        .root_module = assembled(b, target, source.add("stub.s", text.items)),
    });
    // The version node is bionic's: a reference without it would bind to any other library's name.
    library.setVersionScript(source.add("stub.map", "LIBC { global: *; };\n"));
    library.bundle_compiler_rt = false;
    return library.getEmittedBin();
}

/// Without a C library: the stubs are to stand in for one.
fn assembled(b: *std.Build, target: std.Build.ResolvedTarget, source: std.Build.LazyPath) *std.Build.Module {
    var query = target.query;
    query.abi = .none;
    query.android_api_level = null;
    const module = b.createModule(.{ .target = b.resolveTargetQuery(query), .optimize = .small });
    module.addAssemblyFile(source);
    return module;
}

fn tool(b: *std.Build) *std.Build.Step.Compile {
    return b.addExecutable(.{
        .name = "libc_file",
        .root_module = b.createModule(.{ .root_source_file = b.path("native/release/libc_file.zig"), .target = b.graph.host }),
    });
}
