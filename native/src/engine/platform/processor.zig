//! What the processor can do beyond the baseline that the library is compiled for.

const std = @import("std");
const builtin = @import("builtin");

/// Whether AVX2 may be used: the processor has it and the system saves its registers (Intel's manual, volume 1,
/// 14.7.1). Safe from any thread.
pub fn hasAvx2() bool {
    if (builtin.cpu.arch != .x86_64) return false;
    const known = avx2.load(.monotonic);
    if (known != .unknown) return known == .yes;
    const found = findAvx2();
    avx2.store(if (found) .yes else .no, .monotonic);
    return found;
}

/// Whether AVX-512 may be used, with vectors of bytes and words, too.
pub fn hasAvx512() bool {
    if (builtin.cpu.arch != .x86_64) return false;
    const known = avx512.load(.monotonic);
    if (known != .unknown) return known == .yes;
    const found = hasAvx2() and findAvx512();
    avx512.store(if (found) .yes else .no, .monotonic);
    return found;
}

/// The answers once found: asking takes microseconds in a virtual machine.
var avx2: std.atomic.Value(Answer) = .init(.unknown);
var avx512: std.atomic.Value(Answer) = .init(.unknown);

const Answer = enum(u8) { unknown, no, yes };

fn findAvx2() bool {
    if (cpuid(0).eax < 7) return false;
    const osxsave_and_avx = 1 << 27 | 1 << 28;
    if (cpuid(1).ecx & osxsave_and_avx != osxsave_and_avx) return false;
    const sse_and_avx_registers = 1 << 1 | 1 << 2;
    if (enabledRegisters() & sse_and_avx_registers != sse_and_avx_registers) return false;
    return cpuid(7).ebx & 1 << 5 != 0;
}

/// With AVX2: the vectors' lengths and lanes, and whether the system saves their registers and those of masks.
fn findAvx512() bool {
    const mask_and_vector_registers = 1 << 5 | 1 << 6 | 1 << 7;
    if (enabledRegisters() & mask_and_vector_registers != mask_and_vector_registers) return false;
    const f_dq_bw_vl: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    return cpuid(7).ebx & f_dq_bw_vl == f_dq_bw_vl;
}

const Leaf = struct { eax: u32, ebx: u32, ecx: u32 };

fn cpuid(leaf: u32) Leaf {
    var eax: u32 = undefined;
    var ebx: u32 = undefined;
    var ecx: u32 = undefined;
    asm volatile ("cpuid"
        : [_] "={eax}" (eax),
          [_] "={ebx}" (ebx),
          [_] "={ecx}" (ecx),
        : [_] "{eax}" (leaf),
          [_] "{ecx}" (0),
        : .{ .edx = true });
    return .{ .eax = eax, .ebx = ebx, .ecx = ecx };
}

fn enabledRegisters() u32 {
    return asm volatile ("xgetbv"
        : [_] "={eax}" (-> u32),
        : [_] "{ecx}" (0),
        : .{ .edx = true });
}

test "the build machine's own answer" {
    if (builtin.cpu.arch != .x86_64) return error.SkipZigTest;
    const detected = try std.zig.system.resolveTargetQuery(std.testing.io, .{});
    try std.testing.expectEqual(detected.cpu.has(.x86, .avx2), hasAvx2());
    try std.testing.expectEqual(detected.cpu.hasAll(.x86, &.{ .avx512f, .avx512dq, .avx512bw, .avx512vl }), hasAvx512());
}
