//! A context of the C interface: a model with its id, and what callers do with its vocabulary.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const RecognizerCache = @import("../compile/recognizer_cache.zig").RecognizerCache;
const compile = @import("../compile/compile.zig");
const payload = @import("../compile/payload.zig");
const Model = @import("model.zig").Model;
const embedder_module = @import("embedder.zig");
const Embedder = embedder_module.Embedder;
const residency = @import("engine").residency;
const Verifier = @import("verifier.zig").Verifier;
const loader = @import("loader.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const vocabulary = @import("engine").vocabulary;
const Vocabulary = vocabulary.Vocabulary;
const TokenTrie = @import("engine").trie.TokenTrie;
const PartedTrie = @import("engine").parted_trie.PartedTrie;
const file = @import("engine").file;
const log = @import("engine").log;
const Mutex = @import("engine").mutex.Mutex;
const Recognizer = @import("engine").recognizer.Recognizer;
const Spelling = @import("engine").constraint.Spelling;
const gpa = @import("engine").memory.gpa;

/// Reference-counted, and safe from any thread.
pub const Context = struct {
    references: std.atomic.Value(u32) = .init(1),
    /// Held while a stream is opened, which may replace the models.
    opening: Mutex = .{},
    /// Guards the next four, for moments.
    settings: Mutex = .{},
    model: *Model,
    /// The drafting model that was used last.
    drafter: ?*Model = null,
    /// Receives what becomes of the drafts of its streams.
    verifier: ?Verifier = null,
    /// "" if unknown.
    model_id: []const u8 = "",
    mutex: Mutex = .{},
    /// The last one, under `mutex`.
    embedder: ?Embedder = null,
    /// Of the vocabulary, under `mutex`. Null until a payload has one.
    fingerprint: ?u64 = null,
    /// For grammars of streams: special tokens are text, as llama.cpp's grammars take them. Made for the first one.
    text_vocabulary: ?*Vocabulary = null,
    grammars: RecognizerCache = .{},
    /// For payloads with parts. Made for the first one.
    named_vocabulary: ?*Vocabulary = null,
    parts: RecognizerCache = .{},

    /// Loads a GGUF file, or the first one, by name, under `text/` of a folder. Finds libllama if none is bound
    /// yet. The caller owns one reference.
    pub fn create(bundle: [:0]const u8, d: *Diagnostic) diagnostic.Error!*Context {
        const runtime = try loader.load("", d);
        const in_folder = modelInFolder(bundle) catch return d.outOfMemory();
        defer if (in_folder) |path| gpa.free(path);
        const context = gpa.create(Context) catch return d.outOfMemory();
        errdefer gpa.destroy(context);
        context.* = .{ .model = try .load(runtime, in_folder orelse bundle, null, d) };
        return context;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(context: *Context) *Context {
        _ = context.references.fetchAdd(1, .monotonic);
        return context;
    }

    /// Gives a reference back; the last one frees the context. Safe from any thread.
    pub fn release(context: *Context) void {
        if (context.references.fetchSub(1, .acq_rel) != 1) return;
        context.grammars.deinit();
        if (context.text_vocabulary) |v| v.release();
        context.parts.deinit();
        if (context.named_vocabulary) |v| v.release();
        if (context.drafter) |drafter| drafter.release();
        if (context.embedder) |embedder| embedder.deinit();
        context.model.release();
        gpa.free(context.model_id);
        gpa.destroy(context);
    }

    /// Copies the id, which payloads are compared with.
    pub fn setModelId(context: *Context, model_id: []const u8) error{OutOfMemory}!void {
        const copy = try gpa.dupe(u8, model_id);
        context.settings.lock();
        const old = context.model_id;
        context.model_id = copy;
        context.settings.unlock();
        gpa.free(old);
    }

    /// A copy, which the caller frees.
    pub fn modelId(context: *Context) error{OutOfMemory}![]const u8 {
        context.settings.lock();
        defer context.settings.unlock();
        return gpa.dupe(u8, context.model_id);
    }

    pub fn setVerifier(context: *Context, verifier: ?Verifier) void {
        context.settings.lock();
        defer context.settings.unlock();
        context.verifier = verifier;
    }

    pub fn verifierNow(context: *Context) ?Verifier {
        context.settings.lock();
        defer context.settings.unlock();
        return context.verifier;
    }

    /// The model as it is now. The caller owns one reference.
    fn modelNow(context: *Context) *Model {
        context.settings.lock();
        defer context.settings.unlock();
        return context.model.retain();
    }

    fn drafterNow(context: *Context) ?*Model {
        context.settings.lock();
        defer context.settings.unlock();
        return if (context.drafter) |drafter| drafter.retain() else null;
    }

    /// Its reference goes to the context, that of the old one to the caller.
    fn exchange(context: *Context, comptime field: []const u8, new: @FieldType(Context, field)) @FieldType(Context, field) {
        context.settings.lock();
        defer context.settings.unlock();
        defer @field(context, field) = new;
        return @field(context, field);
    }

    /// The model with so many layers on the GPU: the loaded one, or a new one that replaces it. Negative: the
    /// loaded one. The caller owns one reference, and holds `opening`.
    pub fn modelWithGpuLayers(context: *Context, n_gpu_layers: i32, d: *Diagnostic) diagnostic.Error!*Model {
        if (n_gpu_layers >= 0 and !context.model.hasLayersOnGpu(n_gpu_layers)) {
            const loaded = try Model.load(context.model.runtime, context.model.path, n_gpu_layers, d);
            context.exchange("model", loaded).release();
        }
        return context.model.retain();
    }

    /// A drafting model with the same vocabulary. The last one is kept, so that each generation may ask for it. The caller owns
    /// one reference, and holds `opening`.
    pub fn drafterOf(context: *Context, path: []const u8, n_gpu_layers: i32, d: *Diagnostic) diagnostic.Error!*Model {
        if (context.drafterNow()) |kept| {
            if (std.mem.eql(u8, kept.path, path) and (n_gpu_layers < 0 or kept.hasLayersOnGpu(n_gpu_layers))) return kept;
            kept.release();
        }
        const loaded = try Model.load(context.model.runtime, path, if (n_gpu_layers < 0) null else n_gpu_layers, d);
        errdefer loaded.release();
        try checkDrafter(loaded, context.model, d);
        if (context.exchange("drafter", loaded.retain())) |old| old.release();
        return loaded;
    }

    /// A copy of all tokens, with bytes, flags and tokenizer. The caller owns one reference.
    pub fn vocabularyOf(context: *Context, d: *Diagnostic) diagnostic.Error!*Vocabulary {
        return context.copyVocabulary(.named, d) catch |e| switch (e) {
            error.OutOfMemory => d.outOfMemory(),
            error.Failed => error.Failed,
        };
    }

    /// A GBNF grammar with a rule `root`, as llama.cpp takes it. The caller owns one reference. Safe from any thread.
    pub fn grammarOf(context: *Context, gbnf: []const u8, d: *Diagnostic) diagnostic.Error!*Recognizer {
        if (context.grammars.get(gbnf)) |found| return found;
        const kept = try context.keptVocabulary(&context.text_vocabulary, .text, d);
        const made = try compile.compile(gpa, kept, .{ .gbnf = .{ .text = gbnf, .options = .{} } }, .{}, d);
        errdefer made.release();
        context.grammars.put(gbnf, made) catch return d.outOfMemory();
        return made;
    }

    /// A payload whose trie has parts, with these. The caller owns one reference. Safe from any thread.
    pub fn addParts(context: *Context, trie: *TokenTrie, d: *Diagnostic) diagnostic.Error!*PartedTrie {
        return payload.addParts(gpa, try context.keptVocabulary(&context.named_vocabulary, .named, d), trie, &context.parts, d);
    }

    /// What a model's tokens spell, for payloads. Lends both.
    pub const Speller = struct {
        context: *Context,
        model: *const Model,

        /// Lends the speller.
        pub fn spelling(speller: *const Speller) Spelling {
            return .{ .pointer = speller, .append = appendForSpelling, .fingerprint = fingerprintOf, .identity = speller.model.identity };
        }
    };

    /// What special tokens are.
    const Special = enum { named, text };

    fn keptVocabulary(context: *Context, kept: *?*Vocabulary, special: Special, d: *Diagnostic) diagnostic.Error!*const Vocabulary {
        context.mutex.lock();
        defer context.mutex.unlock();
        if (kept.* == null) kept.* = context.copyVocabulary(special, d) catch |e| switch (e) {
            error.OutOfMemory => return d.outOfMemory(),
            error.Failed => return error.Failed,
        };
        return kept.*.?;
    }

    fn copyVocabulary(context: *Context, special: Special, d: *Diagnostic) error{ OutOfMemory, Failed }!*Vocabulary {
        const model = context.modelNow();
        defer model.release();
        const model_id = try context.modelId();
        defer gpa.free(model_id);
        const offsets = try gpa.alloc(u64, model.n_tokens + 1);
        defer gpa.free(offsets);
        const flags = try gpa.alloc(vocabulary.Flags, model.n_tokens);
        defer gpa.free(flags);
        var bytes: ArrayList(u8) = .empty;
        defer bytes.deinit(gpa);
        for (flags, offsets[0..model.n_tokens], 0..) |*token_flags, *offset, i| {
            const token: i32 = @intCast(i);
            offset.* = bytes.items.len;
            try model.appendBytes(token, true, &bytes);
            const attribute = model.api().llama_vocab_get_attr(model.vocab, token);
            token_flags.* = .{
                .special = special == .named and (attribute.control or attribute.unknown),
                .end_of_generation = model.isEndOfGeneration(token),
                .unused = special == .named and attribute.unused,
            };
        }
        offsets[model.n_tokens] = bytes.items.len;
        const copied = try Vocabulary.create(gpa, .{
            .n = model.n_tokens,
            .bytes = bytes.items,
            .offsets = offsets,
            .flags = flags,
        }, model_id, d);
        copied.tokenizer = .{ .callback = tokenizeText, .user_data = model };
        copied.owner = .{ .pointer = model.retain(), .release = releaseModel };
        return copied;
    }

    /// The tokens of a text, which must be UTF-8. The caller frees them.
    pub fn tokenize(
        context: *Context,
        text: []const u8,
        add_special: bool,
        parse_special: bool,
        d: *Diagnostic,
    ) diagnostic.Error![]i32 {
        const length = std.math.cast(i32, text.len) orelse
            return d.fail(.invalid_arg, "text: {d} bytes are more than libllama takes", .{text.len});
        if (!std.unicode.utf8ValidateSlice(text)) return d.fail(.invalid_arg, "text is not valid UTF-8", .{});
        const model = context.modelNow();
        defer model.release();
        var tokens = gpa.alloc(i32, text.len + 2) catch return d.outOfMemory();
        errdefer gpa.free(tokens);
        const room = std.math.lossyCast(i32, tokens.len);
        var n = model.api().llama_tokenize(model.vocab, text.ptr, length, tokens.ptr, room, add_special, parse_special);
        if (n < 0 and n != std.math.minInt(i32)) {
            tokens = gpa.realloc(tokens, @abs(n)) catch return d.outOfMemory();
            n = model.api().llama_tokenize(model.vocab, text.ptr, length, tokens.ptr, -n, add_special, parse_special);
        }
        if (n < 0) return d.fail(.ffi_fault, "llama_tokenize failed for {d} bytes of text", .{text.len});
        tokens = gpa.realloc(tokens, @intCast(n)) catch return d.outOfMemory();
        return tokens;
    }

    /// Writes the embedding of a text, if there is room, and its dimension in any case. Of a text that is longer than the
    /// model's window, the beginning counts, with the last token, which may be one that ends every text.
    pub fn embed(
        context: *Context,
        text: []const u8,
        pooling: embedder_module.Pooling,
        out: []f32,
        dimension: *usize,
        d: *Diagnostic,
    ) diagnostic.Error!void {
        const model = context.modelNow();
        defer model.release();
        if (model.hasEncoder()) {
            return d.fail(.unsupported, "{s}: models with an encoder and a decoder are unsupported", .{model.path});
        }
        dimension.* = embedder_module.dimensionOf(model);
        if (out.len < dimension.*) {
            return d.fail(.invalid_arg, "out_capacity: {d} is less than the dimension, {d}", .{ out.len, dimension.* });
        }
        const all = try context.tokenize(text, true, false, d);
        defer gpa.free(all);
        if (all.len == 0) return d.fail(.invalid_arg, "text has no tokens", .{});
        const tokens = all[0..@min(all.len, embedder_module.windowOf(model))];
        if (tokens.len < all.len) {
            const message = "embed: the text has {d} tokens, and the model was trained with {d}: those between are left out";
            log.write(.warn, message, .{ all.len, tokens.len });
        }
        tokens[tokens.len - 1] = all[all.len - 1];
        context.mutex.lock();
        defer context.mutex.unlock();
        const embedder = try context.embedderFor(model, pooling, @intCast(tokens.len), d);
        try embedder.embed(tokens, out[0..dimension.*], d);
    }

    fn embedderFor(
        context: *Context,
        model: *Model,
        pooling: embedder_module.Pooling,
        n_tokens: u32,
        d: *Diagnostic,
    ) diagnostic.Error!*Embedder {
        if (context.embedder) |*kept| {
            if (kept.model == model and kept.pooling == pooling and n_tokens <= kept.n_tokens_max) return kept;
        }
        context.dropEmbedder();
        context.embedder = try .init(model, pooling, n_tokens, d);
        return &context.embedder.?;
    }

    fn dropEmbedder(context: *Context) void {
        if (context.embedder) |embedder| embedder.deinit();
        context.embedder = null;
    }

    /// What memory advice is about: the model, or the drafting model.
    pub const Region = enum { text, drafter };

    /// Reads into memory what the system has of the region on disk alone.
    pub fn acquire(context: *Context, region: Region, d: *Diagnostic) diagnostic.Error!void {
        const model = switch (region) {
            .text => context.modelNow(),
            .drafter => context.drafterNow() orelse return,
        };
        defer model.release();
        residency.advise(gpa, model.path, .needed) catch return d.outOfMemory();
    }

    /// Gives memory back: the pages of the model's file, which come again when they are read, and what is kept for the next
    /// embedding; the drafting model, once no stream has it.
    pub fn evict(context: *Context, region: Region, d: *Diagnostic) diagnostic.Error!void {
        switch (region) {
            .text => {
                context.mutex.lock();
                defer context.mutex.unlock();
                context.dropEmbedder();
                const model = context.modelNow();
                defer model.release();
                residency.advise(gpa, model.path, .not_needed) catch return d.outOfMemory();
            },
            .drafter => {
                if (context.exchange("drafter", null)) |drafter| drafter.release();
            },
        }
    }

    /// The text of tokens. The caller frees it.
    pub fn detokenize(
        context: *Context,
        tokens: []const i32,
        remove_special: bool,
        unparse_special: bool,
        d: *Diagnostic,
    ) diagnostic.Error![]u8 {
        const n_tokens = std.math.cast(i32, tokens.len) orelse
            return d.fail(.invalid_arg, "tokens: {d} are more than libllama takes", .{tokens.len});
        const model = context.modelNow();
        defer model.release();
        try model.checkTokens("tokens", tokens, d);
        var text = gpa.alloc(u8, tokens.len * 8 + 16) catch return d.outOfMemory();
        errdefer gpa.free(text);
        while (true) {
            const room = std.math.lossyCast(i32, text.len);
            const n = model.api().llama_detokenize(model.vocab, tokens.ptr, n_tokens, text.ptr, room, remove_special, unparse_special);
            if (n == std.math.minInt(i32)) return d.fail(.ffi_fault, "llama_detokenize failed for {d} tokens", .{tokens.len});
            if (n >= 0) return gpa.realloc(text, @intCast(n)) catch d.outOfMemory();
            text = gpa.realloc(text, @abs(n)) catch return d.outOfMemory();
        }
    }
};

/// For vocabularies: eliza_tokenize_callback of the header.
fn tokenizeText(text: [*]const u8, text_len: usize, out: [*]i32, cap: usize, user_data: ?*anyopaque) callconv(.c) i32 {
    const model: *const Model = @ptrCast(@alignCast(user_data.?));
    const length = std.math.cast(i32, text_len) orelse return -1;
    const n = model.api().llama_tokenize(model.vocab, text, length, out, std.math.lossyCast(i32, cap), false, false);
    return if (n == std.math.minInt(i32)) -1 else @intCast(@abs(n));
}

/// Fails unless the two models have the same vocabulary, up to what one has more at its end.
fn checkDrafter(drafter: *const Model, model: *const Model, d: *Diagnostic) diagnostic.Error!void {
    const surplus_max = 128; // as llama.cpp allows: rows that only fill up a matrix
    const n = @min(drafter.n_tokens, model.n_tokens);
    if (@max(drafter.n_tokens, model.n_tokens) - n > surplus_max) {
        return d.fail(
            .model_mismatch,
            "mtp_drafter_path: {s} has {d} tokens, the model has {d}",
            .{ drafter.path, drafter.n_tokens, model.n_tokens },
        );
    }
    var bytes: [2]ArrayList(u8) = .{ .empty, .empty };
    defer for (&bytes) |*one| one.deinit(gpa);
    for (0..n) |token| {
        for (&bytes, [_]*const Model{ drafter, model }) |*one, of| {
            one.clearRetainingCapacity();
            of.appendBytes(@intCast(token), true, one) catch return d.outOfMemory();
        }
        if (std.mem.eql(u8, bytes[0].items, bytes[1].items)) continue;
        return d.fail(.model_mismatch, "mtp_drafter_path: token {d} is {f} in {s}, and {f} in the model", .{
            token, diagnostic.quoted(bytes[0].items), drafter.path, diagnostic.quoted(bytes[1].items),
        });
    }
}

fn appendForSpelling(pointer: *const anyopaque, token: i32, out: *ArrayList(u8)) error{OutOfMemory}!void {
    const speller: *const Context.Speller = @ptrCast(@alignCast(pointer));
    return speller.model.appendBytes(token, true, out);
}

fn fingerprintOf(pointer: *const anyopaque, d: *Diagnostic) diagnostic.Error!u64 {
    const context = @as(*const Context.Speller, @ptrCast(@alignCast(pointer))).context;
    context.mutex.lock();
    defer context.mutex.unlock();
    if (context.fingerprint) |known| return known;
    const copied = try context.vocabularyOf(d);
    defer copied.release();
    context.fingerprint = copied.fingerprint();
    return context.fingerprint.?;
}

fn releaseModel(pointer: *anyopaque) void {
    const model: *Model = @ptrCast(@alignCast(pointer));
    model.release();
}

fn modelInFolder(bundle: []const u8) error{OutOfMemory}!?[]u8 {
    const folder = try std.mem.concatWithSentinel(gpa, u8, &.{ bundle, "/text" }, 0);
    defer gpa.free(folder);
    const name = try file.firstName(gpa, folder, isModelName) orelse return null;
    defer gpa.free(name);
    return try std.mem.concat(gpa, u8, &.{ folder, "/", name });
}

fn isModelName(name: []const u8) bool {
    return std.ascii.endsWithIgnoreCase(name, ".gguf");
}
