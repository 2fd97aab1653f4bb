//! The tokens of a model: how many there are, their bytes and what they are for.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const VocabularyTrie = @import("byte_trie.zig").VocabularyTrie;
const Mapping = @import("../platform/mapping.zig").Mapping;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// ELIZA_TOKEN_* of the header.
pub const Flags = packed struct(u8) {
    special: bool = false,
    end_of_generation: bool = false,
    unused: bool = false,
    _: u5 = 0,
};

/// How the model's tokenizer spells a text: eliza_tokenize_callback of the header.
pub const Tokenizer = struct {
    callback: *const Callback,
    user_data: ?*anyopaque,

    pub const Callback = fn (text: [*]const u8, text_len: usize, out: [*]i32, cap: usize, user_data: ?*anyopaque) callconv(.c) i32;
};

pub const Owner = struct {
    pointer: *anyopaque,
    release: *const fn (pointer: *anyopaque) void,
};

pub const Vocabulary = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    n_tokens: u32,
    /// "" if unknown.
    model_id: []const u8,
    bytes: []const u8,
    /// n_tokens + 1 of them; empty if the bytes are not known.
    offsets: []const u64,
    /// Empty if all are 0.
    flags: []const Flags,
    tokenizer: ?Tokenizer = null,
    /// What the vocabulary was copied from, and keeps.
    owner: ?Owner = null,
    /// Built when a recognizer first needs it.
    byte_trie: std.atomic.Value(?*VocabularyTrie) = .init(null),
    /// The file that everything is in, if it is not in memory of its own.
    mapping: ?Mapping = null,
    mutex: Mutex = .{},

    pub const Source = struct {
        n_tokens: u32,
        model_id: []const u8 = "",
        bytes: []const u8 = "",
        offsets: []const u64 = &.{},
        flags: []const Flags = &.{},
    };

    /// Copies everything. One reference belongs to the caller.
    pub fn create(gpa: Allocator, from: Source, diag: *Diagnostic) diagnostic.Error!*Vocabulary {
        return copy(gpa, from) catch diag.outOfMemory();
    }

    fn copy(gpa: Allocator, from: Source) Allocator.Error!*Vocabulary {
        const v = try gpa.create(Vocabulary);
        errdefer gpa.destroy(v);
        const model_id = try gpa.dupe(u8, from.model_id);
        errdefer gpa.free(model_id);
        const bytes = try gpa.dupe(u8, from.bytes);
        errdefer gpa.free(bytes);
        const offsets = try gpa.dupe(u64, from.offsets);
        errdefer gpa.free(offsets);
        const flags = try gpa.dupe(Flags, from.flags);
        v.* = .{
            .gpa = gpa,
            .n_tokens = from.n_tokens,
            .model_id = model_id,
            .bytes = bytes,
            .offsets = offsets,
            .flags = flags,
        };
        return v;
    }

    pub fn retain(v: *const Vocabulary) *const Vocabulary {
        _ = @constCast(v).references.fetchAdd(1, .monotonic);
        return v;
    }

    pub fn release(v: *const Vocabulary) void {
        const owned = @constCast(v);
        if (owned.references.fetchSub(1, .acq_rel) != 1) return;
        const gpa = v.gpa;
        if (v.owner) |owner| owner.release(owner.pointer);
        if (v.byte_trie.load(.monotonic)) |trie| {
            if (v.mapping == null) trie.deinit(gpa);
            gpa.destroy(trie);
        }
        if (v.mapping) |mapping| mapping.close() else {
            gpa.free(v.model_id);
            gpa.free(v.bytes);
            gpa.free(v.offsets);
            gpa.free(v.flags);
        }
        gpa.destroy(owned);
    }

    /// The trie of the token bytes. Lives as long as the vocabulary.
    pub fn byteTrie(v: *const Vocabulary, diag: *Diagnostic) diagnostic.Error!*const VocabularyTrie {
        if (v.byte_trie.load(.acquire)) |trie| return trie;
        const owned = @constCast(v);
        owned.mutex.lock();
        defer owned.mutex.unlock();
        if (v.byte_trie.load(.acquire)) |trie| return trie; // another thread was faster
        const trie = v.gpa.create(VocabularyTrie) catch return diag.outOfMemory();
        errdefer v.gpa.destroy(trie);
        trie.* = try .build(v.gpa, v, diag);
        owned.byte_trie.store(trie, .release);
        return trie;
    }

    /// Tells vocabularies with other bytes or flags apart.
    pub fn fingerprint(v: *const Vocabulary) u64 {
        var hash: std.hash.Wyhash = .init(v.n_tokens);
        hash.update(std.mem.sliceAsBytes(v.offsets));
        hash.update(v.bytes);
        hash.update(std.mem.sliceAsBytes(v.flags));
        return hash.final();
    }

    pub fn isOwnedBy(v: *const Vocabulary, pointer: *const anyopaque) bool {
        return if (v.owner) |owner| owner.pointer == pointer else false;
    }

    pub fn retainedBytes(v: *const Vocabulary) usize {
        const trie = if (v.byte_trie.load(.acquire)) |trie| @sizeOf(VocabularyTrie) + trie.bytes() else 0;
        return @sizeOf(Vocabulary) + v.model_id.len + v.bytes.len + 8 * v.offsets.len + v.flags.len + trie;
    }

    pub fn tokenBytes(v: *const Vocabulary, token: u32) []const u8 {
        if (v.offsets.len == 0) return "";
        return v.bytes[@intCast(v.offsets[token])..@intCast(v.offsets[token + 1])];
    }

    /// Whether a text can hold the token: it has bytes, and is no control token.
    pub fn isText(v: *const Vocabulary, token: u32) bool {
        const flags = v.tokenFlags(token);
        return v.tokenBytes(token).len > 0 and !flags.special and !flags.end_of_generation and !flags.unused;
    }

    pub fn tokenFlags(v: *const Vocabulary, token: u32) Flags {
        return if (v.flags.len == 0) .{} else v.flags[token];
    }
};
