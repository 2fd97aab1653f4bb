//! What constrains a stream or a sampler, and the state of its text. An illegal token ends the span. Unlike a matcher it
//! rolls back only what was tried ahead of the text.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const span = @import("../contract/span.zig");
const kinds = @import("kinds.zig");
const Compiled = kinds.Compiled;
const State = kinds.State;

/// Belongs to one thread.
pub const Guide = struct {
    gpa: Allocator,
    /// Retained by the state.
    compiled: Compiled,
    state: State,
    /// The requested timeout of spans, in tokens. 0: none was requested.
    timeout: u32,

    /// At the start of a text. Retains `compiled`, and takes `config` as `State.init` does.
    pub fn init(gpa: Allocator, compiled: Compiled, config: span.Config) Guide {
        return .{ .gpa = gpa, .compiled = compiled, .state = .init(gpa, compiled, config), .timeout = config.timeout };
    }

    /// Releases what was compiled.
    pub fn deinit(g: *Guide) void {
        g.state.deinit(g.gpa);
    }

    /// A guide at the same place. The caller frees it.
    pub fn clone(g: *const Guide) Allocator.Error!Guide {
        return .{ .gpa = g.gpa, .compiled = g.compiled, .state = try g.state.clone(g.gpa), .timeout = g.timeout };
    }

    /// Takes one token that `takeBack` will take back, or refuses it and changes nothing. `default_timeout` as in `accept`.
    pub fn tryAccept(g: *Guide, token: i32, default_timeout: u32) span.Error!span.Step {
        return g.state.accept(g.gpa, token, g.compiled.effectiveTimeout(g.timeout, default_timeout));
    }

    /// Takes back the `n` tokens that were tried since the last `accept`: all of them.
    pub fn takeBack(g: *Guide, n: usize) void {
        var diag: Diagnostic = .{};
        g.state.rollback(n, &diag) catch unreachable; // fewer tokens than a history holds
    }

    /// Takes one token. `default_timeout` is for kinds with a timeout if none was requested.
    pub fn accept(g: *Guide, token: i32, default_timeout: u32) span.Error!span.Step {
        const timeout = g.compiled.effectiveTimeout(g.timeout, default_timeout);
        const step = try g.state.commit(token, timeout);
        if (step.timed_out) span.logTimeout(timeout);
        return step;
    }
};
