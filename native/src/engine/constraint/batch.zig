//! Computes the masks of many matchers with several threads.

const std = @import("std");
const builtin = @import("builtin");
const Matcher = @import("matcher.zig").Matcher;
const Status = @import("../base/status.zig").Status;

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

fn runWithThreads(work: *Work, n_threads: u32) void {
    const wanted = if (n_threads > 0) n_threads else std.Thread.getCpuCount() catch 1;
    const n = @min(wanted, countUnready(work.matchers), threads_max);
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
