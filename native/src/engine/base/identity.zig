//! Numbers that tell things apart, also those that are gone, as addresses do not.

const std = @import("std");

var last: std.atomic.Value(u32) = .init(0);

/// A number that no other call gave; 0 only after all others. Safe from any thread.
pub fn next() u32 {
    return last.fetchAdd(1, .monotonic) +% 1;
}
