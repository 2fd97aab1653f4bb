//! Header, section 12: what the host's loaders look for, and this library does not do.

const builtin = @import("builtin");
const std = @import("std");
const boundary = @import("boundary.zig");
const context_abi = @import("context.zig");
const Message = boundary.Message;
const Context = context_abi.Handle;
const Stream = @import("stream.zig").Handle;

const unsupported = boundary.Status.unsupported.code();

/// Fails; `what` is the subject of the message.
fn refuse(out_error: ?*Message, what: []const u8) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    diag.fail(.unsupported, "{s}: not in this library, which constrains text", .{what}) catch {};
    return boundary.fail(out_error, &diag);
}

/// For functions that return a handle.
fn refuseToOpen(out_error: ?*Message, what: []const u8) ?*anyopaque {
    _ = refuse(out_error, what);
    return null;
}

/// For functions that have nothing to do, if the context is open.
fn acceptFor(ctx: ?*Context, out_error: ?*Message) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    const context = context_abi.find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    context.release();
    return 0;
}

// ---- Speech synthesis

const synthesis = "speech synthesis";
const Samples = ?[*]f32;
const ChunkCallback = fn (pcm: ?[*]const f32, n_samples: usize, is_final: c_int, user_data: ?*anyopaque) callconv(.c) c_int;

/// Where the two sides pass a float differently, what follows it is not where it seems.
fn behindFloat(out_error: ?*Message) ?*Message {
    return if (builtin.cpu.arch.isArm()) null else out_error;
}

export fn eliza_inference_tts_stream_supported() c_int {
    return 0;
}

export fn eliza_inference_tts_synthesize(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: ?[*:0]const u8,
    _: Samples,
    _: usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, synthesis);
}

export fn eliza_inference_tts_synthesize_stream(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: ?[*:0]const u8,
    _: ?*const ChunkCallback,
    _: ?*anyopaque,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, synthesis);
}

export fn eliza_inference_cancel_tts(ctx: ?*Context, out_error: ?*Message) c_int {
    return acceptFor(ctx, out_error);
}

export fn eliza_inference_encode_reference(
    _: ?*Context,
    _: ?[*]const f32,
    _: usize,
    _: c_int,
    _: ?*c_int,
    _: ?*c_int,
    _: ?*?[*]c_int,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, synthesis);
}

export fn eliza_inference_kokoro_supported() c_int {
    return 0;
}

export fn eliza_inference_kokoro_load(_: ?*Context, _: ?[*:0]const u8, _: ?[*:0]const u8, _: c_int, out_error: ?*Message) c_int {
    return refuse(out_error, synthesis);
}

export fn eliza_inference_kokoro_synthesize(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: f32,
    _: Samples,
    _: usize,
    out_error: ?*Message,
) c_int {
    return refuse(behindFloat(out_error), synthesis);
}

export fn eliza_inference_kokoro_sample_rate(_: ?*Context) c_int {
    return unsupported;
}

export fn eliza_inference_kokoro_g2p_kind(_: ?*Context) c_int {
    return unsupported;
}

export fn eliza_inference_kokoro_synthesize_ipa(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: f32,
    _: Samples,
    _: usize,
    out_error: ?*Message,
) c_int {
    return refuse(behindFloat(out_error), synthesis);
}

// ---- Speech recognition

const recognition = "speech recognition";

export fn eliza_inference_asr_transcribe(
    _: ?*Context,
    _: ?[*]const f32,
    _: usize,
    _: c_int,
    _: ?[*]u8,
    _: usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, recognition);
}

export fn eliza_inference_asr_timestamps_supported() c_int {
    return 0;
}

export fn eliza_inference_asr_transcribe_timed(
    _: ?*Context,
    _: ?[*]const f32,
    _: usize,
    _: c_int,
    _: ?[*]u8,
    _: usize,
    _: ?[*]c_int,
    _: ?[*]c_int,
    _: ?*usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, recognition);
}

export fn eliza_inference_asr_stream_supported() c_int {
    return 0;
}

export fn eliza_inference_asr_stream_open(_: ?*Context, _: c_int, out_error: ?*Message) ?*anyopaque {
    return refuseToOpen(out_error, recognition);
}

export fn eliza_inference_asr_stream_feed(_: ?*anyopaque, _: ?[*]const f32, _: usize, out_error: ?*Message) c_int {
    return refuse(out_error, recognition);
}

export fn eliza_inference_asr_stream_partial(
    _: ?*anyopaque,
    _: ?[*]u8,
    _: usize,
    _: ?[*]c_int,
    _: ?*usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, recognition);
}

export fn eliza_inference_asr_stream_finish(
    _: ?*anyopaque,
    _: ?[*]u8,
    _: usize,
    _: ?[*]c_int,
    _: ?*usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, recognition);
}

export fn eliza_inference_asr_stream_close(_: ?*anyopaque) void {}

// ---- Voice activity, wake words, speakers

const voice_activity = "voice activity detection";

export fn eliza_inference_vad_supported() c_int {
    return 0;
}

export fn eliza_inference_vad_open(_: ?*Context, _: c_int, out_error: ?*Message) ?*anyopaque {
    return refuseToOpen(out_error, voice_activity);
}

export fn eliza_inference_vad_process(_: ?*anyopaque, _: ?[*]const f32, _: usize, _: ?*f32, out_error: ?*Message) c_int {
    return refuse(out_error, voice_activity);
}

export fn eliza_inference_vad_reset(_: ?*anyopaque, out_error: ?*Message) c_int {
    return refuse(out_error, voice_activity);
}

export fn eliza_inference_vad_close(_: ?*anyopaque) void {}

const wake_words = "detection of wake words";

export fn eliza_inference_wakeword_supported() c_int {
    return 0;
}

export fn eliza_inference_wakeword_open(_: ?*Context, _: c_int, _: ?[*:0]const u8, out_error: ?*Message) ?*anyopaque {
    return refuseToOpen(out_error, wake_words);
}

export fn eliza_inference_wakeword_score(_: ?*anyopaque, _: ?[*]const f32, _: usize, _: ?*f32, out_error: ?*Message) c_int {
    return refuse(out_error, wake_words);
}

export fn eliza_inference_wakeword_reset(_: ?*anyopaque, out_error: ?*Message) c_int {
    return refuse(out_error, wake_words);
}

export fn eliza_inference_wakeword_close(_: ?*anyopaque) void {}

const speakers = "recognition of speakers";

export fn eliza_inference_speaker_supported() c_int {
    return 0;
}

export fn eliza_inference_speaker_open(_: ?*Context, _: ?[*:0]const u8, out_error: ?*Message) ?*anyopaque {
    return refuseToOpen(out_error, speakers);
}

export fn eliza_inference_speaker_embed(_: ?*anyopaque, _: ?[*]const f32, _: usize, _: Samples, out_error: ?*Message) c_int {
    return refuse(out_error, speakers);
}

/// Embeddings are the caller's; the host declares it to have a pair.
export fn eliza_inference_speaker_free(_: Samples) void {}

export fn eliza_inference_speaker_close(_: ?*anyopaque) void {}

export fn eliza_inference_diariz_supported() c_int {
    return 0;
}

export fn eliza_inference_diariz_open(_: ?*Context, _: ?[*:0]const u8, out_error: ?*Message) ?*anyopaque {
    return refuseToOpen(out_error, speakers);
}

export fn eliza_inference_diariz_segment(
    _: ?*anyopaque,
    _: ?[*]const f32,
    _: usize,
    _: ?[*]i8,
    _: ?*usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, speakers);
}

export fn eliza_inference_diariz_close(_: ?*anyopaque) void {}

// ---- The end of a turn, images

export fn eliza_inference_llm_eot_supported() c_int {
    return 0;
}

export fn eliza_inference_llm_eot_score(
    _: ?*Context,
    _: ?[*]const i32,
    _: usize,
    _: i32,
    _: ?*f32,
    _: ?*i32,
    _: ?*f32,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, "scores for the end of a turn");
}

const images = "description of images";

export fn eliza_inference_vision_supported() c_int {
    return 0;
}

export fn eliza_inference_describe_image(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: ?[*:0]const u8,
    _: ?[*:0]const u8,
    _: ?[*]u8,
    _: usize,
    out_error: ?*Message,
) c_int {
    return refuse(out_error, images);
}

export fn eliza_inference_vision_stream_supported() c_int {
    return 0;
}

export fn eliza_inference_describe_image_stream_open(
    _: ?*Context,
    _: ?[*]const u8,
    _: usize,
    _: ?[*:0]const u8,
    _: ?[*:0]const u8,
    out_error: ?*Message,
) ?*Stream {
    return @ptrCast(refuseToOpen(out_error, images));
}
