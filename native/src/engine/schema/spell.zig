//! A string's content as it is spelled in a JSON text.

const std = @import("std");
const strings_module = @import("strings.zig");
const Strings = strings_module.Strings;
const escapes = @import("escapes.zig");

/// A string's state after what came; null if no string of the set continues so. What is free may be spelled in
/// any way, all else in the canonical one.
pub fn spell(strings: *Strings, state: Strings.State, event: escapes.Event, is_free: bool) strings_module.Error!?Strings.State {
    switch (event.what) {
        .quote => return if (strings.canEnd(state)) state else null,
        .byte => |byte| return strings.next(state, byte),
        .unfinished => |prefix| {
            // Escapes stand between characters, never within one.
            if (is_free) return if (try strings.next(state, 'a') != null) state else null;
            for (escapes.canonical) |one| {
                if (!std.mem.startsWith(u8, one.escape, prefix.slice())) continue;
                if (try strings.next(state, one.character) != null) return state;
            }
            return null;
        },
        .escaped => |escaped| {
            if (is_free) return state;
            return if (escaped.is_canonical) strings.next(state, @intCast(escaped.unit)) else null;
        },
    }
}
