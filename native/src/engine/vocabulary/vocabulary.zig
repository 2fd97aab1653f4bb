//! The tokens of a model: how many there are, their bytes and what they are for.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const identity = @import("../base/identity.zig");
const Diagnostic = diagnostic.Diagnostic;
const tokens_module = @import("tokens.zig");
pub const Flags = tokens_module.Flags;
pub const Tokens = tokens_module.Tokens;
const check = @import("check.zig");
const ByteTrie = @import("byte_trie.zig").ByteTrie;
const StringIndex = @import("string_index.zig").StringIndex;
const Mapping = @import("../platform/mapping.zig").Mapping;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// The model's own tokenizer: eliza_tokenize_callback of the header.
pub const Tokenizer = struct {
    callback: *const Callback,
    user_data: ?*anyopaque,

    /// Returns the number of tokens, of which the first `cap` were written; negative if it cannot tokenize the text.
    pub const Callback = fn (text: [*]const u8, text_len: usize, out: [*]i32, cap: usize, user_data: ?*anyopaque) callconv(.c) i32;
};

/// What a vocabulary keeps alive, and how it lets go of it.
pub const Owner = struct {
    pointer: *anyopaque,
    release: *const fn (pointer: *anyopaque) void,
};

/// Reference-counted. Any thread may use it: only the byte trie is built later, under a lock.
pub const Vocabulary = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    /// No other vocabulary of the process has it, nor had it.
    identity: u32,
    tokens: Tokens,
    /// "" if unknown.
    model_id: []const u8,
    tokenizer: ?Tokenizer = null,
    /// What the tokenizer needs. Released with the vocabulary.
    owner: ?Owner = null,
    /// Built when a recognizer first needs it.
    byte_trie: std.atomic.Value(?*ByteTrie) = .init(null),
    /// Built when a JSON Schema first needs it.
    string_index: std.atomic.Value(?*StringIndex) = .init(null),
    /// The file that holds the arrays. Null if the vocabulary owns them.
    mapping: ?Mapping = null,
    mutex: Mutex = .{},

    /// Copies everything. The caller owns one reference. `model_id` is "" if unknown.
    pub fn create(gpa: Allocator, from: Tokens, model_id: []const u8, diag: *Diagnostic) diagnostic.Error!*Vocabulary {
        return copy(gpa, from, model_id) catch diag.outOfMemory();
    }

    fn copy(gpa: Allocator, from: Tokens, id: []const u8) Allocator.Error!*Vocabulary {
        const v = try gpa.create(Vocabulary);
        errdefer gpa.destroy(v);
        const model_id = try gpa.dupe(u8, id);
        errdefer gpa.free(model_id);
        const bytes = try gpa.dupe(u8, from.bytes);
        errdefer gpa.free(bytes);
        const offsets = try gpa.dupe(u64, from.offsets);
        errdefer gpa.free(offsets);
        const flags = try gpa.dupe(Flags, from.flags);
        v.* = .{
            .gpa = gpa,
            .identity = identity.next(),
            .tokens = .{ .n = from.n, .bytes = bytes, .offsets = offsets, .flags = flags },
            .model_id = model_id,
        };
        return v;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(v: *const Vocabulary) *const Vocabulary {
        _ = @constCast(v).references.fetchAdd(1, .monotonic);
        return v;
    }

    /// Gives a reference back; the last one frees the vocabulary. Safe from any thread.
    pub fn release(v: *const Vocabulary) void {
        const owned = @constCast(v);
        if (owned.references.fetchSub(1, .acq_rel) != 1) return;
        const gpa = v.gpa;
        if (v.owner) |owner| owner.release(owner.pointer);
        if (v.byte_trie.load(.monotonic)) |trie| {
            if (v.mapping == null) trie.deinit(gpa);
            gpa.destroy(trie);
        }
        if (v.string_index.load(.monotonic)) |index| {
            index.deinit();
            gpa.destroy(index);
        }
        if (v.mapping) |mapping| mapping.close() else {
            gpa.free(v.model_id);
            gpa.free(v.tokens.bytes);
            gpa.free(v.tokens.offsets);
            gpa.free(v.tokens.flags);
        }
        gpa.destroy(owned);
    }

    /// The trie of the tokens' bytes, built by the first call. Lives as long as the vocabulary. Fails for a
    /// vocabulary without bytes and beyond the limits of a trie.
    pub fn byteTrie(v: *const Vocabulary, diag: *Diagnostic) diagnostic.Error!*const ByteTrie {
        if (v.byte_trie.load(.acquire)) |trie| return trie;
        const owned = @constCast(v);
        owned.mutex.lock();
        defer owned.mutex.unlock();
        if (v.byte_trie.load(.acquire)) |trie| return trie; // another thread was faster
        const trie = v.gpa.create(ByteTrie) catch return diag.outOfMemory();
        errdefer v.gpa.destroy(trie);
        trie.* = try .build(v.gpa, &v.tokens, diag);
        owned.byte_trie.store(trie, .release);
        return trie;
    }

    /// What the tokens do inside JSON strings, found by the first call. Lives as long as the vocabulary.
    pub fn stringIndex(v: *const Vocabulary, diag: *Diagnostic) diagnostic.Error!*StringIndex {
        if (v.string_index.load(.acquire)) |index| return index;
        const trie = try v.byteTrie(diag);
        const owned = @constCast(v);
        owned.mutex.lock();
        defer owned.mutex.unlock();
        if (v.string_index.load(.acquire)) |index| return index; // another thread was faster
        const index = v.gpa.create(StringIndex) catch return diag.outOfMemory();
        errdefer v.gpa.destroy(index);
        try index.build(v.gpa, &v.tokens, trie, diag);
        owned.string_index.store(index, .release);
        return index;
    }

    /// Whether arrays out of a file, with their byte trie, are sound, whatever wrote them.
    pub fn isSound(v: *const Vocabulary) Allocator.Error!bool {
        return check.isSound(v.gpa, &v.tokens, v.byte_trie.load(.acquire).?);
    }

    /// A hash of all tokens, with their bytes and flags (Wyhash). Takes time in proportion to the vocabulary.
    pub fn fingerprint(v: *const Vocabulary) u64 {
        var hash: std.hash.Wyhash = .init(v.tokens.n);
        hash.update(std.mem.sliceAsBytes(v.tokens.offsets));
        hash.update(v.tokens.bytes);
        hash.update(std.mem.sliceAsBytes(v.tokens.flags));
        return hash.final();
    }

    /// Whether `pointer` is what the vocabulary keeps alive.
    pub fn isOwnedBy(v: *const Vocabulary, pointer: *const anyopaque) bool {
        return if (v.owner) |owner| owner.pointer == pointer else false;
    }

    /// Memory in use, the byte trie included once it is built.
    pub fn retainedBytes(v: *const Vocabulary) usize {
        const trie = if (v.byte_trie.load(.acquire)) |trie| @sizeOf(ByteTrie) + trie.bytes() else 0;
        return @sizeOf(Vocabulary) + v.model_id.len + v.tokens.bytes.len + 8 * v.tokens.offsets.len + v.tokens.flags.len + trie;
    }
};
