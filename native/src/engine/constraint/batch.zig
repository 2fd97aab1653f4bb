//! The masks of many matchers: computed with several threads, and written to rows of logits.

const std = @import("std");
const builtin = @import("builtin");
const Matcher = @import("matcher.zig").Matcher;
const Status = @import("../base/status.zig").Status;
const logits = @import("../sampling/logits.zig");

const threads_max = 64;

/// Fills row i of `words`, which has `n_words`, for matcher i; null: the matchers alone have their masks then.
/// `n_threads` 0: as many as there are processors. All matchers are done before it returns; the status is that of the
/// first failure, whose message is in that matcher.
pub fn fillBitmaps(matchers: []const *Matcher, words: ?[*]u32, n_words: usize, n_threads: u32) Status {
    var work: Work = .{ .matchers = matchers, .words = words, .n_words = n_words };
    if (builtin.single_threaded) work.run() else runWithThreads(&work, n_threads);
    const failed = work.failed.load(.monotonic);
    return if (failed == none) .ok else matchers[failed].diag.status;
}

/// Rows of logits in the caller's memory.
pub const Rows = struct {
    type: logits.Type,
    first: [*]u8,
    n_logits: usize,
    /// Bytes from one row to the next.
    stride: usize,
    /// The row of each matcher; null: its place.
    of_matchers: ?[]const u32,
};

/// Masks the row of each matcher, and what is beyond its vocabulary. If one fails, nothing is written.
pub fn maskRows(matchers: []const *Matcher, rows: Rows, n_threads: u32) Status {
    for (matchers) |matcher| matcher.checkLogits(rows.n_logits) catch return matcher.diag.status;
    const status = fillBitmaps(matchers, null, 0, n_threads);
    if (status != .ok) return status;
    for (matchers, 0..) |matcher, i| {
        const legal = matcher.allowed() catch return matcher.diag.status;
        const row = if (rows.of_matchers) |of_matchers| of_matchers[i] else i;
        logits.mask(rows.type, rows.first + row * rows.stride, rows.n_logits, legal, matcher.constraint.vocabulary.tokens.n);
    }
    return .ok;
}

fn runWithThreads(work: *Work, n_threads: u32) void {
    const n_unready = countUnready(work.matchers);
    if (n_unready < 2) return work.run(); // asking for processors is a call of the system
    const wanted = if (n_threads > 0) n_threads else std.Thread.getCpuCount() catch 1;
    const n = @min(wanted, n_unready, threads_max);
    var threads: [threads_max]std.Thread = undefined;
    var n_started: usize = 0;
    // The caller's thread works too, and alone if no thread can be started.
    while (n_started + 1 < n) : (n_started += 1) {
        threads[n_started] = std.Thread.spawn(.{ .stack_size = stack_bytes }, Work.run, .{work}) catch break;
    }
    work.run();
    for (threads[0..n_started]) |thread| thread.join();
}

/// Matchers whose mask is ready need no thread: copying it is quicker than starting one.
fn countUnready(matchers: []const *Matcher) usize {
    var n: usize = 0;
    for (matchers) |matcher| n += @intFromBool(!matcher.isReady());
    return n;
}

const none = std.math.maxInt(usize);
const stack_bytes = 1 << 20;

const Work = struct {
    matchers: []const *Matcher,
    words: ?[*]u32,
    n_words: usize,
    next: std.atomic.Value(usize) = .init(0),
    failed: std.atomic.Value(usize) = .init(none),

    fn run(work: *Work) void {
        while (true) {
            const i = work.next.fetchAdd(1, .monotonic);
            if (i >= work.matchers.len) return;
            work.compute(i) catch {
                _ = work.failed.fetchMin(i, .monotonic);
            };
        }
    }

    fn compute(work: *Work, i: usize) !void {
        const matcher = work.matchers[i];
        const words = work.words orelse {
            _ = try matcher.allowed();
            return;
        };
        _ = try matcher.fillBitmap(words[i * work.n_words ..][0..work.n_words]);
    }
};
