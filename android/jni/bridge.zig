//! The native methods of the Java class eliza.inference.Native. Text crosses as UTF-8 in byte arrays (JNI's own
//! UTF-8 is a variant), handles as long, floats as their bits: Java's calling convention for floats on 32-bit
//! ARM differs from the library's. Failures become Java exceptions.

const std = @import("std");
const jni = @import("jni.zig");
const eliza = @import("header");
const Env = jni.Env;

/// A library must not take over its host's signals, nor bring stack traces with it.
pub const std_options: std.Options = .{
    .enable_segfault_handler = false,
    .signal_stack_size = null,
    .allow_stack_tracing = false,
};

const gpa = std.heap.c_allocator;

const native_methods = [_]jni.NativeMethod{
    .{ .name = "version", .signature = "()[B", .function = &version },
    .{ .name = "abiVersion", .signature = "()[B", .function = &abiVersion },
    .{ .name = "statusName", .signature = "(I)[B", .function = &statusName },
    .{ .name = "loadLlama", .signature = "([B)V", .function = &loadLlama },
    .{ .name = "modelOpen", .signature = "([B[B)J", .function = &modelOpen },
    .{ .name = "modelClose", .signature = "(J)V", .function = &modelClose },
    .{ .name = "tokenize", .signature = "(J[BZZ)[I", .function = &tokenize },
    .{ .name = "detokenize", .signature = "(J[IZZ)[B", .function = &detokenize },
    .{ .name = "vocabulary", .signature = "(J)J", .function = &vocabularyOf },
    .{ .name = "vocabularyFree", .signature = "(J)V", .function = &vocabularyFree },
    .{ .name = "vocabularyCreate", .signature = "([B[I[B[B)J", .function = &vocabularyCreate },
    .{ .name = "vocabularyOpen", .signature = "([B)J", .function = &vocabularyOpen },
    .{ .name = "vocabularySave", .signature = "(J[B)V", .function = &vocabularySave },
    .{ .name = "vocabularySize", .signature = "(J)I", .function = &vocabularySize },
    .{ .name = "vocabularyToken", .signature = "(JI)[B", .function = &vocabularyToken },
    .{ .name = "compile", .signature = "(JI[B[B[I[JLeliza/inference/Native$Answers;)J", .function = &compile },
    .{ .name = "constraintSave", .signature = "(J[B)V", .function = &constraintSave },
    .{ .name = "matcherCreate", .signature = "(JI[I)J", .function = &matcherCreate },
    .{ .name = "matcherClone", .signature = "(J)J", .function = &matcherClone },
    .{ .name = "matcherFree", .signature = "(J)V", .function = &matcherFree },
    .{ .name = "matcherAccept", .signature = "(JI)I", .function = &matcherAccept },
    .{ .name = "matcherRollback", .signature = "(JI)V", .function = &matcherRollback },
    .{ .name = "matcherReset", .signature = "(J)V", .function = &matcherReset },
    .{ .name = "matcherActivate", .signature = "(J[B)V", .function = &matcherActivate },
    .{ .name = "matcherDeactivate", .signature = "(J)V", .function = &matcherDeactivate },
    .{ .name = "matcherCanStop", .signature = "(J)Z", .function = &matcherCanStop },
    .{ .name = "matcherAllowed", .signature = "(J)[I", .function = &matcherAllowed },
    .{ .name = "matcherFillBitmap", .signature = "(J[I)V", .function = &matcherFillBitmap },
    .{ .name = "matcherMaskLogits", .signature = "(J[F)V", .function = &matcherMaskLogits },
    .{ .name = "matcherSample", .signature = "(J[FI[I)I", .function = &matcherSample },
    .{ .name = "matcherSetSeed", .signature = "(JJ)V", .function = &matcherSetSeed },
    .{ .name = "matcherForced", .signature = "(J)[I", .function = &matcherForced },
    .{ .name = "matcherForcedBytes", .signature = "(J)[B", .function = &matcherForcedBytes },
    .{ .name = "matcherLeaf", .signature = "(J)[B", .function = &matcherLeaf },
    .{ .name = "constraintWarnings", .signature = "(J)[B", .function = &constraintWarnings },
    .{ .name = "constraintFree", .signature = "(J)V", .function = &constraintFree },
    .{ .name = "setConstraint", .signature = "(JJI)V", .function = &setConstraint },
    .{ .name = "clearConstraint", .signature = "(J)V", .function = &clearConstraint },
    .{ .name = "streamOpen", .signature = "(J[I[[B)J", .function = &streamOpen },
    .{ .name = "streamClose", .signature = "(J)V", .function = &streamClose },
    .{ .name = "setSeed", .signature = "(JJ)V", .function = &setSeed },
    .{ .name = "setTimeBudget", .signature = "(JJ)V", .function = &setTimeBudget },
    .{ .name = "setStopAtSpanEnd", .signature = "(JZ)V", .function = &setStopAtSpanEnd },
    .{ .name = "prefill", .signature = "(J[I)V", .function = &prefill },
    .{ .name = "setTokenTrie", .signature = "(J[BI)V", .function = &setTokenTrie },
    .{ .name = "clearTokenTrie", .signature = "(J)V", .function = &clearTokenTrie },
    .{ .name = "activate", .signature = "(J[B)V", .function = &activate },
    .{ .name = "leaf", .signature = "(J)[B", .function = &leaf },
    .{ .name = "generate", .signature = "(JILeliza/inference/Native$Sink;)I", .function = &generate },
    .{ .name = "cancel", .signature = "(J)V", .function = &cancel },
    .{ .name = "reset", .signature = "(J)V", .function = &reset },
};

/// Found by JNI_OnLoad, dropped by JNI_OnUnload. The references are global: every thread uses them.
var java: struct {
    exception: jni.Class = null,
    exception_constructor: jni.MethodId = null,
    sink: jni.Class = null,
    sink_on_token: jni.MethodId = null,
    answers: jni.Class = null,
    answers_document: jni.MethodId = null,
    answers_cancelled: jni.MethodId = null,
} = .{};

export fn JNI_OnLoad(vm: *jni.Vm, _: ?*anyopaque) i32 {
    const env = vm.env() orelse return failed_to_load;
    java.exception = globalClass(env, "eliza/inference/ElizaException") orelse return failed_to_load;
    java.exception_constructor = env.methodId(java.exception, "<init>", "(I[B)V") orelse return failed_to_load;
    java.sink = globalClass(env, "eliza/inference/Native$Sink") orelse return failed_to_load;
    java.sink_on_token = env.methodId(java.sink, "onToken", "(I[B)I") orelse return failed_to_load;
    java.answers = globalClass(env, "eliza/inference/Native$Answers") orelse return failed_to_load;
    java.answers_document = env.methodId(java.answers, "document", "([B)[B") orelse return failed_to_load;
    java.answers_cancelled = env.methodId(java.answers, "cancelled", "()I") orelse return failed_to_load;
    const native = env.findClass("eliza/inference/Native") orelse return failed_to_load;
    defer env.deleteLocalRef(native);
    return if (env.registerNatives(native, &native_methods)) jni.version_1_6 else failed_to_load;
}

export fn JNI_OnUnload(vm: *jni.Vm, _: ?*anyopaque) void {
    const env = vm.env() orelse return;
    env.deleteGlobalRef(java.exception);
    env.deleteGlobalRef(java.sink);
    env.deleteGlobalRef(java.answers);
}

const failed_to_load = -1;

fn globalClass(env: *Env, name: [*:0]const u8) jni.Class {
    const local = env.findClass(name) orelse return null;
    defer env.deleteLocalRef(local);
    return env.newGlobalRef(local);
}

// ---- Library ---------------------------------------------------------------------------------------------------------

fn version(env: *Env, _: jni.Class) callconv(.c) jni.Array {
    return env.newBytes(std.mem.span(eliza.eliza_inference_version()));
}

fn abiVersion(env: *Env, _: jni.Class) callconv(.c) jni.Array {
    return env.newBytes(std.mem.span(eliza.eliza_inference_abi_version()));
}

fn statusName(env: *Env, _: jni.Class, status: i32) callconv(.c) jni.Array {
    return env.newBytes(std.mem.span(eliza.eliza_inference_status_name(status)));
}

fn loadLlama(env: *Env, _: jni.Class, path: jni.Array) callconv(.c) void {
    const text = Text.copy(env, path) orelse return;
    defer text.free();
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_llama_load(text.bytes.ptr, text.bytes.len, &message);
    if (status < 0) throwMessage(env, status, message);
}

// ---- Model -----------------------------------------------------------------------------------------------------------

fn modelOpen(env: *Env, _: jni.Class, path: jni.Array, model_id: jni.Array) callconv(.c) i64 {
    const text = Text.copy(env, path) orelse return 0;
    defer text.free();
    const id = Text.copy(env, model_id) orelse return 0;
    defer id.free();
    var message: [*c]u8 = null;
    const context = eliza.eliza_inference_create(text.bytes.ptr, &message) orelse {
        throwMessage(env, eliza.eliza_inference_error_status(message), message);
        return 0;
    };
    const status = eliza.eliza_inference_set_model_id(context, id.bytes.ptr, id.bytes.len);
    if (status < 0) {
        eliza.eliza_inference_destroy(context);
        throwStatus(env, status, "the model id is too long");
        return 0;
    }
    return toLong(context);
}

fn modelClose(_: *Env, _: jni.Class, model: i64) callconv(.c) void {
    eliza.eliza_inference_destroy(fromLong(eliza.EliInferenceContext, model));
}

fn tokenize(env: *Env, _: jni.Class, model: i64, text: jni.Array, add_special: u8, parse_special: u8) callconv(.c) jni.Array {
    const content = Text.copy(env, text) orelse return null;
    defer content.free();
    var tokens: [*c]c_int = null;
    var n: usize = 0;
    var message: [*c]u8 = null;
    const context = fromLong(eliza.EliInferenceContext, model);
    const status = eliza.eliza_inference_tokenize(
        context,
        content.bytes.ptr,
        content.bytes.len,
        add_special,
        parse_special,
        &tokens,
        &n,
        &message,
    );
    if (status < 0) {
        throwMessage(env, status, message);
        return null;
    }
    defer eliza.eliza_inference_free_tokens(tokens);
    return env.newInts(if (tokens != null) tokens[0..n] else &.{});
}

fn detokenize(env: *Env, _: jni.Class, model: i64, tokens: jni.Array, remove_special: u8, unparse_special: u8) callconv(.c) jni.Array {
    const ids = copyInts(env, tokens) orelse return null;
    defer gpa.free(ids);
    const context = fromLong(eliza.EliInferenceContext, model);
    var buffer: []u8 = &.{};
    defer gpa.free(buffer);
    while (true) {
        var message: [*c]u8 = null;
        const length = eliza.eliza_inference_detokenize(
            context,
            ids.ptr,
            ids.len,
            remove_special,
            unparse_special,
            buffer.ptr,
            buffer.len,
            &message,
        );
        if (length < 0) {
            throwMessage(env, length, message);
            return null;
        }
        const needed: usize = @intCast(length);
        if (needed < buffer.len) return env.newBytes(buffer[0..needed]);
        buffer = gpa.realloc(buffer, needed + 1) catch {
            throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
            return null;
        };
    }
}

// ---- Vocabulary ------------------------------------------------------------------------------------------------------

fn vocabularyOf(env: *Env, _: jni.Class, model: i64) callconv(.c) i64 {
    var vocabulary: ?*eliza.eliza_vocab = null;
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_vocab_from_context(fromLong(eliza.EliInferenceContext, model), &vocabulary, &message);
    return made(env, status, vocabulary, message);
}

fn vocabularyCreate(
    env: *Env,
    _: jni.Class,
    bytes: jni.Array,
    lengths: jni.Array,
    flags: jni.Array,
    model_id: jni.Array,
) callconv(.c) i64 {
    const content = Text.copy(env, bytes) orelse return 0;
    defer content.free();
    const offsets = copyOffsets(env, lengths) orelse return 0;
    defer gpa.free(offsets);
    const sets = Text.copy(env, flags) orelse return 0;
    defer sets.free();
    const id = Text.copy(env, model_id) orelse return 0;
    defer id.free();
    const config: eliza.eliza_vocab_config_t = .{
        .struct_size = @sizeOf(eliza.eliza_vocab_config_t),
        .n_tokens = @intCast(offsets.len - 1),
        .model_id = id.bytes.ptr,
        .model_id_len = id.bytes.len,
        .bytes = content.bytes.ptr,
        .offsets = offsets.ptr,
        .flags = if (flags == null) null else sets.bytes.ptr,
    };
    var vocabulary: ?*eliza.eliza_vocab = null;
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_vocab_create(&config, &vocabulary, &message);
    return made(env, status, vocabulary, message);
}

fn vocabularyOpen(env: *Env, _: jni.Class, path: jni.Array) callconv(.c) i64 {
    const text = Text.copy(env, path) orelse return 0;
    defer text.free();
    var vocabulary: ?*eliza.eliza_vocab = null;
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_vocab_open(text.bytes.ptr, text.bytes.len, &vocabulary, &message);
    return made(env, status, vocabulary, message);
}

fn vocabularySave(env: *Env, _: jni.Class, vocabulary: i64, path: jni.Array) callconv(.c) void {
    saveAs(env, path, eliza.eliza_inference_vocab_save, fromLong(eliza.eliza_vocab, vocabulary));
}

fn vocabularySize(_: *Env, _: jni.Class, vocabulary: i64) callconv(.c) i32 {
    return eliza.eliza_inference_vocab_size(fromLong(eliza.eliza_vocab, vocabulary));
}

fn vocabularyToken(env: *Env, _: jni.Class, vocabulary: i64, token: i32) callconv(.c) jni.Array {
    var bytes: [*c]const u8 = null;
    var length: usize = 0;
    const status = eliza.eliza_inference_vocab_token(fromLong(eliza.eliza_vocab, vocabulary), token, &bytes, &length, null);
    if (status >= 0) return env.newBytes(if (length > 0) bytes[0..length] else "");
    throwStatus(env, status, "there is no such token");
    return null;
}

fn vocabularyFree(_: *Env, _: jni.Class, vocabulary: i64) callconv(.c) void {
    eliza.eliza_inference_vocab_free(fromLong(eliza.eliza_vocab, vocabulary));
}

// ---- Constraint ------------------------------------------------------------------------------------------------------

/// What is asked of Java during a compile. A pending exception ends it; Java sees it when `compile` returns.
const Answers = struct {
    env: *Env,
    object: jni.Object,
    /// The text that was given last.
    lent: ?Text = null,

    /// A schema or a grammar that the source names.
    fn document(
        name: [*c]const u8,
        name_len: usize,
        out_text: [*c][*c]const u8,
        out_len: [*c]usize,
        user_data: ?*anyopaque,
    ) callconv(.c) c_int {
        const answers: *Answers = @ptrCast(@alignCast(user_data.?));
        const env = answers.env;
        const asked = env.newBytes(name[0..name_len]) orelse return 1;
        defer env.deleteLocalRef(asked);
        const found = env.callObject(answers.object, java.answers_document, &.{.{ .l = asked }});
        if (env.exceptionPending()) return 1;
        if (found == null) return 0;
        defer env.deleteLocalRef(found);
        answers.free();
        answers.lent = Text.copy(env, found) orelse return 1;
        out_text.* = answers.lent.?.bytes.ptr;
        out_len.* = answers.lent.?.bytes.len;
        return 0;
    }

    fn cancelled(user_data: ?*anyopaque) callconv(.c) c_int {
        const answers: *Answers = @ptrCast(@alignCast(user_data.?));
        if (answers.env.exceptionPending()) return 1;
        const answer = answers.env.callInt(answers.object, java.answers_cancelled, &.{});
        return if (answers.env.exceptionPending()) 1 else answer;
    }

    fn free(answers: *Answers) void {
        if (answers.lent) |text| text.free();
        answers.lent = null;
    }
};

/// What a constraint is compiled from, as Constraint.java numbers it.
const Source = enum(i32) { token_trie, choices, canonical_choices, regex, lark, gbnf, ebnf, json_schema, tags, file };

const create_choices = eliza.eliza_inference_constraint_create_choices;
const create_lark_with = eliza.eliza_inference_constraint_create_lark_with;
const create_gbnf = eliza.eliza_inference_constraint_create_gbnf;
const create_json_schema = eliza.eliza_inference_constraint_create_json_schema;

/// `numbers` are the lengths of choices, or JsonSchemaOptions.numbers(); `limits` CompileOptions.limits().
fn compile(
    env: *Env,
    _: jni.Class,
    vocabulary: i64,
    source: i32,
    text: jni.Array,
    name: jni.Array,
    numbers: jni.Array,
    limits: jni.Array,
    asked: jni.Object,
) callconv(.c) i64 {
    const content = Text.copy(env, text) orelse return 0;
    defer content.free();
    const named = Text.copy(env, name) orelse return 0;
    defer named.free();
    var bounds: [4]i64 = undefined;
    env.readLongs(limits, &bounds);
    if (env.exceptionPending()) return 0;
    var answers: Answers = .{ .env = env, .object = asked };
    defer answers.free();
    const config: eliza.eliza_compile_config_t = .{
        .struct_size = @sizeOf(eliza.eliza_compile_config_t),
        .bytes_max = @bitCast(bounds[0]),
        .ms_max = @bitCast(bounds[1]),
        .mask_bytes_max = @bitCast(bounds[2]),
        .mask_ms_max = @bitCast(bounds[3]),
        .cancel = Answers.cancelled,
        .user_data = &answers,
    };
    var constraint: ?*eliza.eliza_constraint = null;
    var message: [*c]u8 = null;
    const vocab = fromLong(eliza.eliza_vocab, vocabulary);
    const start = content.bytes.ptr;
    const length = content.bytes.len;
    const root = if (name == null) null else named.bytes.ptr;
    const status = switch (@as(Source, @fromBackingInt(source))) {
        .token_trie => eliza.eliza_inference_constraint_create_token_trie(vocab, start, length, &constraint, &message),
        .choices, .canonical_choices => |kind| status: {
            const offsets = copyOffsets(env, numbers) orelse return 0;
            defer gpa.free(offsets);
            const flags = if (kind == .canonical_choices) eliza.ELIZA_CHOICES_CANONICAL else 0;
            const n = offsets.len - 1;
            break :status create_choices(vocab, start, offsets.ptr, n, flags, &config, &constraint, &message);
        },
        .regex => eliza.eliza_inference_constraint_create_regex(vocab, start, length, 0, &config, &constraint, &message),
        .lark => status: {
            const options: eliza.eliza_lark_options_t = .{
                .struct_size = @sizeOf(eliza.eliza_lark_options_t),
                .start = root,
                .start_len = named.bytes.len,
                .grammar = Answers.document,
                .user_data = &answers,
            };
            break :status create_lark_with(vocab, start, length, &options, &config, &constraint, &message);
        },
        .gbnf, .ebnf => |kind| status: {
            const flags = if (kind == .ebnf) eliza.ELIZA_GBNF_EBNF else 0;
            const root_len = named.bytes.len;
            break :status create_gbnf(vocab, start, length, root, root_len, flags, &config, &constraint, &message);
        },
        .json_schema => status: {
            var read: [4]i32 = undefined;
            env.readInts(numbers, &read);
            if (env.exceptionPending()) return 0;
            const options: eliza.eliza_json_schema_options_t = .{
                .struct_size = @sizeOf(eliza.eliza_json_schema_options_t),
                .flags = @bitCast(read[0]),
                .space = read[1],
                .draft = read[2],
                .order = read[3],
                .document = Answers.document,
                .user_data = &answers,
            };
            break :status create_json_schema(vocab, start, length, &options, &config, &constraint, &message);
        },
        .tags => eliza.eliza_inference_constraint_create_tags(vocab, start, length, &config, &constraint, &message),
        .file => eliza.eliza_inference_constraint_open(vocab, start, length, &config, &constraint, &message),
    };
    if (!env.exceptionPending()) return made(env, status, constraint, message);
    eliza.eliza_inference_free_string(message);
    eliza.eliza_inference_constraint_free(constraint);
    return 0;
}

fn constraintSave(env: *Env, _: jni.Class, constraint: i64, path: jni.Array) callconv(.c) void {
    saveAs(env, path, eliza.eliza_inference_constraint_save, fromLong(eliza.eliza_constraint, constraint));
}

fn constraintWarnings(env: *Env, _: jni.Class, constraint: i64) callconv(.c) jni.Array {
    return env.newBytes(std.mem.span(eliza.eliza_inference_constraint_warnings(fromLong(eliza.eliza_constraint, constraint))));
}

fn constraintFree(_: *Env, _: jni.Class, constraint: i64) callconv(.c) void {
    eliza.eliza_inference_constraint_free(fromLong(eliza.eliza_constraint, constraint));
}

fn setConstraint(env: *Env, _: jni.Class, stream: i64, constraint: i64, mode: i32) callconv(.c) void {
    const handle = fromLong(eliza.EliLlmStream, stream);
    check(env, stream, eliza.eliza_inference_set_constraint(handle, fromLong(eliza.eliza_constraint, constraint), mode, null));
}

fn clearConstraint(env: *Env, _: jni.Class, stream: i64) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_clear_constraint(fromLong(eliza.EliLlmStream, stream)));
}

// ---- Matcher ---------------------------------------------------------------------------------------------------------

fn matcherCreate(env: *Env, _: jni.Class, constraint: i64, span_timeout: i32, end: jni.Array) callconv(.c) i64 {
    const tokens = if (end == null) null else copyInts(env, end) orelse return 0;
    defer if (tokens) |ids| gpa.free(ids);
    const none: [1]i32 = undefined; // its address says that there are no end tokens
    const config: eliza.eliza_span_config_t = .{
        .struct_size = @sizeOf(eliza.eliza_span_config_t),
        .span_timeout = @bitCast(span_timeout),
        .end = if (tokens) |ids| if (ids.len > 0) ids.ptr else &none else null,
        .n_end = if (tokens) |ids| ids.len else 0,
    };
    var matcher: ?*eliza.eliza_matcher = null;
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_matcher_create_span(fromLong(eliza.eliza_constraint, constraint), &config, &matcher, &message);
    return made(env, status, matcher, message);
}

fn matcherClone(env: *Env, _: jni.Class, matcher: i64) callconv(.c) i64 {
    var copy: ?*eliza.eliza_matcher = null;
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_clone(fromLong(eliza.eliza_matcher, matcher), &copy));
    return toLong(copy);
}

fn matcherFree(_: *Env, _: jni.Class, matcher: i64) callconv(.c) void {
    eliza.eliza_inference_matcher_free(fromLong(eliza.eliza_matcher, matcher));
}

fn matcherAccept(env: *Env, _: jni.Class, matcher: i64, token: i32) callconv(.c) i32 {
    const step = eliza.eliza_inference_matcher_accept(fromLong(eliza.eliza_matcher, matcher), token);
    checkMatcher(env, matcher, step);
    return step;
}

fn matcherRollback(env: *Env, _: jni.Class, matcher: i64, tokens: i32) callconv(.c) void {
    const n = std.math.cast(usize, tokens) orelse std.math.maxInt(usize);
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_rollback(fromLong(eliza.eliza_matcher, matcher), n));
}

fn matcherReset(env: *Env, _: jni.Class, matcher: i64) callconv(.c) void {
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_reset(fromLong(eliza.eliza_matcher, matcher)));
}

fn matcherActivate(env: *Env, _: jni.Class, matcher: i64, path: jni.Array) callconv(.c) void {
    const text = Text.copy(env, path) orelse return;
    defer text.free();
    const handle = fromLong(eliza.eliza_matcher, matcher);
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_activate(handle, text.bytes.ptr, text.bytes.len));
}

fn matcherDeactivate(env: *Env, _: jni.Class, matcher: i64) callconv(.c) void {
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_deactivate(fromLong(eliza.eliza_matcher, matcher)));
}

fn matcherCanStop(env: *Env, _: jni.Class, matcher: i64) callconv(.c) u8 {
    const answer = eliza.eliza_inference_matcher_can_stop(fromLong(eliza.eliza_matcher, matcher));
    checkMatcher(env, matcher, answer);
    return @intFromBool(answer > 0);
}

fn matcherAllowed(env: *Env, _: jni.Class, matcher: i64) callconv(.c) jni.Array {
    const handle = fromLong(eliza.eliza_matcher, matcher);
    var ids: [*c]const i32 = null;
    var n: usize = 0;
    const form = eliza.eliza_inference_matcher_allowed(handle, &ids, &n);
    checkMatcher(env, matcher, form);
    if (form == eliza.ELIZA_ALLOWED_LIST) return env.newInts(if (n > 0) ids[0..n] else &.{});
    if (form != eliza.ELIZA_ALLOWED_BITMAP) return null;
    var words: [*c]const i32 = null;
    var n_words: usize = 0;
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_bitmap(handle, &words, &n_words));
    if (env.exceptionPending()) return null;
    const list = gpa.alloc(i32, n) catch {
        throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
        return null;
    };
    defer gpa.free(list);
    var at: usize = 0;
    for (words[0..n_words], 0..) |word, i| {
        var bits: u32 = @bitCast(word);
        while (bits != 0) : (bits &= bits - 1) {
            list[at] = @intCast(32 * i + @ctz(bits));
            at += 1;
        }
    }
    return env.newInts(list);
}

fn matcherFillBitmap(env: *Env, _: jni.Class, matcher: i64, words: jni.Array) callconv(.c) void {
    const filled = gpa.alloc(i32, env.length(words)) catch return throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
    defer gpa.free(filled);
    const form = eliza.eliza_inference_matcher_fill_bitmap(fromLong(eliza.eliza_matcher, matcher), filled.ptr, filled.len);
    checkMatcher(env, matcher, form);
    if (form >= 0) env.writeInts(words, filled);
}

fn matcherMaskLogits(env: *Env, _: jni.Class, matcher: i64, logits: jni.Array) callconv(.c) void {
    const handle = fromLong(eliza.eliza_matcher, matcher);
    if (!findMask(env, matcher)) return;
    const n = env.length(logits);
    const floats = env.criticalFloats(logits) orelse return throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
    const status = eliza.eliza_inference_matcher_mask_logits(handle, floats, n);
    env.releaseFloats(logits, floats);
    checkMatcher(env, matcher, status);
}

/// `bits` are those of the temperature and of top-p.
fn matcherSample(env: *Env, _: jni.Class, matcher: i64, logits: jni.Array, mode: i32, bits: jni.Array) callconv(.c) i32 {
    const handle = fromLong(eliza.eliza_matcher, matcher);
    var numbers: [2]i32 = undefined;
    env.readInts(bits, &numbers);
    if (env.exceptionPending() or !findMask(env, matcher)) return 0;
    const sampling: eliza.eliza_sampling_t = .{
        .struct_size = @sizeOf(eliza.eliza_sampling_t),
        .mode = mode,
        .temperature = @bitCast(numbers[0]),
        .top_p = @bitCast(numbers[1]),
    };
    const n = env.length(logits);
    const floats = env.criticalFloats(logits) orelse {
        throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
        return 0;
    };
    var token: i32 = 0;
    const status = eliza.eliza_inference_matcher_sample(handle, floats, n, &sampling, &token);
    env.releaseFloats(logits, floats);
    checkMatcher(env, matcher, status);
    return token;
}

/// Finds the mask, which may take long, before an array is held for which the virtual machine waits. False with an
/// exception pending.
fn findMask(env: *Env, matcher: i64) bool {
    var ids: [*c]const i32 = null;
    var n: usize = 0;
    const form = eliza.eliza_inference_matcher_allowed(fromLong(eliza.eliza_matcher, matcher), &ids, &n);
    checkMatcher(env, matcher, form);
    return form >= 0;
}

fn matcherSetSeed(env: *Env, _: jni.Class, matcher: i64, seed: i64) callconv(.c) void {
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_set_seed(fromLong(eliza.eliza_matcher, matcher), @bitCast(seed)));
}

fn matcherForced(env: *Env, _: jni.Class, matcher: i64) callconv(.c) jni.Array {
    const tokens = forcedRun(i32, eliza.eliza_inference_matcher_forced, env, matcher) orelse return null;
    defer gpa.free(tokens);
    return env.newInts(tokens);
}

fn matcherForcedBytes(env: *Env, _: jni.Class, matcher: i64) callconv(.c) jni.Array {
    const bytes = forcedRun(u8, eliza.eliza_inference_matcher_forced_bytes, env, matcher) orelse return null;
    defer gpa.free(bytes);
    return env.newBytes(bytes);
}

/// The whole run. Null with an exception pending.
fn forcedRun(comptime Element: type, comptime find: anytype, env: *Env, matcher: i64) ?[]Element {
    var run: []Element = &.{};
    while (true) {
        var n: usize = 0;
        const status = find(fromLong(eliza.eliza_matcher, matcher), run.ptr, run.len, &n);
        checkMatcher(env, matcher, status);
        if (status >= 0 and n <= run.len) return run[0..n];
        gpa.free(run);
        if (status < 0) return null;
        run = gpa.alloc(Element, n) catch {
            throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
            return null;
        };
    }
}

fn matcherLeaf(env: *Env, _: jni.Class, matcher: i64) callconv(.c) jni.Array {
    var name: [*c]const u8 = null;
    var length: usize = 0;
    checkMatcher(env, matcher, eliza.eliza_inference_matcher_leaf(fromLong(eliza.eliza_matcher, matcher), &name, &length));
    return if (name != null) env.newBytes(name[0..length]) else null;
}

// ---- Stream ----------------------------------------------------------------------------------------------------------

/// The order of StreamConfig.numbers() and StreamConfig.strings() in Java. Floats are passed as their bits.
const Numbers = extern struct {
    max_tokens: i32,
    temperature: f32,
    top_p: f32,
    top_k: i32,
    repeat_penalty: f32,
    context_size: i32,
    n_gpu_layers: i32,
    disable_thinking: i32,
    draft_min: i32,
    draft_max: i32,
};
const string_names = .{ "gbnf_grammar", "cache_type_k", "cache_type_v", "mtp_drafter_path" };

fn streamOpen(env: *Env, _: jni.Class, model: i64, numbers: jni.Array, strings: jni.Array) callconv(.c) i64 {
    var read: Numbers = undefined;
    const words: *[@sizeOf(Numbers) / 4]i32 = @ptrCast(&read);
    env.readInts(numbers, words);
    if (env.exceptionPending()) return 0;
    var config: eliza.eliza_llm_stream_config_t = .{
        .max_tokens = read.max_tokens,
        .temperature = read.temperature,
        .top_p = read.top_p,
        .top_k = read.top_k,
        .repeat_penalty = read.repeat_penalty,
        .context_size = read.context_size,
        .n_gpu_layers = read.n_gpu_layers,
        .disable_thinking = read.disable_thinking,
        .draft_min = read.draft_min,
        .draft_max = read.draft_max,
    };
    var texts: [string_names.len]?Text = @splat(null);
    defer for (texts) |text| if (text) |copied| copied.free();
    inline for (string_names, 0..) |name, i| {
        if (env.element(strings, i)) |string| {
            defer env.deleteLocalRef(string);
            texts[i] = Text.copy(env, string) orelse return 0;
            @field(config, name) = texts[i].?.bytes.ptr;
        } else if (env.exceptionPending()) return 0;
    }
    var message: [*c]u8 = null;
    const stream = eliza.eliza_inference_llm_stream_open(fromLong(eliza.EliInferenceContext, model), &config, &message) orelse {
        throwMessage(env, eliza.eliza_inference_error_status(message), message);
        return 0;
    };
    return toLong(stream);
}

fn streamClose(_: *Env, _: jni.Class, stream: i64) callconv(.c) void {
    eliza.eliza_inference_llm_stream_close(fromLong(eliza.EliLlmStream, stream));
}

fn setSeed(env: *Env, _: jni.Class, stream: i64, seed: i64) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_llm_stream_set_seed(fromLong(eliza.EliLlmStream, stream), @bitCast(seed)));
}

fn setTimeBudget(env: *Env, _: jni.Class, stream: i64, ms: i64) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_llm_stream_set_time_budget_ms(fromLong(eliza.EliLlmStream, stream), @bitCast(ms)));
}

fn setStopAtSpanEnd(env: *Env, _: jni.Class, stream: i64, on: u8) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_llm_stream_set_stop_at_span_end(fromLong(eliza.EliLlmStream, stream), on));
}

fn prefill(env: *Env, _: jni.Class, stream: i64, tokens: jni.Array) callconv(.c) void {
    const ids = copyInts(env, tokens) orelse return;
    defer gpa.free(ids);
    var message: [*c]u8 = null;
    const status = eliza.eliza_inference_llm_stream_prefill(fromLong(eliza.EliLlmStream, stream), ids.ptr, ids.len, &message);
    if (status < 0) throwMessage(env, status, message);
}

fn setTokenTrie(env: *Env, _: jni.Class, stream: i64, payload: jni.Array, mode: i32) callconv(.c) void {
    const content = Text.copy(env, payload) orelse return;
    defer content.free();
    check(
        env,
        stream,
        eliza.eliza_inference_set_token_trie(fromLong(eliza.EliLlmStream, stream), content.bytes.ptr, content.bytes.len, mode),
    );
}

fn clearTokenTrie(env: *Env, _: jni.Class, stream: i64) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_clear_token_trie(fromLong(eliza.EliLlmStream, stream)));
}

fn activate(env: *Env, _: jni.Class, stream: i64, path: jni.Array) callconv(.c) void {
    const text = Text.copy(env, path) orelse return;
    defer text.free();
    check(env, stream, eliza.eliza_inference_llm_stream_activate(fromLong(eliza.EliLlmStream, stream), text.bytes.ptr, text.bytes.len));
}

fn leaf(env: *Env, _: jni.Class, stream: i64) callconv(.c) jni.Array {
    var name: [*c]const u8 = null;
    var length: usize = 0;
    check(env, stream, eliza.eliza_inference_llm_stream_leaf(fromLong(eliza.EliLlmStream, stream), &name, &length));
    return if (name != null) env.newBytes(name[0..length]) else null;
}

fn reset(env: *Env, _: jni.Class, stream: i64) callconv(.c) void {
    check(env, stream, eliza.eliza_inference_llm_stream_reset(fromLong(eliza.EliLlmStream, stream)));
}

fn cancel(env: *Env, _: jni.Class, stream: i64) callconv(.c) void {
    const status = eliza.eliza_inference_llm_stream_cancel(fromLong(eliza.EliLlmStream, stream));
    // The stream's last error belongs to the thread that runs it.
    if (status < 0) throwStatus(env, status, "the stream is closed");
}

const Generation = struct {
    env: *Env,
    sink: jni.Object,

    /// A pending exception ends the generation; Java sees it when `generate` returns.
    fn onToken(id: i32, text: [*c]const u8, user_data: ?*anyopaque) callconv(.c) c_int {
        const generation: *Generation = @ptrCast(@alignCast(user_data.?));
        const env = generation.env;
        const bytes = env.newBytes(std.mem.span(text)) orelse return 1;
        defer env.deleteLocalRef(bytes);
        const answer = env.callInt(generation.sink, java.sink_on_token, &.{ .{ .i = id }, .{ .l = bytes } });
        return if (env.exceptionPending()) 1 else answer;
    }
};

/// Returns why the generation ended.
fn generate(env: *Env, _: jni.Class, stream: i64, max_tokens: i32, sink: jni.Object) callconv(.c) i32 {
    var generation: Generation = .{ .env = env, .sink = sink };
    var message: [*c]u8 = null;
    const handle = fromLong(eliza.EliLlmStream, stream);
    const status = eliza.eliza_inference_llm_stream_generate(handle, max_tokens, Generation.onToken, &generation, &message);
    if (env.exceptionPending()) {
        eliza.eliza_inference_free_string(message);
        return 0;
    }
    if (status == eliza.ELIZA_ERR_CANCELLED) {
        eliza.eliza_inference_free_string(message);
        return eliza.ELIZA_STOP_CANCELLED;
    }
    if (status < 0) {
        throwMessage(env, status, message);
        return 0;
    }
    return eliza.eliza_inference_llm_stream_stop_reason(handle);
}

// ---- Between the two sides -------------------------------------------------------------------------------------------

/// A handle is an address or a number of the library. A long holds either.
fn toLong(handle: anytype) i64 {
    return @bitCast(@as(u64, @intFromPtr(handle)));
}

fn fromLong(comptime T: type, handle: i64) ?*T {
    return @ptrFromInt(@as(usize, @truncate(@as(u64, @bitCast(handle)))));
}

const Text = struct {
    bytes: [:0]u8,

    /// Null with an exception pending. A null array is empty.
    fn copy(env: *Env, array: jni.Array) ?Text {
        const length = if (array == null) 0 else env.length(array);
        const bytes = gpa.allocSentinel(u8, length, 0) catch {
            throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
            return null;
        };
        if (length > 0) env.readBytes(array, bytes);
        return .{ .bytes = bytes };
    }

    fn free(text: Text) void {
        gpa.free(text.bytes);
    }
};

fn copyInts(env: *Env, array: jni.Array) ?[]i32 {
    const ints = gpa.alloc(i32, env.length(array)) catch {
        throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
        return null;
    };
    env.readInts(array, ints);
    return ints;
}

/// One more than there are lengths, from 0.
fn copyOffsets(env: *Env, lengths: jni.Array) ?[]u64 {
    const ints = copyInts(env, lengths) orelse return null;
    defer gpa.free(ints);
    const offsets = gpa.alloc(u64, ints.len + 1) catch {
        throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
        return null;
    };
    offsets[0] = 0;
    for (ints, offsets[0..ints.len], offsets[1..]) |length, before, *offset| offset.* = before + @as(u32, @bitCast(length));
    return offsets;
}

/// `save` is the library's function for such a handle.
fn saveAs(env: *Env, path: jni.Array, save: anytype, handle: anytype) void {
    const text = Text.copy(env, path) orelse return;
    defer text.free();
    var message: [*c]u8 = null;
    const status = save(handle, text.bytes.ptr, text.bytes.len, &message);
    if (status < 0) throwMessage(env, status, message);
}

/// The handle that a call has made, or 0 with an exception pending.
fn made(env: *Env, status: c_int, handle: anytype, message: [*c]u8) i64 {
    if (status >= 0) return toLong(handle);
    throwMessage(env, status, message);
    return 0;
}

fn check(env: *Env, stream: i64, status: c_int) void {
    if (status < 0) throwLast(env, status, eliza.eliza_inference_llm_stream_last_error(fromLong(eliza.EliLlmStream, stream)));
}

fn checkMatcher(env: *Env, matcher: i64, status: c_int) void {
    if (status < 0) throwLast(env, status, eliza.eliza_inference_matcher_last_error(fromLong(eliza.eliza_matcher, matcher)));
}

fn throwLast(env: *Env, status: c_int, text: [*c]const u8) void {
    const message = std.mem.span(text);
    throwStatus(env, status, if (message.len > 0) message else std.mem.span(eliza.eliza_inference_status_name(status)));
}

/// Frees the message.
fn throwMessage(env: *Env, status: c_int, message: [*c]u8) void {
    defer eliza.eliza_inference_free_string(message);
    if (message != null) return throwStatus(env, status, std.mem.span(message));
    throwStatus(env, eliza.ELIZA_ERR_OOM, "out of memory");
}

fn throwStatus(env: *Env, status: c_int, message: []const u8) void {
    const bytes = env.newBytes(message) orelse return;
    defer env.deleteLocalRef(bytes);
    const exception = env.newObject(java.exception, java.exception_constructor, &.{ .{ .i = status }, .{ .l = bytes } }) orelse return;
    defer env.deleteLocalRef(exception);
    env.throw(exception);
}
