//! What constrains a stream or a sampler, and where its output stands in it: nothing, a token trie, or a
//! recognizer. Unlike a matcher it goes forwards only, and an illegal token ends the span.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const constraint_module = @import("constraint.zig");
const Constraint = constraint_module.Constraint;
const matcher = @import("matcher.zig");
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const span_module = @import("../trie/span.zig");
const Span = span_module.Span;
const Step = span_module.Step;
const Output = @import("../recognizer/state.zig").Output;
const Legal = @import("../sampling/sampling.zig").Legal;

pub const Guide = union(enum) {
    none,
    trie: struct {
        trie: *TokenTrie,
        span: Span,
        /// Tokens; 0: the caller's.
        timeout: u32,
    },
    recognizer: struct {
        constraint: *const Constraint,
        output: Output,
        /// Tokens; 0: none.
        timeout: u32,
    },

    /// Takes over a reference to the trie. `timeout` 0: the caller's.
    pub fn ofTrie(trie: *TokenTrie, timeout: u32) Guide {
        return .{ .trie = .{ .trie = trie, .span = .init(trie), .timeout = timeout } };
    }

    /// Takes a reference of its own.
    pub fn of(gpa: Allocator, c: *const Constraint, config: constraint_module.SpanConfig) Guide {
        switch (c.kind) {
            .trie => |trie| return ofTrie(trie.retain(), config.timeout),
            .recognizer => |recognizer| return .{ .recognizer = .{
                .constraint = c.retain(),
                .output = .init(gpa, recognizer, .of(config.end)),
                .timeout = config.timeout,
            } },
        }
    }

    pub fn deinit(g: *Guide) void {
        switch (g.*) {
            .none => {},
            .trie => |*t| t.trie.release(),
            .recognizer => |*r| {
                r.output.deinit();
                r.constraint.release();
            },
        }
        g.* = .none;
    }

    pub fn clone(g: *const Guide) Allocator.Error!Guide {
        switch (g.*) {
            .none => return .none,
            .trie => |*t| return .{ .trie = .{ .trie = t.trie.retain(), .span = t.span, .timeout = t.timeout } },
            .recognizer => |*r| {
                const output = try r.output.clone();
                return .{ .recognizer = .{ .constraint = r.constraint.retain(), .output = output, .timeout = r.timeout } };
            },
        }
    }

    pub fn reset(g: *Guide) void {
        switch (g.*) {
            .none => {},
            .trie => |*t| t.span = .init(t.trie),
            .recognizer => |*r| r.output.reset(),
        }
    }

    pub fn activate(g: *Guide, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        switch (g.*) {
            .none => return diag.fail(.state, "nothing constrains the output: set a token trie or a constraint first", .{}),
            .trie => |*t| t.span.activate(t.trie, try matcher.findPath(t.trie, path, diag)),
            .recognizer => |*r| {
                try matcher.checkPath(path, diag);
                r.output.restart();
            },
        }
    }

    /// `timeout` is that of a token trie which has none of its own.
    pub fn accept(g: *Guide, token: i32, timeout: u32) Allocator.Error!Step {
        switch (g.*) {
            .none => return .{},
            .trie => |*t| {
                const in_force = if (t.timeout == 0) timeout else t.timeout;
                const step = t.span.accept(t.trie, token, in_force, .end_span);
                if (step.timed_out) matcher.logTimeout(in_force);
                return step;
            },
            .recognizer => |*r| {
                const step = try r.output.accept(token, r.timeout, .end_span);
                if (step.timed_out) matcher.logTimeout(r.timeout);
                // Without memory for it the stacks stay as they are.
                r.output.compact(&.{}) catch {};
                return step;
            },
        }
    }

    /// The legal next tokens; null if everything is allowed.
    pub fn allowed(g: *Guide) Allocator.Error!?Legal {
        switch (g.*) {
            .none => return null,
            .trie => |*t| return if (t.span.allowed(t.trie)) |ids| .{ .list = ids } else null,
            .recognizer => |*r| {
                const legal = try r.output.allowed();
                return if (legal == .all) null else legal;
            },
        }
    }

    /// The next token, if it is the only one that may follow.
    pub fn forced(g: *Guide) Allocator.Error!?i32 {
        return switch (g.*) {
            .none => null,
            .trie => |*t| t.span.forced(t.trie),
            .recognizer => |*r| r.output.forcedToken(),
        };
    }

    /// Spans that an illegal token has ended.
    pub fn illegal(g: *const Guide) u32 {
        return switch (g.*) {
            .none => 0,
            .trie => |*t| t.span.illegal,
            .recognizer => |*r| r.output.span.illegal,
        };
    }

    pub fn prefetch(g: *const Guide) void {
        if (g.* != .trie) return;
        if (g.trie.span.position) |position| g.trie.trie.prefetch(position);
    }
};
