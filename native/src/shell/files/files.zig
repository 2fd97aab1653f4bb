//! Saves vocabularies and recognizers to files, and opens them mapped, so that opening needs no compiling and little memory. The
//! file of a JSON Schema or of tags holds its text, since compiling it costs as little.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const identity = @import("engine").identity;
const limits = @import("engine").limits;
const Diagnostic = diagnostic.Diagnostic;
const vocabulary_module = @import("engine").vocabulary;
const Vocabulary = vocabulary_module.Vocabulary;
const ByteTrie = @import("engine").byte_trie.ByteTrie;
const Recognizer = @import("engine").recognizer.Recognizer;
const Language = @import("engine").language.Language;
const Ambiguous = @import("engine").ambiguous.Ambiguous;
const SchemaSource = @import("engine").schema.Source;
const compiler = @import("../compile/compile.zig");
const parts = @import("../compile/parts.zig");
const saved_file = @import("saved_file.zig");

pub const How = saved_file.How;

const VocabularyContent = struct {
    tokens: vocabulary_module.Tokens,
    model_id: []const u8,
    trie: ByteTrie,
};

/// Saves the vocabulary with its byte trie, which is built if it is not yet there. ELIZA_ERR_IO: the file cannot be written.
pub fn saveVocabulary(gpa: Allocator, vocabulary: *const Vocabulary, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    const trie = try vocabulary.byteTrie(diag);
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var writer: saved_file.Writer = .{ .arena = arena.allocator() };
    writer.put(&VocabularyContent{
        .tokens = vocabulary.tokens,
        .model_id = vocabulary.model_id,
        .trie = trie.*,
    }) catch return diag.outOfMemory();
    return writer.write(path, .vocabulary, vocabulary.fingerprint(), diag);
}

/// The caller owns one reference to the result, which owns the mapping. ELIZA_ERR_IO, ELIZA_ERR_FILE_INVALID.
pub fn openVocabulary(gpa: Allocator, path: []const u8, how: How, diag: *Diagnostic) diagnostic.Error!*Vocabulary {
    var reader = try saved_file.Reader.open(gpa, path, .vocabulary, how, diag);
    errdefer reader.mapping.close();
    const content = reader.get(VocabularyContent) catch return saved_file.unsound(path, diag);
    if (content.model_id.len > limits.name_bytes_max) return saved_file.unsound(path, diag);
    try saved_file.checkText(content.model_id, "the model's id", path, diag);
    const trie = gpa.create(ByteTrie) catch return diag.outOfMemory();
    errdefer gpa.destroy(trie);
    trie.* = content.trie;
    const v = gpa.create(Vocabulary) catch return diag.outOfMemory();
    errdefer gpa.destroy(v);
    v.* = .{
        .gpa = gpa,
        .identity = identity.next(),
        .tokens = content.tokens,
        .model_id = content.model_id,
        .byte_trie = .init(trie),
        .mapping = reader.mapping,
    };
    if (!how.trusted and !(v.isSound() catch return diag.outOfMemory())) return saved_file.unsound(path, diag);
    return v;
}

/// Saves the recognizer with what masks have needed so far, such as a grammar's tables. ELIZA_ERR_IO: the file cannot be written.
pub fn saveRecognizer(gpa: Allocator, recognizer: *const Recognizer, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var writer: saved_file.Writer = .{ .arena = arena.allocator() };
    putRecognizer(&writer, recognizer) catch return diag.outOfMemory();
    return writer.write(path, .constraint, recognizer.vocabulary.fingerprint(), diag);
}

fn putRecognizer(writer: *saved_file.Writer, recognizer: *const Recognizer) Allocator.Error!void {
    try writer.put(&@as(u32, @backingInt(std.meta.activeTag(recognizer.language))));
    try writer.put(&@as([]const u8, recognizer.warning_lines));
    try recognizer.language.save(writer);
}

/// The caller owns one reference to the result, which owns the mapping and holds a reference to `vocabulary`, the one that it was
/// saved for. A JSON Schema and tags are compiled again, which may fail as compiling does; of anything else only the limits
/// of its masks are read. ELIZA_ERR_IO, ELIZA_ERR_FILE_INVALID.
pub fn openRecognizer(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    path: []const u8,
    how: How,
    settings: compiler.Settings,
    diag: *Diagnostic,
) diagnostic.Error!*Recognizer {
    const trie = try vocabulary.byteTrie(diag);
    var reader = try saved_file.Reader.open(gpa, path, .constraint, how, diag);
    errdefer reader.mapping.close();
    if (reader.fingerprint != vocabulary.fingerprint()) {
        return diag.fail(.file_invalid, "{f} is for another vocabulary", .{diagnostic.quoted(path)});
    }
    return readRecognizer(gpa, vocabulary, trie, path, &reader, how, settings, diag) catch |e| switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Damaged => saved_file.unsound(path, diag),
        error.Failed => error.Failed,
    };
}

fn readRecognizer(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    path: []const u8,
    reader: *saved_file.Reader,
    how: How,
    settings: compiler.Settings,
    diag: *Diagnostic,
) (diagnostic.Error || error{ OutOfMemory, Damaged })!*Recognizer {
    const which = std.enums.fromInt(std.meta.Tag(Language), try reader.get(u32)) orelse return error.Damaged;
    const warnings = try reader.get([]const u8);
    try saved_file.checkText(warnings, "the warnings", path, diag);
    if (which == .json_schema or which == .tags) {
        const recognizer = try compileSaved(gpa, vocabulary, which, reader, settings, diag);
        reader.mapping.close();
        return recognizer;
    }
    const language = try openLanguage(gpa, vocabulary, trie, which, reader, how, settings, diag);
    const recognizer = try Recognizer.create(gpa, vocabulary, trie, language, .mapped, warnings, settings.limits());
    recognizer.mapping = reader.mapping;
    return recognizer;
}

fn openLanguage(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    which: std.meta.Tag(Language),
    reader: *saved_file.Reader,
    how: How,
    settings: compiler.Settings,
    diag: *Diagnostic,
) (diagnostic.Error || error{ OutOfMemory, Damaged })!Language {
    var language = try Language.open(gpa, which, reader);
    errdefer language.deinit(gpa, .mapped);
    if (!how.trusted and !try language.isSound(gpa, &vocabulary.tokens, trie)) return error.Damaged;
    if (which == .ambiguous) try openParts(gpa, vocabulary, trie, &language.ambiguous, reader, settings, diag);
    return language;
}

fn openParts(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    to: *Ambiguous,
    reader: *saved_file.Reader,
    settings: compiler.Settings,
    diag: *Diagnostic,
) (diagnostic.Error || error{ OutOfMemory, Damaged })!void {
    const n = try Ambiguous.nSchemas(reader);
    if (n == 0) return;
    const sources = try gpa.alloc(SchemaSource, n);
    defer gpa.free(sources);
    for (sources) |*source| source.* = try reader.get(SchemaSource);
    return parts.open(gpa, vocabulary, trie, to, sources, settings.budget, diag);
}

fn compileSaved(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    which: std.meta.Tag(Language),
    reader: *saved_file.Reader,
    settings: compiler.Settings,
    diag: *Diagnostic,
) (diagnostic.Error || error{Damaged})!*Recognizer {
    if (which == .tags) return compiler.compile(gpa, vocabulary, .{ .tags = try reader.get([]const u8) }, settings, diag);
    const saved = try reader.get(SchemaSource);
    const options = compiler.SchemaOptions.of(&saved) orelse return error.Damaged;
    return compiler.compile(gpa, vocabulary, .{ .json_schema = .{ .text = saved.text, .options = options } }, settings, diag);
}
