//! The state of one text in a token trie. constraint/kinds.zig says what each operation promises.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const contract = @import("../contract/span.zig");
const Usage = @import("../contract/info.zig").Usage;
const Legal = @import("../sampling/sampling.zig").Legal;
const TokenTrie = @import("trie.zig").TokenTrie;
const Span = @import("span.zig").Span;

/// Retains the trie.
pub const TrieState = struct {
    trie: *TokenTrie,
    span: Span,

    pub const Checkpoint = Span;

    /// Retains the trie. Spans end with the payload's tokens: the last argument is null.
    pub fn init(_: Allocator, trie: *TokenTrie, _: contract.Config) TrieState {
        return .{ .trie = trie.retain(), .span = .init(trie) };
    }

    pub fn deinit(s: *TrieState) void {
        s.trie.release();
    }

    pub fn clone(s: *const TrieState) Allocator.Error!TrieState {
        return .{ .trie = s.trie.retain(), .span = s.span };
    }

    pub fn reset(s: *TrieState) void {
        s.span = .init(s.trie);
    }

    pub fn checkpoint(s: *const TrieState) Checkpoint {
        return s.span;
    }

    pub fn restore(s: *TrieState, to: Checkpoint) void {
        s.span = to;
    }

    pub fn compact(_: *TrieState, _: []Checkpoint) void {}

    pub fn accept(s: *TrieState, token: i32, timeout: u32, illegal: contract.Illegal) Allocator.Error!contract.Step {
        return s.span.accept(s.trie, token, timeout, illegal);
    }

    pub fn activate(s: *TrieState, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        s.span.activate(s.trie, try s.trie.findPath(path, diag));
    }

    pub fn deactivate(s: *TrieState) void {
        s.span.deactivate();
    }

    pub fn allowed(s: *TrieState) Allocator.Error!?Legal {
        return if (s.span.allowed(s.trie)) |ids| .{ .list = ids } else null;
    }

    pub fn isReady(_: *const TrieState) bool {
        return true;
    }

    pub fn canStop(s: *TrieState) Allocator.Error!bool {
        return s.span.canStop();
    }

    pub fn forcedToken(s: *TrieState) Allocator.Error!?i32 {
        return s.span.forced(s.trie);
    }

    pub fn forced(s: *TrieState, out: []i32, timeout: u32) Allocator.Error!usize {
        return s.span.forcedRun(s.trie, out, timeout);
    }

    pub fn forcedBytes(_: *TrieState, _: []u8) Allocator.Error!usize {
        return 0;
    }

    pub fn endTokens(_: *const TrieState) []const i32 {
        return &.{};
    }

    pub fn report(s: *TrieState) Allocator.Error!contract.Report {
        return s.span.report(if (s.span.allowed(s.trie)) |ids| ids.len else null, s.span.canStop());
    }

    pub fn leafName(s: *const TrieState) ?[]const u8 {
        const leaf = s.span.leaf() orelse return null;
        return s.trie.leafName(leaf.descriptor, leaf.index);
    }

    pub fn nIllegal(s: *const TrieState) u32 {
        return s.span.illegal;
    }

    pub fn usage(_: *const TrieState) Usage {
        return .{};
    }

    pub fn prefetch(s: *const TrieState) void {
        if (s.span.position) |position| s.trie.prefetch(position);
    }
};
