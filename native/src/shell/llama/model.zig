//! A loaded model, shared by a context and its streams.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const api_module = @import("api.zig");
const Api = api_module.Api;
const Layout = @import("layout.zig").Layout;
const Runtime = @import("loader.zig").Runtime;
const native_log = @import("native_log.zig");
const diagnostic = @import("engine").diagnostic;
const identity = @import("engine").identity;
const Diagnostic = diagnostic.Diagnostic;
const file = @import("engine").file;
const gguf = @import("gguf.zig");
const Mapping = @import("engine").mapping.Mapping;
const gpa = @import("engine").memory.gpa;

const no_backend = "{s}: libllama ({s}) has no backend that could run it: its files, such as libggml-cpu.so, do not lie beside " ++
    "it as files. An app whose libraries stay inside its APK loads them before (ggml_backend_load), or lets them be extracted " ++
    "(extractNativeLibs, useLegacyPackaging)";

/// Reference-counted. Any thread may use it.
pub const Model = struct {
    references: std.atomic.Value(u32) = .init(1),
    /// As that of a Vocabulary.
    identity: u32,
    runtime: *const Runtime,
    handle: *api_module.Model,
    vocab: *const api_module.Vocab,
    n_tokens: u32,
    /// The tokens that end a generation: a handful, looked at for each token of the text.
    end_tokens: []const i32,
    path: [:0]const u8,
    /// As requested. Negative: all.
    n_gpu_layers: i32,

    /// Loads a GGUF file, with so many layers on the GPU; null: libllama's default. The caller owns one
    /// reference.
    pub fn load(runtime: *const Runtime, path: []const u8, n_gpu_layers: ?i32, d: *Diagnostic) diagnostic.Error!*Model {
        const own_path = gpa.dupeSentinel(u8, path, 0) catch return d.outOfMemory();
        errdefer gpa.free(own_path);
        try checkFile(own_path, d);
        const model = gpa.create(Model) catch return d.outOfMemory();
        errdefer gpa.destroy(model);

        var params = runtime.defaults.model.words;
        const layers = &params[Layout.n_gpu_layers / 4];
        if (n_gpu_layers) |n| layers.* = @bitCast(n);
        native_log.forget();
        const handle = runtime.api.loadModel(runtime.layout, own_path, &params) orelse {
            if (runtime.backendCount) |count| {
                if (count() == 0) return d.fail(.ffi_fault, no_backend, .{ path, runtime.path });
            }
            var buffer: [native_log.reason_bytes_max]u8 = undefined;
            return d.fail(.bundle_invalid, "{s}: libllama cannot load it: {s}", .{ path, native_log.reason(&buffer) });
        };
        errdefer runtime.api.llama_model_free(handle);
        const vocab = runtime.api.llama_model_get_vocab(handle);
        const n_tokens = runtime.api.llama_vocab_n_tokens(vocab);
        if (n_tokens < 1) return d.fail(.bundle_invalid, "{s}: the model has no vocabulary", .{path});
        const end_tokens = findEndTokens(&runtime.api, vocab, n_tokens) catch return d.outOfMemory();
        model.* = .{
            .identity = identity.next(),
            .runtime = runtime,
            .handle = handle,
            .vocab = vocab,
            .n_tokens = @intCast(n_tokens),
            .end_tokens = end_tokens,
            .path = own_path,
            .n_gpu_layers = @bitCast(layers.*),
        };
        return model;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(model: *Model) *Model {
        _ = model.references.fetchAdd(1, .monotonic);
        return model;
    }

    /// Gives a reference back; the last one frees the model. Safe from any thread.
    pub fn release(model: *Model) void {
        if (model.references.fetchSub(1, .acq_rel) != 1) return;
        model.runtime.api.llama_model_free(model.handle);
        gpa.free(model.end_tokens);
        gpa.free(model.path);
        gpa.destroy(model);
    }

    /// The functions of the libllama that loaded it.
    pub fn api(model: *const Model) *const Api {
        return &model.runtime.api;
    }

    /// Whether the loaded model has what a request for so many layers on the GPU would give.
    pub fn hasLayersOnGpu(model: *const Model, n_gpu_layers: i32) bool {
        if (!model.api().llama_supports_gpu_offload()) return true;
        const most = model.api().llama_model_n_layer(model.handle) + 1;
        return layersOnGpu(model.n_gpu_layers, most) == layersOnGpu(n_gpu_layers, most);
    }

    /// Whether it is an encoder-decoder model, which streams do not serve.
    pub fn hasEncoder(model: *const Model) bool {
        return model.api().llama_model_has_encoder(model.handle);
    }

    /// Equal for all copies of a model, as far as its description tells.
    pub fn fingerprint(model: *const Model) u64 {
        const a = model.api();
        var buffer: [256]u8 = undefined;
        const length: usize = @intCast(std.math.clamp(a.llama_model_desc(model.handle, &buffer, buffer.len), 0, buffer.len - 1));
        var hasher: std.hash.Wyhash = .init(0);
        hasher.update(buffer[0..length]);
        for ([_]u64{
            a.llama_model_n_params(model.handle),
            a.llama_model_size(model.handle),
            @intCast(a.llama_model_n_layer(model.handle)),
            @intCast(a.llama_model_n_embd(model.handle)),
            @intCast(a.llama_model_n_ctx_train(model.handle)),
        }) |number| hasher.update(std.mem.asBytes(&number));
        return hasher.final();
    }

    /// Whether the token ends a generation.
    pub fn isEndOfGeneration(model: *const Model, token: i32) bool {
        return std.mem.findScalar(i32, model.end_tokens, token) != null;
    }

    /// Appends the bytes of a token; with `special` those of control tokens too.
    pub fn appendBytes(model: *const Model, token: i32, special: bool, out: *ArrayList(u8)) error{OutOfMemory}!void {
        try out.ensureUnusedCapacity(gpa, usual_token_bytes);
        while (true) {
            const room = out.unusedCapacitySlice();
            const capacity: i32 = @intCast(@min(room.len, std.math.maxInt(i32)));
            const n = model.api().llama_token_to_piece(model.vocab, token, room.ptr, capacity, 0, special);
            if (n >= 0) {
                out.items.len += @intCast(n);
                return;
            }
            try out.ensureUnusedCapacity(gpa, @abs(n));
        }
    }

    const usual_token_bytes = 64;

    /// Fails at the first token that is not in the vocabulary; `name` is the caller's name of the array.
    pub fn checkTokens(model: *const Model, name: []const u8, tokens: []const i32, d: *Diagnostic) diagnostic.Error!void {
        for (tokens, 0..) |token, i| {
            if (token >= 0 and token < model.n_tokens) continue;
            return d.fail(.invalid_arg, "{s}[{d}]: {d} is not a token of the vocabulary of {d}", .{ name, i, token, model.n_tokens });
        }
    }
};

/// How many of at most `most` layers a request puts on the GPU.
fn layersOnGpu(requested: i32, most: i32) i32 {
    return if (requested < 0) most else @min(requested, most);
}

test "requests for layers on the GPU" {
    for ([_][2]i32{ .{ -1, 5 }, .{ -7, 5 }, .{ 0, 0 }, .{ 4, 4 }, .{ 5, 5 }, .{ 99, 5 } }) |case| {
        try std.testing.expectEqual(case[1], layersOnGpu(case[0], 5));
    }
}

fn findEndTokens(api: *const Api, vocab: *const api_module.Vocab, n_tokens: i32) error{OutOfMemory}![]const i32 {
    var found: ArrayList(i32) = .empty;
    errdefer found.deinit(gpa);
    var token: i32 = 0;
    while (token < n_tokens) : (token += 1) {
        if (api.llama_vocab_is_eog(vocab, token)) try found.append(gpa, token);
    }
    return found.toOwnedSlice(gpa);
}

/// Says what is wrong with a file, or with another one of the model; libllama would merely refuse it, or end the process.
fn checkFile(path: [:0]const u8, d: *Diagnostic) diagnostic.Error!void {
    const n = try checkOne(path, d);
    var number: u16 = 1;
    while (number < n) {
        number += 1;
        var buffer: [4096]u8 = undefined;
        // A first file with another name libllama refuses.
        _ = try checkOne(gguf.nameOfFile(path, number, n, &buffer) orelse return, d);
    }
}

/// Returns the number of files that the model is in.
fn checkOne(path: [:0]const u8, d: *Diagnostic) diagnostic.Error!u16 {
    var start: [4]u8 = undefined;
    const found = file.readStart(path, &start) orelse
        return d.fail(.bundle_invalid, "{s}: there is no such file, or it cannot be opened", .{path});
    if (!std.mem.eql(u8, found, "GGUF")) {
        return d.fail(.bundle_invalid, "{s} is neither a GGUF file nor a folder with one under text/", .{path});
    }
    // What cannot be mapped, for want of addresses, is libllama's to judge.
    const mapping = Mapping.openLazily(path) catch return 1;
    defer mapping.close();
    var n_files: u16 = 1;
    const wrong = gguf.damage(mapping.bytes, &n_files) orelse return n_files;
    return d.fail(.bundle_invalid, "{s} is damaged: {s}", .{ path, wrong });
}
