//! Header, sections 4 and 5: vocabularies and recognizers as files.

const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const Constraint = @import("engine").constraint.Constraint;
const files = @import("../files/files.zig");
const Message = boundary.Message;
const recognizer_abi = @import("recognizer.zig");

export fn eliza_inference_vocab_save(vocab: ?*const Vocabulary, path: ?[*]const u8, path_len: usize, out_error: ?*Message) c_int {
    boundary.begin(out_error);
    const v = vocab orelse return boundary.reject(out_error, "vocab is NULL");
    const text = boundary.slice(u8, path, path_len) orelse return boundary.reject(out_error, "path is NULL");
    var diag: boundary.Diagnostic = .init();
    files.saveVocabulary(gpa, v, text, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_vocab_open(
    path: ?[*]const u8,
    path_len: usize,
    out_vocab: ?*?*const Vocabulary,
    out_error: ?*Message,
) c_int {
    return eliza_inference_vocab_open_with(path, path_len, 0, out_vocab, out_error);
}

export fn eliza_inference_vocab_open_with(
    path: ?[*]const u8,
    path_len: usize,
    flags: u32,
    out_vocab: ?*?*const Vocabulary,
    out_error: ?*Message,
) c_int {
    boundary.begin(out_error);
    const out = out_vocab orelse return boundary.reject(out_error, "out_vocab is NULL");
    out.* = null;
    const text = boundary.slice(u8, path, path_len) orelse return boundary.reject(out_error, "path is NULL");
    var diag: boundary.Diagnostic = .init();
    const how = howToOpen(flags, &diag) catch return boundary.fail(out_error, &diag);
    out.* = files.openVocabulary(gpa, text, how, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_constraint_save(constraint: ?*const Constraint, path: ?[*]const u8, path_len: usize, out_error: ?*Message) c_int {
    boundary.begin(out_error);
    const c = constraint orelse return boundary.reject(out_error, "constraint is NULL");
    const text = boundary.slice(u8, path, path_len) orelse return boundary.reject(out_error, "path is NULL");
    const recognizer = c.recognizer() orelse return boundary.reject(
        out_error,
        "a token trie is not saved: its payload is what it is made of",
    );
    var diag: boundary.Diagnostic = .init();
    files.saveRecognizer(gpa, recognizer, text, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_constraint_open(
    vocab: ?*const Vocabulary,
    path: ?[*]const u8,
    path_len: usize,
    config: ?*const recognizer_abi.CompileConfig,
    out_constraint: recognizer_abi.Out,
    out_error: ?*Message,
) c_int {
    return eliza_inference_constraint_open_with(vocab, path, path_len, 0, config, out_constraint, out_error);
}

export fn eliza_inference_constraint_open_with(
    vocab: ?*const Vocabulary,
    path: ?[*]const u8,
    path_len: usize,
    flags: u32,
    config: ?*const recognizer_abi.CompileConfig,
    out_constraint: recognizer_abi.Out,
    out_error: ?*Message,
) c_int {
    var diag: boundary.Diagnostic = .init();
    const opened = openConstraint(vocab, path, path_len, flags, config, out_constraint, &diag);
    return recognizer_abi.finish(opened, out_constraint, out_error, &diag);
}

fn openConstraint(
    vocab: ?*const Vocabulary,
    path: ?[*]const u8,
    path_len: usize,
    flags: u32,
    config: ?*const recognizer_abi.CompileConfig,
    out: recognizer_abi.Out,
    diag: *boundary.Diagnostic,
) boundary.Error!*Constraint {
    const v = (try recognizer_abi.check(vocab, out, diag)).retain(); // a callback may free the caller's reference
    defer v.release();
    const text = boundary.slice(u8, path, path_len) orelse return diag.fail(.invalid_arg, "path is NULL", .{});
    const settings = try recognizer_abi.CompileConfig.settings(config, diag);
    const how = try howToOpen(flags, diag);
    const recognizer = try files.openRecognizer(gpa, v, text, how, settings, diag);
    errdefer recognizer.release();
    return Constraint.create(gpa, v, .{ .recognizer = recognizer }, diag);
}

/// ELIZA_OPEN_* of the header.
fn howToOpen(flags: u32, diag: *boundary.Diagnostic) boundary.Error!files.How {
    const how: files.How = @bitCast(flags);
    return if (how._ == 0) how else diag.fail(.invalid_arg, "flags has unknown bits", .{});
}
