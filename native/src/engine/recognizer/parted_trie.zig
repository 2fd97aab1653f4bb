//! A payload in which some descriptors have a language in place of leaves: the trie, in which those have a root alone, and
//! a recognizer for each of them. A payload without is its trie.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Info = @import("../contract/info.zig").Info;
const span = @import("../contract/span.zig");
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const Recognizer = @import("recognizer.zig").Recognizer;
const Ends = @import("state.zig").Ends;

/// Reference-counted, shared by any number of threads.
pub const PartedTrie = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    trie: *TokenTrie,
    /// Those of `trie.parts`, for one vocabulary.
    parts: []const Part,
    warning_lines: [:0]const u8,

    pub const Part = struct {
        recognizer: *Recognizer,
        /// Without tokens: the span ends by itself alone.
        ends: Ends,
    };

    /// Takes over the references and the arrays, unless it fails. The caller owns one reference.
    pub fn create(gpa: Allocator, trie: *TokenTrie, parts: []const Part, warning_lines: [:0]const u8) Allocator.Error!*PartedTrie {
        std.debug.assert(parts.len == trie.parts.len and parts.len > 0);
        const p = try gpa.create(PartedTrie);
        p.* = .{ .gpa = gpa, .trie = trie, .parts = parts, .warning_lines = warning_lines };
        return p;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(p: *PartedTrie) *PartedTrie {
        _ = p.references.fetchAdd(1, .monotonic);
        return p;
    }

    /// Gives a reference back; the last one frees it. Safe from any thread.
    pub fn release(p: *PartedTrie) void {
        if (p.references.fetchSub(1, .acq_rel) != 1) return;
        for (p.parts) |part| part.recognizer.release();
        p.gpa.free(p.parts);
        p.gpa.free(p.warning_lines);
        p.trie.release();
        p.gpa.destroy(p);
    }

    /// The part of a descriptor; null if that has leaves.
    pub fn partOf(p: *const PartedTrie, descriptor: u32) ?*const Part {
        const all = p.trie.parts;
        const i = std.sort.lowerBound(TokenTrie.Part, all, descriptor, order);
        return if (i < all.len and all[i].descriptor == descriptor) &p.parts[i] else null;
    }

    fn order(descriptor: u32, part: TokenTrie.Part) std.math.Order {
        return std.math.order(descriptor, part.descriptor);
    }

    // ---- As a constraint: constraint/kinds.zig says what each promises

    pub const is_saved = TokenTrie.is_saved;
    pub const reads_bytes = true;
    pub const effectiveTimeout = TokenTrie.effectiveTimeout;

    pub fn warnings(p: *const PartedTrie) [:0]const u8 {
        return p.warning_lines;
    }

    /// The sizes of all parts together.
    pub fn describe(p: *PartedTrie) Info {
        var all = p.trie.describe();
        for (p.parts) |part| {
            const one = part.recognizer.describe();
            inline for (comptime std.meta.fieldNames(Info)) |name| {
                if (comptime !std.mem.eql(u8, name, "kind")) @field(all, name) += @field(one, name);
            }
        }
        return all;
    }

    pub fn prepare(p: *PartedTrie, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        for (p.parts) |part| try part.recognizer.prepare(budget, diag);
    }

    pub fn checkSpan(p: *const PartedTrie, config: span.Config, default_timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        return p.trie.checkSpan(config, default_timeout, diag);
    }

    pub fn listMax(_: *const PartedTrie) usize {
        return 0;
    }

    pub fn prematureEnd(p: *const PartedTrie, model: anytype) ?i32 {
        return p.trie.prematureEnd(model);
    }
};
