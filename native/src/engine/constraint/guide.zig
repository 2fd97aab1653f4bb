//! What constrains a stream or a sampler, and where its output stands in it. Unlike a matcher it goes
//! forwards only, and an illegal token ends the span.

const std = @import("std");
const Allocator = std.mem.Allocator;
const span = @import("../contract/span.zig");
const kinds = @import("kinds.zig");
const Compiled = kinds.Compiled;
const State = kinds.State;

pub const Guide = struct {
    gpa: Allocator,
    /// Kept alive by the state.
    compiled: Compiled,
    state: State,
    /// Tokens that were asked for; 0: none were.
    timeout: u32,

    /// Retains what was compiled. `config` was checked.
    pub fn init(gpa: Allocator, compiled: Compiled, config: span.Config) Guide {
        return .{ .gpa = gpa, .compiled = compiled, .state = .init(gpa, compiled, config.end), .timeout = config.timeout };
    }

    pub fn deinit(g: *Guide) void {
        g.state.deinit(g.gpa);
    }

    pub fn clone(g: *const Guide) Allocator.Error!Guide {
        return .{ .gpa = g.gpa, .compiled = g.compiled, .state = try g.state.clone(g.gpa), .timeout = g.timeout };
    }

    /// `callers_timeout` is in force where the kind has one and none was asked for.
    pub fn accept(g: *Guide, token: i32, callers_timeout: u32) Allocator.Error!span.Step {
        const timeout = g.compiled.timeoutInForce(g.timeout, callers_timeout);
        const step = try g.state.acceptForever(token, timeout);
        if (step.timed_out) span.logTimeout(timeout);
        return step;
    }
};
