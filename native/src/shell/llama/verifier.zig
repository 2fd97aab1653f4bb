//! Tells the host what became of each draft.

const Sequence = @import("sequence.zig").Sequence;

/// EliVerifierEvent of the header.
pub const Event = extern struct {
    accepted_token_ids: ?[*]const c_int,
    n_accepted: usize,
    rejected_from: c_int = -1,
    rejected_to: c_int = -1,
    corrected_token_ids: ?[*]const c_int = null,
    n_corrected: usize = 0,
};

pub const Callback = fn (event: *const Event, user_data: ?*anyopaque) callconv(.c) void;

/// How a draft ended: with its last token, with another one, or with the generation.
pub const Outcome = enum { accepted, rejected, ended };

/// Receives each draft once it is accepted or rejected. Lends `user_data`.
pub const Verifier = struct {
    callback: *const Callback,
    user_data: ?*anyopaque,

    /// Tells of the last draft of the sequence, whose last token ended it, unless the generation did. `emitted`: how many
    /// tokens came out until now.
    pub fn tell(verifier: Verifier, sequence: *const Sequence, outcome: Outcome, emitted: u64) void {
        const draft = sequence.last_draft;
        const tokens = sequence.tokens.items;
        const n_corrected: usize = @intFromBool(outcome == .rejected);
        const n_accepted = tokens.len - draft.from - n_corrected;
        var event: Event = .{ .accepted_token_ids = tokens[draft.from..].ptr, .n_accepted = n_accepted };
        if (outcome != .accepted) {
            const first: c_int = @intCast(emitted - n_corrected);
            event.rejected_from = first;
            event.rejected_to = first + @as(c_int, @intCast(draft.len - n_accepted));
        }
        if (n_corrected > 0) {
            event.corrected_token_ids = tokens[tokens.len - 1 ..].ptr;
            event.n_corrected = 1;
        }
        verifier.callback(&event, verifier.user_data);
    }
};
