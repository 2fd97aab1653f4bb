//! The conformance cases through the engines, without the C boundary, under an allocator that finds
//! leaks. The build gives the directory of the cases.

const std = @import("std");
const eliza = @import("eliza");
const directory = @import("conformance_options").conformance_dir;
const Allocator = std.mem.Allocator;
const Value = std.json.Value;
const Diagnostic = eliza.diagnostic.Diagnostic;
const Vocabulary = eliza.vocabulary.Vocabulary;
const Constraint = eliza.constraint.Constraint;
const Matcher = eliza.matcher.Matcher;

const gpa = std.testing.allocator;
const file_bytes_max = 16 << 20;

test "conformance cases" {
    defer eliza.cache.shared.setLimit(eliza.cache.bytes_max_default);
    defer eliza.cache.shared.setLimit(0); // so that the allocator sees an empty cache
    var report: Report = .{};
    const io = std.testing.io;
    var folder = try std.Io.Dir.cwd().openDir(io, directory, .{ .iterate = true });
    defer folder.close(io);
    var files = folder.iterate();
    while (try files.next(io)) |entry| {
        if (!std.mem.endsWith(u8, entry.name, ".json") or std.mem.eql(u8, entry.name, "decisions.json")) continue;
        const text = try folder.readFileAlloc(io, entry.name, gpa, .limited(file_bytes_max));
        defer gpa.free(text);
        try runFile(&report, entry.name, text);
    }
    try std.testing.expect(report.runs >= 240);
    try std.testing.expectEqual(0, report.failures);
}

fn runFile(report: *Report, file: []const u8, text: []const u8) !void {
    const parsed = try std.json.parseFromSlice(Value, gpa, text, .{});
    defer parsed.deinit();
    for (parsed.value.object.get("cases").?.array.items) |case| {
        for ([_]struct { []const u8, bool, bool }{
            .{ "payload", false, false },
            .{ "payload_hex", true, false },
            .{ "payload_parts", false, true },
            .{ "payload_hex_parts", true, true },
        }) |form| {
            const key, const hex, const in_parts = form;
            const source = get(case, key) orelse continue;
            var payload: std.ArrayList(u8) = .empty;
            defer payload.deinit(gpa);
            if (in_parts) {
                for (source.array.items) |part| try append(&payload, part.array.items[0].string, hex, @intCast(part.array.items[1].integer));
            } else try append(&payload, source.string, hex, 1);
            report.begin(file, get(case, "name").?.string, key);
            try runCase(report, case, payload.items);
        }
    }
}

fn append(payload: *std.ArrayList(u8), text: []const u8, hex: bool, count: usize) !void {
    const piece = try gpa.dupe(u8, text);
    defer gpa.free(piece);
    const bytes = if (hex) try std.fmt.hexToBytes(piece, text) else piece;
    try payload.ensureUnusedCapacity(gpa, bytes.len * count);
    for (0..count) |_| payload.appendSliceAssumeCapacity(bytes);
}

/// Where the run is, and how much went wrong.
const Report = struct {
    file: []const u8 = "",
    name: []const u8 = "",
    form: []const u8 = "",
    /// 0: before the first.
    step: usize = 0,
    failures: usize = 0,
    runs: usize = 0,

    fn begin(r: *Report, file: []const u8, name: []const u8, form: []const u8) void {
        r.file = file;
        r.name = name;
        r.form = form;
        r.step = 0;
        r.runs += 1;
    }

    fn fail(r: *Report, comptime format: []const u8, arguments: anytype) void {
        r.failures += 1;
        std.debug.print("{s}: {s} ({s}): step {d}: " ++ format ++ "\n", .{ r.file, r.name, r.form, r.step } ++ arguments);
    }

    fn expectNumber(r: *Report, what: []const u8, expected: i64, actual: i64) void {
        if (expected != actual) r.fail("{s} is {d}, expected {d}", .{ what, actual, expected });
    }

    fn expectText(r: *Report, what: []const u8, expected: []const u8, actual: []const u8) void {
        if (!std.mem.eql(u8, expected, actual)) r.fail("{s}\n    is       {s}\n    expected {s}", .{ what, actual, expected });
    }

    fn expectIds(r: *Report, what: []const u8, expected: []const Value, actual: []const i32) void {
        const same = expected.len == actual.len and for (expected, actual) |e, a| {
            if (e.integer != a) break false;
        } else true;
        if (!same) r.fail("{s} is {any}", .{ what, actual });
    }

    fn expectFailure(r: *Report, expected: Value, diag: *const Diagnostic) void {
        r.expectText("status", get(expected, "status").?.string, eliza.Status.nameOf(diag.status.code()));
        r.expectText("message", get(expected, "message").?.string, diag.message());
    }
};

fn get(object: Value, key: []const u8) ?Value {
    return object.object.get(key);
}

// ---- One case

fn runCase(r: *Report, case: Value, payload: []const u8) !void {
    var diag: Diagnostic = .{};
    const matcher = start(r, case, payload, &diag) catch |e| {
        if (e != error.Failed) return e;
        if (get(case, "error")) |expected| r.expectFailure(expected, &diag) else r.fail("failed: {s}", .{diag.message()});
        return;
    };
    if (get(case, "error") != null) r.fail("did not fail", .{});
    if (get(case, "expect")) |expected| expectState(r, matcher, expected);
    defer matcher.destroy();
    if (get(case, "steps")) |steps| try runSteps(r, matcher, steps.array.items, 0);
}

fn start(r: *Report, case: Value, payload: []const u8, diag: *Diagnostic) !*Matcher {
    const vocabulary = try Vocabulary.create(gpa, .{
        .n_tokens = @intCast(get(case, "vocab_size").?.integer),
        .model_id = if (get(case, "model_id")) |id| id.string else "",
    }, diag);
    defer vocabulary.release();
    const constraint = try Constraint.createTokenTrie(gpa, vocabulary, payload, diag);
    defer constraint.release();
    if (get(case, "info")) |info| expectInfo(r, constraint, info);
    const timeout = if (get(case, "span_timeout")) |n| n.integer else 0;
    return Matcher.create(gpa, constraint, @intCast(timeout), diag);
}

fn expectInfo(r: *Report, constraint: *const Constraint, info: Value) void {
    const trie = constraint.trie;
    const actual = .{
        .n_descriptors = trie.descriptors.len,
        .n_leaves = trie.n_leaves,
        .n_nodes = trie.tokens.len,
        .longest_leaf_tokens = trie.longest.tokens,
        .widest_node = trie.widest,
    };
    inline for (@typeInfo(@TypeOf(actual)).@"struct".field_names) |name| {
        if (get(info, name)) |expected| r.expectNumber(name, expected.integer, @intCast(@field(actual, name)));
    }
}

/// A clone goes on with the steps; its original must stay as it is.
fn runSteps(r: *Report, matcher: *Matcher, steps: []const Value, first: usize) !void {
    for (steps[first..], first..) |step, i| {
        r.step = i + 1;
        const before = matcher.span;
        if (std.mem.eql(u8, get(step, "do").?.string, "clone")) {
            const copy = try matcher.clone();
            defer copy.destroy();
            if (get(step, "expect")) |expected| expectState(r, copy, expected);
            try runSteps(r, copy, steps, i + 1);
            if (!std.meta.eql(before, matcher.span)) r.fail("the clone changed its original", .{});
            return;
        }
        if (runStep(r, matcher, step)) {
            if (get(step, "error") != null) r.fail("did not fail", .{});
        } else |e| {
            if (e != error.Failed) return e;
            if (get(step, "error")) |expected| r.expectFailure(expected, &matcher.diag) else r.fail("failed: {s}", .{matcher.diag.message()});
            if (!std.meta.eql(before, matcher.span)) r.fail("a failure changed the state", .{});
        }
        if (get(step, "expect")) |expected| expectState(r, matcher, expected);
    }
}

const Action = enum { accept, rollback, activate, deactivate, reset, set_span_timeout, set_seed, mask, sample };

fn runStep(r: *Report, matcher: *Matcher, step: Value) !void {
    switch (std.meta.stringToEnum(Action, get(step, "do").?.string) orelse return error.UnknownStep) {
        .accept => expectResult(r, step, try matcher.accept(@intCast(get(step, "token").?.integer))),
        .rollback => try matcher.rollback(@intCast(get(step, "n").?.integer)),
        .activate => try matcher.activate(get(step, "path").?.string),
        .deactivate => matcher.span.deactivate(),
        .reset => matcher.reset(),
        .set_span_timeout => try matcher.setTimeout(@intCast(get(step, "n").?.integer)),
        .set_seed => matcher.sampler.rng = .{ .state = @intCast(get(step, "seed").?.integer) },
        .mask => try mask(r, matcher, step),
        .sample => try sample(r, matcher, step),
    }
}

fn expectResult(r: *Report, step: Value, actual: anytype) void {
    const names = if (get(step, "result")) |result| result.array.items else return;
    inline for (.{ "in_span", "span_ended", "span_started", "timed_out", "refused" }) |name| {
        const expected = for (names) |one| {
            if (std.mem.eql(u8, one.string, name)) break true;
        } else false;
        if (@field(actual, name) != expected) r.fail("result: {s} is {}", .{ name, !expected });
    }
}

fn mask(r: *Report, matcher: *Matcher, step: Value) !void {
    const before = try makeLogits(matcher, step);
    defer gpa.free(before);
    const after = try gpa.dupe(f32, before);
    defer gpa.free(after);
    try matcher.maskLogits(after);
    const kept = get(step, "kept") orelse return;
    for (before, after, 0..) |old, new, id| {
        const keeps = kept == .string or for (kept.array.items) |one| {
            if (one.integer == id) break true;
        } else false;
        const same = @as(u32, @bitCast(old)) == @as(u32, @bitCast(new));
        if (if (keeps) !same else new != -std.math.inf(f32)) r.fail("logit {d} after the mask is {d}", .{ id, new });
    }
}

fn sample(r: *Report, matcher: *Matcher, step: Value) !void {
    const logits = try makeLogits(matcher, step);
    defer gpa.free(logits);
    // The engine takes the mode as an enum: a wrong number is the C boundary's to refuse.
    const mode = std.enums.fromInt(eliza.sampling.Mode, get(step, "mode").?.integer) orelse
        return matcher.diag.fail(.invalid_arg, "sampling.mode {d} is neither 0 (greedy) nor 1 (sampled)", .{get(step, "mode").?.integer});
    const how: Matcher.Sampling = .{
        .mode = mode,
        .temperature = if (get(step, "temperature")) |value| number(value) else 1,
        .top_p = if (get(step, "top_p")) |value| number(value) else 1,
    };
    const expected = get(step, "tokens").?.array.items;
    if (get(step, "error") != null) _ = try matcher.sample(logits, how);
    for (expected) |token| r.expectNumber("sampled token", token.integer, try matcher.sample(logits, how));
}

fn makeLogits(matcher: *const Matcher, step: Value) ![]f32 {
    const n: usize = if (get(step, "n")) |n| @intCast(n.integer) else matcher.constraint.vocabulary.n_tokens;
    const logits = try gpa.alloc(f32, n);
    @memset(logits, number(get(step, "fill").?));
    var given = get(step, "logits").?.object.iterator();
    while (given.next()) |one| logits[try std.fmt.parseInt(usize, one.key_ptr.*, 10)] = number(one.value_ptr.*);
    return logits;
}

fn number(value: Value) f32 {
    return switch (value) {
        .integer => |integer| @floatFromInt(integer),
        .float => |float| @floatCast(float),
        .string => |name| std.fmt.parseFloat(f32, name) catch unreachable, // nan, inf, -inf
        else => unreachable,
    };
}

// ---- The state

fn expectState(r: *Report, matcher: *const Matcher, expected: Value) void {
    const span = &matcher.span;
    const trie = matcher.trie();
    var keys = expected.object.iterator();
    while (keys.next()) |one| {
        const value = one.value_ptr.*;
        switch (std.meta.stringToEnum(Key, one.key_ptr.*) orelse return r.fail("unknown key {s}", .{one.key_ptr.*})) {
            .active => r.expectNumber("active", @intFromBool(value.bool), @intFromBool(span.isActive())),
            .can_stop => r.expectNumber("can_stop", @intFromBool(value.bool), @intFromBool(span.canStop())),
            .constrained => r.expectNumber("constrained", @intFromBool(value.bool), @intFromBool(span.allowed(trie) != null)),
            .descriptor => r.expectNumber("descriptor", value.integer, if (span.isActive()) span.descriptor else -1),
            .allowed => expectAllowed(r, value, span.allowed(trie)),
            .forced => expectForced(r, value, matcher),
            .leaf => expectLeaf(r, value, matcher),
            .span_tokens => r.expectNumber("span_tokens", value.integer, span.tokens),
            .spans_started => r.expectNumber("spans_started", value.integer, span.started),
            .spans_ended => r.expectNumber("spans_ended", value.integer, span.ended),
            .timeouts => r.expectNumber("timeouts", value.integer, span.timeouts),
            .illegal => r.expectNumber("illegal", value.integer, span.illegal),
        }
    }
}

const Key = enum {
    active,
    can_stop,
    constrained,
    descriptor,
    allowed,
    forced,
    leaf,
    span_tokens,
    spans_started,
    spans_ended,
    timeouts,
    illegal,
};

fn expectAllowed(r: *Report, expected: Value, actual: ?[]const i32) void {
    if (expected == .string) {
        if (actual != null) r.fail("allowed is {any}, expected all", .{actual.?});
    } else if (actual) |ids| {
        r.expectIds("allowed", expected.array.items, ids);
    } else r.fail("allowed is all", .{});
}

fn expectForced(r: *Report, expected: Value, matcher: *const Matcher) void {
    var run: [512]i32 = undefined;
    r.expectIds("forced", expected.array.items, run[0..@min(matcher.forced(&run), run.len)]);
}

fn expectLeaf(r: *Report, expected: Value, matcher: *const Matcher) void {
    const leaf = matcher.span.leaf() orelse {
        if (expected != .null) r.fail("leaf is none, expected {s}", .{expected.string});
        return;
    };
    const name = matcher.trie().leafName(leaf.descriptor, leaf.index);
    if (expected == .null) r.fail("leaf is {s}, expected none", .{name}) else r.expectText("leaf", expected.string, name);
}
