//! Any context-free grammar as a language: a lexer that may end a lexeme wherever it matches, and a generalised LR
//! parser. A position is the set of every way to read the text (graph.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const check = @import("../lr/check.zig");
const program_module = @import("../lr/program.zig");
const Program = program_module.Program;
const nothing_pending = @import("../lr/parser.zig").nothing_pending;
const run_module = @import("run.zig");
const Run = run_module.Run;
pub const Lexing = run_module.Lexing;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const BoundedTexts = @import("../language/bounded_texts.zig").BoundedTexts;
const AnyOrder = @import("any_order.zig").AnyOrder;
const Limits = @import("limits.zig").Limits;
const Parts = @import("parts.zig").Parts;
const graph = @import("graph.zig");
const bitmap = @import("../base/bitmap.zig");
const walk = @import("../mask/walk.zig").walk;
const addDuplicates = @import("../mask/walk.zig").addDuplicates;
const addLong = @import("../mask/walk.zig").addLong;
const Spans = @import("spans.zig").Spans;
const Walker = @import("walker.zig").Walker;

/// recognizer/language.zig says what each operation promises.
pub const Ambiguous = struct {
    program: Program,
    lexing: Lexing,
    named: NamedTokens = .{},
    limits: Limits = .{},
    any_order: AnyOrder = .{},
    texts: *const BoundedTexts = BoundedTexts.none,
    /// Owned. Null: there are none.
    parts: ?*Parts = null,

    pub const kind: Kind = .grammar;
    pub const stack_form: StackForm = .graph;

    pub fn deinit(a: *Ambiguous, gpa: Allocator, arrays: Arrays) void {
        if (a.parts) |parts| parts.destroy();
        a.texts.destroy(gpa, arrays);
        if (arrays == .owned) {
            a.program.deinit(gpa);
            a.named.deinit(gpa);
            a.limits.deinit(gpa);
            a.any_order.deinit(gpa);
        }
        a.* = undefined;
    }

    pub fn describe(a: *const Ambiguous, info: *Info) void {
        a.program.describe(info);
        if (!a.texts.isEmpty()) info.automaton_bytes += a.texts.bytes();
        const parts = a.parts orelse return;
        info.automaton_bytes += parts.bytes();
        for (parts.list) |*part| {
            var one: Info = info.*;
            part.schema.describe(&one);
            info.automaton_bytes += one.automaton_bytes;
        }
    }

    pub fn grown(a: *Ambiguous) usize {
        const parts = a.parts orelse return 0;
        var total = parts.bytes();
        for (parts.list) |*part| total += part.schema.grown();
        return total;
    }

    pub fn forget(a: *Ambiguous, _: Allocator) void {
        if (a.parts) |parts| parts.forget();
    }

    fn how(a: *const Ambiguous) Run.How {
        return .{
            .program = &a.program,
            .lexing = a.lexing,
            .parts = a.parts,
            .limits = &a.limits,
            .any_order = &a.any_order,
            .texts = a.texts,
        };
    }

    pub fn initial(_: *const Ambiguous) u32 {
        return nothing_pending;
    }

    pub fn advance(a: *const Ambiguous, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) run_module.Error!?Position {
        if (a.parts) |parts| if (graph.placeOf(from)) |number| {
            switch (try a.advanceWithin(gpa, parts, number, text)) {
                .place => |next| return .{ .state = graph.first_place + next, .stack = from.stack },
                .nothing => return null,
                .elsewhere => {},
            }
        };
        var run: Run = try .init(gpa, a.how(), pool, from);
        defer run.deinit();
        const set = try takeText(&run, text);
        return if (set == Run.empty) null else try run.positionOf(set);
    }

    const Within = union(enum) { place: u32, nothing, elsewhere };

    /// The place after a text in which the part surely does not end; `elsewhere` if it may.
    fn advanceWithin(_: *const Ambiguous, gpa: Allocator, parts: *Parts, number: u32, text: []const u8) run_module.Error!Within {
        var frames: Pool = .{};
        defer frames.nodes.deinit(gpa);
        const place = try parts.open(gpa, &frames, number);
        const part = &parts.list[place.part];
        if (text.len == 0 or part.canEndWithin(text)) return .elsewhere;
        if (part.nexts.isSet(text[0]) and try part.schema.canStop(gpa, &frames, place.at)) return .elsewhere;
        const next = try part.schema.advance(gpa, &frames, place.at, text) orelse return .nothing;
        return .{ .place = try parts.numberOf(&frames, .{ .part = place.part, .at = next }) };
    }

    pub fn advanceToken(
        a: *const Ambiguous,
        gpa: Allocator,
        pool: *Pool,
        from: Position,
        token: u32,
        flags: Flags,
        text: ?[]const u8,
    ) run_module.Error!?Position {
        const next = try a.within(gpa, pool, from, token, flags, text) orelse return null;
        return if (a.limits.isEmpty()) next else try a.endToken(gpa, pool, next);
    }

    /// The position after a token, where its bytes were read.
    pub fn endToken(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!Position {
        if (a.limits.isEmpty()) return at;
        var run: Run = try .init(gpa, a.how(), pool, at);
        defer run.deinit();
        return run.positionOf(try run.endToken(first_set));
    }

    fn within(
        a: *const Ambiguous,
        gpa: Allocator,
        pool: *Pool,
        from: Position,
        token: u32,
        flags: Flags,
        text: ?[]const u8,
    ) run_module.Error!?Position {
        const class = a.named.classOf(token, flags);
        if (class == NamedTokens.no_class) return if (text) |bytes| a.advance(gpa, pool, from, bytes) else null;
        var run: Run = try .init(gpa, a.how(), pool, from);
        defer run.deinit();
        const as_text = if (text) |bytes| try takeText(&run, bytes) else Run.empty;
        const as_itself = try run.stepToken(first_set, class);
        const set = try run.unite(as_text, as_itself);
        return if (set == Run.empty) null else try run.positionOf(set);
    }

    /// No text has the bytes that stand before the numbers of tokens and parts.
    fn takeText(run: *Run, text: []const u8) run_module.Error!u32 {
        var set: u32 = first_set;
        for (text) |byte| {
            if (byte >= Parts.lead) return Run.empty;
            set = try run.step(set, byte);
            if (set == Run.empty) break;
        }
        return set;
    }

    pub fn namesTokens(a: *const Ambiguous) bool {
        return !a.named.isEmpty();
    }

    pub fn takesTokens(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!bool {
        if (a.named.isEmpty() and a.limits.isEmpty()) return false;
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(gpa, a.how(), pool, at);
        defer run.deinit();
        return try run.isLimited(first_set) or try run.step(first_set, NamedTokens.lead) != Run.empty;
    }

    /// The bytes that may come next.
    pub fn nextBytes(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!std.StaticBitSet(256) {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(gpa, a.how(), pool, at);
        defer run.deinit();
        const lexer = &a.program.lexer;
        var of_class: [256]?bool = @splat(null);
        var bytes: std.StaticBitSet(256) = .empty;
        for (0..Parts.lead) |byte| {
            // Documents tell bytes apart that no lexeme does.
            const class = if (a.parts == null and a.texts.isEmpty()) lexer.columns[byte] / lexer.nStates() else byte;
            if (of_class[class] == null) of_class[class] = try run.step(first_set, @intCast(byte)) != Run.empty;
            if (of_class[class].?) bytes.set(byte);
        }
        return bytes;
    }

    pub fn canStop(a: *const Ambiguous, gpa: Allocator, pool: *Pool, at: Position) run_module.Error!bool {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var run: Run = try .init(gpa, a.how(), pool, at);
        defer run.deinit();
        return run.canEnd(first_set);
    }

    pub fn computeMask(a: *Ambiguous, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) run_module.Error!u32 {
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        const tools = scratch.attachmentOf(Tools) orelse try scratch.attach(context.gpa, Tools.init(context.gpa, a));
        defer tools.limit(a);
        const run = &tools.run;
        try run.beginMask(pool, at);
        const can_end = try run.canEnd(first_set);
        if (a.parts) |parts| {
            try findWithParts(context, tools, parts, scratch);
            context.finishWords(can_end, scratch);
        } else {
            const walker = &tools.walker;
            try walker.begin(run, scratch.states, first_set);
            const words = scratch.builder.words;
            bitmap.clear(words);
            try walker.addTree(context.trie, &tools.spans, words);
            addLong(context.trie, context.tokens, walker, words);
            addDuplicates(context.trie, words);
            walker.addNamed(context.tokens, words);
            context.finishWords(can_end, scratch);
            if (walker.failure) |failed| return failed;
        }
        return @intCast(run.looked);
    }

    /// What masks are found with. Memory is kept from one to the next, and spans.
    const Tools = struct {
        run: Run,
        walker: Walker,
        spans: Spans,

        /// More memory than this is given back after a mask.
        const kept_max = 1 << 20;

        fn init(gpa: Allocator, a: *const Ambiguous) Tools {
            return .{ .run = .idle(gpa, a.how()), .walker = .init(a.how(), &a.named), .spans = .{ .gpa = gpa } };
        }

        pub fn deinit(tools: *Tools) void {
            tools.spans.deinit();
            tools.walker.deinit(tools.run.gpa);
            tools.run.deinit();
        }

        fn limit(tools: *Tools, a: *const Ambiguous) void {
            if (tools.run.held() + tools.walker.held() <= kept_max) return;
            const gpa = tools.run.gpa;
            tools.walker.deinit(gpa);
            tools.walker = .init(a.how(), &a.named);
            tools.run.deinit();
            tools.run = .idle(gpa, a.how());
        }
    };

    /// Leaves in the builder's words what continues with the documents, the tokens in which one of these ends, and what continues
    /// elsewhere.
    fn findWithParts(context: *const MaskContext, tools: *Tools, parts: *Parts, scratch: *Scratch) run_module.Error!void {
        const words = scratch.builder.words;
        const run = &tools.run;
        const walker = &tools.walker;
        bitmap.clear(words);
        const outside = try run.outside(first_set);
        try walker.begin(run, scratch.states, outside);
        for ([_]u32{ first_set, try run.beginParts(outside) }) |set| for (0..run.of(set).len) |i| {
            const one = run.of(set)[i];
            const place = run.placeIn(one) orelse continue;
            run.lendWatch();
            const added = parts.addMask(context, &run.frames, place, words);
            run.takeWatch();
            try added;
            try walker.addAll(try run.alone(one), try parts.crossing(place.part, context, &run.pool.watch), context.tokens, words);
        };
        if (outside != Run.empty) {
            try walker.moveTo(run.before);
            walk(context.trie, context.tokens, walker, words, &run.pool.watch) catch |e| return walker.failure orelse e;
            walker.addNamed(context.tokens, words);
        }
        if (walker.failure) |failed| return failed;
        addDuplicates(context.trie, words);
    }

    pub fn save(a: *const Ambiguous, writer: anytype) Allocator.Error!void {
        try writer.put(&a.program);
        try writer.put(&a.named);
        try writer.put(&a.limits);
        try writer.put(&a.any_order);
        try writer.put(a.texts);
        try writer.put(&@as(u32, @backingInt(a.lexing)));
        const parts = a.parts orelse return writer.put(&@as(u32, 0));
        try writer.put(&@as(u32, @intCast(parts.list.len)));
        for (parts.list) |*part| try part.schema.save(writer);
    }

    /// What `open` leaves to its caller is read next: so many schemas, each as JsonSchema saves it.
    pub fn nSchemas(reader: anytype) error{Damaged}!u32 {
        const n = try reader.get(u32);
        return if (n <= Parts.parts_max) n else error.Damaged;
    }

    pub fn open(gpa: Allocator, reader: anytype) error{ OutOfMemory, Damaged }!Ambiguous {
        const program = try reader.get(Program);
        const named = try reader.get(NamedTokens);
        const limits = try reader.get(Limits);
        const any_order = try reader.get(AnyOrder);
        const texts = try reader.get(BoundedTexts);
        const lexing = std.enums.fromInt(Lexing, try reader.get(u32)) orelse return error.Damaged;
        return .{
            .program = program,
            .lexing = lexing,
            .named = named,
            .limits = limits,
            .any_order = any_order,
            .texts = try BoundedTexts.create(gpa, texts),
        };
    }

    pub fn isSound(a: *const Ambiguous, context: *const MaskContext) Allocator.Error!bool {
        if (!a.named.isSound(context.tokens.n) or check.hasEmptyReductions(&a.program)) return false;
        if (a.lexing == .contextual and a.program.parted.len == 0 and program_module.count(a.program.separators) > 0) return false;
        // What follows reads the program.
        return try check.isSound(context.gpa, &a.program) and a.limits.isSound(&a.program) and
            a.any_order.isSound(&a.program) and a.texts.isSound(a.program.n_terminals);
    }

    pub fn limitKept(a: *Ambiguous, bytes_max: usize) void {
        if (a.parts) |parts| parts.limitKept(bytes_max);
    }

    pub fn prepare(_: *Ambiguous, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}

    /// Of a run: the configurations of its position.
    const first_set = 1;
};
