//! Compiles payloads. The trie is the engine's to make; where descriptors have a language in place of leaves, each is
//! compiled here, as a constraint of its own is.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const message = @import("message");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Constraint = @import("engine").constraint.Constraint;
const PartedTrie = @import("engine").parted_trie.PartedTrie;
const Recognizer = @import("engine").recognizer.Recognizer;
const Ends = @import("engine").recognizer_state.Ends;
const TokenTrie = @import("engine").trie.TokenTrie;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const compile = @import("compile.zig");
const descriptor = @import("tags/descriptor.zig");
const RecognizerCache = @import("recognizer_cache.zig").RecognizerCache;

const Error = Allocator.Error || diagnostic.Error;

/// A constraint by a payload. The caller owns one reference.
pub fn createConstraint(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    payload: []const u8,
    diag: *Diagnostic,
) diagnostic.Error!*Constraint {
    const trie = try Constraint.createTokenTrie(gpa, vocabulary, payload, diag);
    const made = trie.compiled.token_trie;
    if (made.parts.len == 0) return trie;
    defer trie.release();
    const parted = try addParts(gpa, vocabulary, made, null, diag);
    errdefer parted.release();
    return Constraint.create(gpa, vocabulary, .{ .parted_trie = parted }, diag);
}

/// A payload whose trie has parts. Those of the same source are found in `cache`, which is for one vocabulary. The caller
/// owns one reference.
pub fn addParts(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *TokenTrie,
    cache: ?*RecognizerCache,
    diag: *Diagnostic,
) diagnostic.Error!*PartedTrie {
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var c: Compiler = .{ .gpa = gpa, .arena = arena.allocator(), .vocabulary = vocabulary, .trie = trie, .cache = cache, .diag = diag };
    return c.compileAll() catch |e| switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Failed => error.Failed,
    };
}

const Compiler = struct {
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *TokenTrie,
    cache: ?*RecognizerCache,
    diag: *Diagnostic,
    settings: compile.Settings = .{},
    warnings: ArrayList(u8) = .empty,

    fn compileAll(c: *Compiler) Error!*PartedTrie {
        if (c.vocabulary.tokens.offsets.len == 0) return c.diag.fail(
            .invalid_arg,
            "descriptors[{d}]: a language needs a vocabulary with the bytes of its tokens",
            .{c.trie.parts[0].descriptor},
        );
        // As much for all of them as one constraint has by default.
        c.settings.mask_bytes_max /= c.trie.parts.len;
        var parts: ArrayList(PartedTrie.Part) = .empty;
        errdefer {
            for (parts.items) |part| part.recognizer.release();
            parts.deinit(c.gpa);
        }
        try parts.ensureTotalCapacityPrecise(c.gpa, c.trie.parts.len);
        for (c.trie.parts) |part| parts.appendAssumeCapacity(try c.compilePart(part));
        const warning_lines = try c.gpa.dupeSentinel(u8, c.warnings.items, 0);
        errdefer c.gpa.free(warning_lines);
        const made = try PartedTrie.create(c.gpa, c.trie, parts.items, warning_lines);
        _ = c.trie.retain();
        return made;
    }

    fn compilePart(c: *Compiler, part: TokenTrie.Part) Error!PartedTrie.Part {
        const source = part.source.of(c.trie.source);
        var buffer: [40]u8 = undefined;
        const place = message.print(&buffer, "descriptors[{d}]", .{part.descriptor});
        const read = try descriptor.parsePart(c.arena, &c.vocabulary.tokens, source, place, c.diag);
        const language = try std.mem.concat(c.arena, u8, &.{ place, ".", @tagName(read.tag.content) });
        const recognizer = try c.recognizerOf(source, &read.tag, language);
        errdefer recognizer.release();
        var lines = std.mem.splitScalar(u8, recognizer.warnings(), '\n');
        while (lines.next()) |line| if (line.len > 0) {
            const gap: []const u8 = if (c.warnings.items.len > 0) "\n" else "";
            try c.warnings.appendSlice(c.arena, try std.mem.concat(c.arena, u8, &.{ gap, language, ": ", line }));
        };
        return .{ .recognizer = recognizer, .ends = .of(read.end) };
    }

    fn recognizerOf(c: *Compiler, key: []const u8, tag: *const descriptor.Tag, place: []const u8) Error!*Recognizer {
        if (c.cache) |cache| if (cache.get(key)) |found| return found;
        const source = (try compile.sourceOf(c.arena, tag)).?; // without a language it is no part
        const made = compile.compileWithin(c.gpa, c.vocabulary, source, c.settings.limits(), &c.settings.budget, c.diag) catch |e|
            return compile.failAt(place, e, c.diag);
        errdefer made.release();
        if (c.cache) |cache| try cache.put(key, made);
        return made;
    }
};
