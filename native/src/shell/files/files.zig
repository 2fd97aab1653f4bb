//! Vocabularies and recognizers as files that are mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const vocabulary_module = @import("engine").vocabulary;
const Vocabulary = vocabulary_module.Vocabulary;
const ByteTrie = @import("engine").byte_trie.ByteTrie;
const recognizer_module = @import("engine").recognizer;
const Recognizer = recognizer_module.Recognizer;
const Language = recognizer_module.Language;
const signature = @import("engine").signature;
const image = @import("image.zig");

const VocabularyContent = struct {
    tokens: vocabulary_module.Tokens,
    model_id: []const u8,
    trie: ByteTrie,
};

pub fn saveVocabulary(gpa: Allocator, vocabulary: *const Vocabulary, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    const trie = try vocabulary.byteTrie(diag);
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    var writer: image.Writer = .{ .arena = arena.allocator() };
    writer.put(&VocabularyContent{
        .tokens = vocabulary.tokens,
        .model_id = vocabulary.model_id,
        .trie = trie.*,
    }) catch return diag.outOfMemory();
    return writer.write(path, .vocabulary, vocabulary.fingerprint(), diag);
}

/// One reference belongs to the caller.
pub fn openVocabulary(gpa: Allocator, path: []const u8, diag: *Diagnostic) diagnostic.Error!*Vocabulary {
    var reader = try image.Reader.open(gpa, path, .vocabulary, diag);
    errdefer reader.mapping.close();
    const content = reader.get(VocabularyContent) catch return image.damaged(path, diag);
    const trie = gpa.create(ByteTrie) catch return diag.outOfMemory();
    errdefer gpa.destroy(trie);
    trie.* = content.trie;
    const v = gpa.create(Vocabulary) catch return diag.outOfMemory();
    v.* = .{
        .gpa = gpa,
        .tokens = content.tokens,
        .model_id = content.model_id,
        .byte_trie = .init(trie),
        .mapping = reader.mapping,
    };
    return v;
}

const Kind = enum(u32) { choices, regex, grammar };

/// Which table follows: a lexer state, or a shard of restarts.
const TableKey = extern struct { is_restart: u32, index: u32 };

pub fn saveRecognizer(gpa: Allocator, recognizer: *const Recognizer, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    var writer: image.Writer = .{ .arena = arena.allocator() };
    putRecognizer(&writer, recognizer) catch return diag.outOfMemory();
    return writer.write(path, .constraint, recognizer.vocabulary.fingerprint(), diag);
}

fn putRecognizer(writer: *image.Writer, recognizer: *const Recognizer) Allocator.Error!void {
    const kind: Kind = switch (recognizer.language) {
        .choices => .choices,
        .regex => .regex,
        .grammar => .grammar,
    };
    try writer.put(&@as(u32, @backingInt(kind)));
    try writer.put(&@as([]const u8, recognizer.notes));
    switch (recognizer.language) {
        inline else => |*language| try writer.put(language),
    }
    const store = &(recognizer.tables orelse return);
    var keys: std.ArrayList(TableKey) = .empty;
    var tables: std.ArrayList(*const signature.Table) = .empty;
    for ([_]@TypeOf(store.restarts){ store.continuations, store.restarts }, 0..) |slots, is_restart| {
        for (slots, 0..) |*slot, index| {
            const table = store.built(slot) orelse continue;
            try keys.append(writer.arena, .{ .is_restart = @intCast(is_restart), .index = @intCast(index) });
            try tables.append(writer.arena, table);
        }
    }
    try writer.put(&@as([]const TableKey, keys.items));
    for (tables.items) |table| try writer.put(table);
}

/// The vocabulary must outlive the recognizer.
pub fn openRecognizer(gpa: Allocator, vocabulary: *const Vocabulary, path: []const u8, mask_bytes_max: u64, diag: *Diagnostic) diagnostic.Error!*Recognizer {
    const trie = try vocabulary.byteTrie(diag);
    var reader = try image.Reader.open(gpa, path, .constraint, diag);
    errdefer reader.mapping.close();
    if (reader.fingerprint != vocabulary.fingerprint()) {
        return diag.fail(.file_invalid, "{f} is for another vocabulary", .{diagnostic.quoted(path)});
    }
    return readRecognizer(gpa, vocabulary, trie, &reader, mask_bytes_max) catch |e| switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Damaged => image.damaged(path, diag),
    };
}

fn readRecognizer(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    reader: *image.Reader,
    mask_bytes_max: u64,
) error{ OutOfMemory, Damaged }!*Recognizer {
    const kind = std.enums.fromInt(Kind, try reader.get(u32)) orelse return error.Damaged;
    const notes = try reader.get([]const u8);
    const language: Language = switch (kind) {
        .choices => .{ .choices = try reader.get(@FieldType(Language, "choices")) },
        .regex => .{ .regex = try reader.get(@FieldType(Language, "regex")) },
        .grammar => .{ .grammar = try reader.get(@FieldType(Language, "grammar")) },
    };
    const recognizer = try Recognizer.create(gpa, vocabulary, trie, .{ .mapped = language }, notes, mask_bytes_max);
    errdefer recognizer.destroy();
    if (recognizer.tables) |*store| {
        const keys = try reader.get([]const TableKey);
        store.mapped = try gpa.alloc(signature.Table, keys.len);
        for (keys, store.mapped) |key, *table| {
            table.* = try reader.get(signature.Table);
            const slots = if (key.is_restart != 0) store.restarts else store.continuations;
            if (key.index >= slots.len) return error.Damaged;
            slots[key.index].store(table, .monotonic);
        }
    }
    recognizer.mapping = reader.mapping;
    return recognizer;
}
