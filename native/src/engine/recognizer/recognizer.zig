//! A compiled language for one vocabulary, with its mask cache. Shared by any number of threads.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Info = @import("../contract/info.zig").Info;
const span = @import("../contract/span.zig");
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const Language = @import("language.zig").Language;
const key_module = @import("key.zig");
const bounded_texts = @import("../language/bounded_texts.zig");
const graph_key = @import("../glr/key.zig");
const Mask = @import("../mask/mask.zig").Mask;
const cache_module = @import("../mask/cache.zig");
const MaskCache = cache_module.MaskCache;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const ScratchPool = @import("../mask/scratch.zig").ScratchPool;
const Mapping = @import("../platform/mapping.zig").Mapping;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// Of what is found after compiling.
pub const Limits = struct {
    /// Memory of masks and tables that are kept.
    mask_bytes_max: u64,
    /// Memory of what else is kept of texts, for each JSON Schema.
    text_bytes_max: u64 = std.math.maxInt(u64),
    /// Of each operation on a text. 0: none.
    mask_ms_max: u32 = 0,
};

/// Of what texts leave, so much may stay, and as much as masks may take: the least that `text_bytes_max` is.
const grown_max = 1 << 20;

/// Reference-counted. Any thread may use it; matchers bring their own pool.
pub const Recognizer = struct {
    references: std.atomic.Value(u32) = .init(1),
    /// Texts that continue: states that hold positions and masks.
    texts: std.atomic.Value(u32) = .init(0),
    /// Held while the first of them begins.
    beginning: Mutex = .{},
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    /// Lent by the vocabulary.
    trie: *const ByteTrie,
    language: Language,
    arrays: Arrays,
    /// The language's, copied for quick look-ups of masks.
    stack_form: StackForm,
    /// The file of mapped arrays. Null if there are none.
    mapping: ?Mapping = null,
    /// What compiling found, one line each.
    warning_lines: [:0]const u8,
    account: cache_module.Account,
    masks: MaskCache,
    scratches: ScratchPool,
    /// For each operation on a text. 0: no limit.
    mask_ms_max: u32,

    /// Takes over the language, even if it fails, and copies `warning_lines`. If the arrays are mapped, the caller
    /// sets `mapping`. The caller owns one reference.
    pub fn create(
        gpa: Allocator,
        vocabulary: *const Vocabulary,
        trie: *const ByteTrie,
        language: Language,
        arrays: Arrays,
        warning_lines: []const u8,
        limits: Limits,
    ) Allocator.Error!*Recognizer {
        errdefer {
            var owned = language;
            owned.deinit(gpa, arrays);
        }
        std.debug.assert(trie.n_tokens == vocabulary.tokens.n);
        const r = try gpa.create(Recognizer);
        errdefer gpa.destroy(r);
        const text = try gpa.dupeSentinel(u8, warning_lines, 0);
        r.* = .{
            .gpa = gpa,
            .vocabulary = vocabulary.retain(),
            .trie = trie,
            .language = language,
            .arrays = arrays,
            .stack_form = language.stackForm(),
            .warning_lines = text,
            .account = .{ .bytes_max = limits.mask_bytes_max },
            .masks = .{ .gpa = gpa, .account = &r.account },
            .scratches = .{ .gpa = gpa, .trie = trie },
            .mask_ms_max = limits.mask_ms_max,
        };
        r.language.limitKept(std.math.lossyCast(usize, limits.text_bytes_max));
        return r;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(r: *Recognizer) *Recognizer {
        _ = r.references.fetchAdd(1, .monotonic);
        return r;
    }

    /// Gives a reference back; the last one frees the recognizer. Safe from any thread.
    pub fn release(r: *Recognizer) void {
        if (r.references.fetchSub(1, .acq_rel) != 1) return;
        r.scratches.deinit();
        r.masks.deinit();
        r.language.deinit(r.gpa, r.arrays);
        if (r.mapping) |mapping| mapping.close();
        r.gpa.free(r.warning_lines);
        r.vocabulary.release();
        r.gpa.destroy(r);
    }

    /// A text begins. If none continues, and those before have left more than is to be kept, that is dropped, and the masks
    /// with it, which are found by positions. Until `end`.
    pub fn begin(r: *Recognizer) void {
        r.beginning.lock();
        defer r.beginning.unlock();
        if (r.texts.load(.acquire) == 0 and r.language.grown() > @max(r.account.bytes_max, grown_max) / 2) {
            r.language.forget(r.gpa);
            r.masks.clear();
        }
        r.beginAnother();
    }

    /// The same while another continues.
    pub fn beginAnother(r: *Recognizer) void {
        _ = r.texts.fetchAdd(1, .monotonic);
    }

    pub fn end(r: *Recognizer) void {
        _ = r.texts.fetchSub(1, .release);
    }

    /// The position of the empty text.
    pub fn initial(r: *const Recognizer) Position {
        return .{ .state = r.language.initial() };
    }

    /// As `Language.advance`.
    pub fn advance(r: *const Recognizer, pool: *Pool, from: Position, text: []const u8) span.Error!?Position {
        return r.language.advance(r.gpa, pool, from, text);
    }

    /// As `Language.advanceToken`.
    pub inline fn advanceToken(r: *const Recognizer, pool: *Pool, from: Position, token: u32) span.Error!?Position {
        const tokens = &r.vocabulary.tokens;
        const text = if (tokens.isText(token)) tokens.bytesOf(token) else null;
        return r.language.advanceToken(r.gpa, pool, from, token, tokens.flagsOf(token), text);
    }

    /// As `Language.endToken`.
    pub fn endToken(r: *const Recognizer, pool: *Pool, at: Position) span.Error!Position {
        return r.language.endToken(r.gpa, pool, at);
    }

    /// As `Language.takesTokens`.
    pub fn takesTokens(r: *const Recognizer, pool: *Pool, at: Position) span.Error!bool {
        return r.language.takesTokens(r.gpa, pool, at);
    }

    /// As `Language.nextBytes`.
    pub fn nextBytes(r: *const Recognizer, pool: *Pool, at: Position) span.Error!?std.StaticBitSet(256) {
        return r.language.nextBytes(r.gpa, pool, at);
    }

    /// As `Language.canStop`.
    pub fn canStop(r: *const Recognizer, pool: *Pool, at: Position) span.Error!bool {
        return r.language.canStop(r.gpa, pool, at);
    }

    /// The mask of a position; null if it is not cached. Lent as long as the recognizer lives. Takes no lock.
    pub inline fn cachedMask(r: *const Recognizer, pool: *const Pool, at: Position) ?*const Mask {
        switch (r.stack_form) {
            .none => {
                var key: key_module.StateKey = .{ .state = r.canonicalState(at) };
                return r.masks.get(&key);
            },
            .one => {
                var key: key_module.StackKey = .of(pool, at);
                return r.masks.get(&key);
            },
            .graph => return r.cachedMaskOfGraph(pool, at),
            .mixed => return r.cachedMaskOfInner(pool, at),
        }
    }

    noinline fn cachedMaskOfGraph(r: *const Recognizer, pool: *const Pool, at: Position) ?*const Mask {
        const counts = r.language.graphCounts();
        var chain: graph_key.ChainKey = .of(pool, at, counts);
        if (!chain.is_graph) if (r.masks.get(&chain)) |mask| return mask;
        return if (chain.is_graph) r.cachedMaskOfBranches(pool, at, counts) else null;
    }

    noinline fn cachedMaskOfBranches(r: *const Recognizer, pool: *const Pool, at: Position, counts: graph_key.Counts) ?*const Mask {
        var key: graph_key.GraphKey = .of(pool, at, counts);
        return r.masks.get(&key);
    }

    noinline fn cachedMaskOfInner(r: *const Recognizer, pool: *const Pool, at: Position) ?*const Mask {
        const inner = r.language.inner(at);
        if (inner.form == .graph) {
            var key: key_module.Behind(graph_key.GraphKey) = .{ .state = inner.state, .rest = .of(pool, inner.at, inner.counts) };
            return r.masks.get(&key);
        }
        var key: key_module.StackKey = .of(pool, .{ .state = inner.state, .stack = at.stack });
        return r.masks.get(&key);
    }

    /// The state of a language without stacks, as far as masks depend on it.
    inline fn canonicalState(r: *const Recognizer, at: Position) u32 {
        return if (at.state < bounded_texts.first_state) at.state else r.language.canonical(at.state);
    }

    /// Computes the mask and caches it. Lent as long as the recognizer lives or, if there was no room, by
    /// `scratch`.
    pub fn computeMask(r: *Recognizer, pool: *Pool, at: Position, scratch: *Scratch) span.Error!*const Mask {
        const looked_at = try r.language.computeMask(&r.maskContext(), pool, at, scratch);
        var key: [cache_module.graph_key_max]u32 = undefined;
        const length = r.writeKey(pool, at, looked_at, &key) orelse return &scratch.mask;
        return r.masks.insert(key[0..length], &scratch.mask) orelse &scratch.mask;
    }

    /// Returns the length; null if the key is too long.
    fn writeKey(r: *const Recognizer, pool: *const Pool, at: Position, looked_at: u32, key: []u32) ?usize {
        key[0] = r.canonicalState(at);
        switch (r.stack_form) {
            .none => return 1,
            .one => return key_module.write(pool, at, looked_at, key[0..cache_module.key_max]),
            .graph => return graph_key.write(pool, at, r.language.graphCounts(), looked_at, key),
            .mixed => {},
        }
        const inner = r.language.inner(at);
        if (inner.form != .graph) {
            return key_module.write(pool, .{ .state = inner.state, .stack = at.stack }, looked_at, key[0..cache_module.key_max]);
        }
        key[0] = inner.state;
        return 1 + (graph_key.write(pool, inner.at, inner.counts, looked_at, key[1..]) orelse return null);
    }

    /// What the language's `computeMask` needs. Lent by the recognizer.
    pub fn maskContext(r: *Recognizer) MaskContext {
        return .{ .gpa = r.gpa, .tokens = &r.vocabulary.tokens, .trie = r.trie, .account = &r.account };
    }

    // ---- As a constraint: constraint/kinds.zig says what each promises

    pub const is_saved = true;
    pub const reads_bytes = true;

    pub fn warnings(r: *const Recognizer) [:0]const u8 {
        return r.warning_lines;
    }

    pub fn describe(r: *Recognizer) Info {
        var info: Info = .{
            .kind = r.language.kind(),
            .n_masks = r.masks.count(),
            .table_bytes = r.account.bytes.load(.monotonic),
        };
        r.language.describe(&info);
        return info;
    }

    pub fn prepare(r: *Recognizer, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return r.language.prepare(&r.maskContext(), budget, diag);
    }

    pub fn checkSpan(r: *const Recognizer, config: span.Config, _: u32, diag: *Diagnostic) diagnostic.Error!void {
        if (config.prefill.len > span.prefill_bytes_max) {
            return diag.fail(.limit, "prefill: {d} bytes are more than {d}", .{ config.prefill.len, span.prefill_bytes_max });
        }
        if (config.end == null and r.trie.end_tokens.len == 0) return diag.fail(
            .invalid_arg,
            "end: the vocabulary has no end-of-generation token, so these tokens must be given; none: the text ends by itself",
            .{},
        );
        return config.checkEnd(r.vocabulary.tokens.n, diag);
    }

    /// None unless one was requested.
    pub fn effectiveTimeout(requested: u32, _: u32) u32 {
        return requested;
    }

    pub fn listMax(_: *const Recognizer) usize {
        return 0;
    }

    pub fn prematureEnd(_: *const Recognizer, _: anytype) ?i32 {
        return null;
    }
};
