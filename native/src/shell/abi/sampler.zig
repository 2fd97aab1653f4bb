//! Header, section 11: sampler for a foreign chain.

const std = @import("std");
const boundary = @import("boundary.zig");
const matcher_abi = @import("matcher.zig");
const readMode = @import("stream.zig").readMode;
const Constraint = @import("engine").constraint.Constraint;
const api = @import("../llama/api.zig");
const loader = @import("../llama/loader.zig");
const samplers = @import("../llama/sampler.zig");
const GuideSampler = samplers.GuideSampler;

const invalid_arg = boundary.Status.invalid_arg.code();

export fn llama_sampler_init_token_trie(vocab: ?*const api.Vocab, trie_descriptor_json: ?[*:0]const u8, mode: c_int) ?*api.Sampler {
    const json = std.mem.span(trie_descriptor_json orelse return null);
    return eliza_inference_sampler_init_token_trie(vocab, json.ptr, json.len, mode, null);
}

export fn eliza_inference_sampler_init_token_trie(
    vocab: ?*const api.Vocab,
    payload: ?[*]const u8,
    payload_len: usize,
    mode: c_int,
    out_error: ?*boundary.Message,
) ?*api.Sampler {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    return create(vocab, payload, payload_len, mode, &diag) catch {
        _ = boundary.fail(out_error, &diag);
        return null;
    };
}

fn create(
    vocab: ?*const api.Vocab,
    payload: ?[*]const u8,
    payload_len: usize,
    mode: c_int,
    diag: *boundary.Diagnostic,
) boundary.Error!*api.Sampler {
    const of = vocab orelse return diag.fail(.invalid_arg, "vocab is NULL", .{});
    const bytes = boundary.slice(u8, payload, payload_len) orelse return diag.fail(.invalid_arg, "payload is NULL", .{});
    const known_mode = try readMode(mode, diag);
    return samplers.create(try loader.ofProcess(diag), of, .{ .payload = bytes }, known_mode, diag);
}

export fn llama_sampler_init_constraint(vocab: ?*const api.Vocab, constraint: ?*const Constraint, mode: c_int) ?*api.Sampler {
    return eliza_inference_sampler_init_constraint(vocab, constraint, mode, null, null);
}

export fn eliza_inference_sampler_init_constraint(
    vocab: ?*const api.Vocab,
    constraint: ?*const Constraint,
    mode: c_int,
    config: ?*const matcher_abi.SpanSettings,
    out_error: ?*boundary.Message,
) ?*api.Sampler {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    return createConstraint(vocab, constraint, mode, config, &diag) catch {
        _ = boundary.fail(out_error, &diag);
        return null;
    };
}

fn createConstraint(
    vocab: ?*const api.Vocab,
    constraint: ?*const Constraint,
    mode: c_int,
    config: ?*const matcher_abi.SpanSettings,
    diag: *boundary.Diagnostic,
) boundary.Error!*api.Sampler {
    const of = vocab orelse return diag.fail(.invalid_arg, "vocab is NULL", .{});
    const source = try sourceOf(constraint, config, diag);
    const known_mode = try readMode(mode, diag);
    return samplers.create(try loader.ofProcess(diag), of, source, known_mode, diag);
}

fn sourceOf(
    constraint: ?*const Constraint,
    config: ?*const matcher_abi.SpanSettings,
    diag: *boundary.Diagnostic,
) boundary.Error!samplers.Source {
    const c = constraint orelse return diag.fail(.invalid_arg, "constraint is NULL", .{});
    const span = try matcher_abi.SpanSettings.read(config, diag);
    return .{ .constraint = .{ .of = c, .config = span } };
}

/// The state of a sampler, in use until its `in_use.end`.
fn enter(sampler: ?*const api.Sampler, diag: *boundary.Diagnostic) boundary.Error!*GuideSampler {
    const given = sampler orelse return diag.fail(.invalid_arg, "sampler is NULL", .{});
    const s = samplers.stateOf(given) orelse return diag.fail(.invalid_arg, "sampler is not one of this library's", .{});
    s.in_use.begin() catch |refusal| return switch (refusal) {
        error.InCallback => diag.fail(.busy, "not allowed inside a callback of a call on the same sampler", .{}),
        error.OtherThread => diag.fail(.busy, "another thread is using the sampler", .{}),
    };
    return s;
}

export fn eliza_inference_sampler_set_token_trie(
    sampler: ?*api.Sampler,
    payload: ?[*]const u8,
    payload_len: usize,
    mode: c_int,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    set(sampler, payload, payload_len, mode, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn set(sampler: ?*api.Sampler, payload: ?[*]const u8, payload_len: usize, mode: c_int, diag: *boundary.Diagnostic) boundary.Error!void {
    const s = try enter(sampler, diag);
    defer s.in_use.end();
    const bytes = boundary.slice(u8, payload, payload_len) orelse return diag.fail(.invalid_arg, "payload is NULL", .{});
    return s.set(.{ .payload = bytes }, try readMode(mode, diag), diag);
}

export fn eliza_inference_sampler_set_constraint(
    sampler: ?*api.Sampler,
    constraint: ?*const Constraint,
    mode: c_int,
    config: ?*const matcher_abi.SpanSettings,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    setConstraint(sampler, constraint, mode, config, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn setConstraint(
    sampler: ?*api.Sampler,
    constraint: ?*const Constraint,
    mode: c_int,
    config: ?*const matcher_abi.SpanSettings,
    diag: *boundary.Diagnostic,
) boundary.Error!void {
    const s = try enter(sampler, diag);
    defer s.in_use.end();
    return s.set(try sourceOf(constraint, config, diag), try readMode(mode, diag), diag);
}

export fn eliza_inference_sampler_clear_token_trie(sampler: ?*api.Sampler) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(sampler, &diag) catch return diag.status.code();
    defer s.in_use.end();
    s.clear();
    return 0;
}

export fn eliza_inference_sampler_activate(
    sampler: ?*api.Sampler,
    path: ?[*]const u8,
    path_len: usize,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    activate(sampler, path, path_len, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn activate(sampler: ?*api.Sampler, path: ?[*]const u8, path_len: usize, diag: *boundary.Diagnostic) boundary.Error!void {
    const s = try enter(sampler, diag);
    defer s.in_use.end();
    const text = boundary.slice(u8, path, path_len) orelse return diag.fail(.invalid_arg, "path is NULL", .{});
    return s.activate(text, diag);
}

export fn eliza_inference_sampler_state(sampler: ?*const api.Sampler, out_state: ?*matcher_abi.SpanState) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(sampler, &diag) catch return diag.status.code();
    defer s.in_use.end();
    const report = s.report() catch return boundary.Status.oom.code();
    return if (boundary.fill(matcher_abi.SpanState, out_state, .of(report))) 0 else invalid_arg;
}
