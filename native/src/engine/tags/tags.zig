//! Free text with parts in it. A part begins where free text has a begin text, is a text of a language of its own, and
//! ends at the first end text that stands where the part may stop; a part without an end text ends before the first
//! byte that does not continue it. Hence there is always one way to read a text, and a position has at most one part.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Interner = @import("../base/interner.zig").Interner;
const bitmap = @import("../base/bitmap.zig");
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Error = @import("../contract/span.zig").Error;
const position_module = @import("../language/position.zig");
const Position = position_module.Position;
const Pool = position_module.Pool;
const StackForm = position_module.StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const ScratchPool = @import("../mask/scratch.zig").ScratchPool;
const Mutex = @import("../platform/mutex.zig").Mutex;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const FreeText = @import("free_text.zig").FreeText;
const NamedTokens = @import("symbols.zig").NamedTokens;
const Symbol = @import("symbols.zig").Symbol;
const end_text = @import("end_text.zig");
const EndText = end_text.EndText;
const Progress = end_text.Progress;

/// Positions within parts that are told apart. One more is too many.
const places_max = 1 << 24;

/// How many parts a text may have.
pub const Count = struct {
    least: u32 = 0,
    /// Null: any number.
    most: ?u32 = null,
    /// The text ends with the first part.
    stop_after_first: bool = false,

    /// Numbers of parts from here on make no difference.
    fn last(count: Count) u32 {
        return @max(count.least, count.most orelse 0);
    }
};

/// What follows a part.
pub const Behind = struct {
    /// A state of free text, or `finished`.
    state: u32,
    /// The same, after the last part that may be.
    last: u32,
    /// An end text must follow, or another part.
    is_row: bool,

    /// The text ends.
    pub const finished = std.math.maxInt(u32) - 1;
};

/// Of parts in a `Language`, which is the union that this is one of: recognizer/language.zig says what each operation
/// promises. The parts are other kinds.
pub fn Tags(comptime Language: type) type {
    return struct {
        free: FreeText,
        parts: []const Part,
        /// Of parts. Those that were given alike are one. Owned.
        languages: []Shared,
        /// Distinct. Of parts without one, the text is empty.
        ends: []EndText,
        /// In texts around parts.
        named: NamedTokens,
        /// Whether a part names tokens, too.
        parts_name_tokens: bool,
        count: Count,
        /// What it was compiled from. Owned.
        source: []const u8,
        /// The positions within parts: part, number of parts before it, state in the part, and the end text's progress.
        places: Interner = .{},
        places_bytes_max: usize = std.math.maxInt(usize),
        /// Of `places` and the lists of `ends`.
        mutex: Mutex = .{},
        gpa: Allocator,

        const Self = @This();

        /// What begin texts lead to.
        pub const Part = struct {
            /// Of `languages`.
            language: u32,
            /// Of `ends`.
            end: u32,
            behind: Behind,
        };

        /// A language of parts, and the memory to find its masks.
        pub const Shared = struct {
            language: Language,
            scratches: ScratchPool,

            pub fn init(gpa: Allocator, trie: *const ByteTrie, language: Language) Shared {
                return .{ .language = language, .scratches = .{ .gpa = gpa, .trie = trie } };
            }

            pub fn deinit(shared: *Shared, gpa: Allocator) void {
                shared.scratches.deinit();
                shared.language.deinit(gpa, .owned);
            }
        };

        pub const kind: Kind = .tags;

        pub fn deinit(t: *Self, gpa: Allocator, _: Arrays) void {
            for (t.languages) |*shared| shared.deinit(gpa);
            gpa.free(t.languages);
            gpa.free(t.parts);
            for (t.ends) |*end| end.deinit(gpa);
            gpa.free(t.ends);
            gpa.free(t.source);
            t.named.deinit(gpa);
            t.free.deinit(gpa);
            t.places.deinit(gpa);
            t.* = undefined;
        }

        /// `mixed` if one part's stacks are a graph; else all positions can have one stack.
        pub fn stackForm(t: *const Self) StackForm {
            for (t.languages) |*shared| if (shared.language.stackForm() == .graph) return .mixed;
            return .one;
        }

        /// Whose the stack of a position is.
        pub noinline fn inner(t: *const Self, at: Position) Language.Inner {
            const place = t.placeOf(at);
            if (place.mode != in_part or place.sub.state == none) return .{ .form = .one, .at = at, .state = at.state };
            const language = t.languageOf(&place);
            return .{
                .form = language.stackForm(),
                .at = place.sub,
                .state = t.canonicalState(&place) orelse at.state,
                .counts = language.graphCounts(),
            };
        }

        pub fn describe(t: *const Self, info: *Info) void {
            const own = info.*;
            info.n_states = t.free.n_states;
            const mutex = &@constCast(t).mutex;
            mutex.lock();
            info.automaton_bytes = t.free.bytes() + t.places.bytes();
            mutex.unlock();
            for (t.languages) |*shared| {
                var one: Info = own;
                shared.language.describe(&one);
                info.n_tables += one.n_tables;
                info.automaton_bytes += one.automaton_bytes;
            }
        }

        pub fn grown(t: *Self) usize {
            t.mutex.lock();
            var total = t.places.bytes();
            t.mutex.unlock();
            for (t.languages) |*shared| total += shared.language.grown();
            return total;
        }

        pub fn forget(t: *Self, gpa: Allocator) void {
            for (t.languages) |*shared| shared.language.forget(gpa);
            t.mutex.lock();
            defer t.mutex.unlock();
            t.places.deinit(gpa);
            t.places = .{};
        }

        pub fn initial(t: *const Self) u32 {
            return t.free.initial;
        }

        pub noinline fn advance(t: *const Self, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) Error!?Position {
            const run: Run = .{ .tags = t, .gpa = gpa, .pool = pool };
            var place = t.placeOf(from);
            return if (try run.follow(&place, text)) try t.positionOf(&place) else null;
        }

        pub noinline fn advanceToken(
            t: *const Self,
            gpa: Allocator,
            pool: *Pool,
            from: Position,
            token: u32,
            flags: Flags,
            text: ?[]const u8,
        ) Error!?Position {
            const symbol = t.named.symbolOf(token);
            if (symbol == null and !t.parts_name_tokens) return if (text) |bytes| t.advance(gpa, pool, from, bytes) else null;
            const run: Run = .{ .tags = t, .gpa = gpa, .pool = pool };
            const place = t.placeOf(from);
            const next = try run.stepToken(&place, token, symbol, flags, text) orelse return null;
            return try t.positionOf(&next);
        }

        pub fn namesTokens(t: *const Self) bool {
            return t.parts_name_tokens or t.named.symbols.len > 0;
        }

        pub noinline fn takesTokens(t: *const Self, gpa: Allocator, pool: *Pool, at: Position) Error!bool {
            const n_nodes = pool.nodes.items.len;
            defer pool.nodes.shrinkRetainingCapacity(n_nodes);
            const run: Run = .{ .tags = t, .gpa = gpa, .pool = pool };
            const place = t.placeOf(at);
            for (t.named.ids, t.named.symbols) |token, symbol| {
                if (try run.stepToken(&place, token, symbol, .{}, null) != null) return true;
            }
            const inside = t.entered(&place, null);
            return run.namesTokens(&inside) and try t.languageOf(&inside).takesTokens(gpa, pool, inside.sub);
        }

        pub noinline fn canStop(t: *const Self, gpa: Allocator, pool: *Pool, at: Position) Error!bool {
            const place = t.placeOf(at);
            return t.mayStop(gpa, pool, &place);
        }

        pub noinline fn computeMask(t: *Self, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) Error!u32 {
            const n_nodes = pool.nodes.items.len;
            defer pool.nodes.shrinkRetainingCapacity(n_nodes);
            const place = t.placeOf(at);
            const run: Run = .{ .tags = t, .gpa = context.gpa, .pool = pool };
            const can_stop = try t.mayStop(context.gpa, pool, &place);
            if (place.mode == in_part and t.endOf(&place).text.len > 0) {
                try t.findInPart(context, run, &place, scratch);
            } else {
                var walker: Walker = try .init(context, run, &place, scratch);
                context.computeByWalk(&walker, can_stop, scratch, &pool.watch) catch |e| return walker.failure orelse e;
                if (walker.failure) |failed| return failed;
            }
            if (place.mode != in_part or place.sub.state == none) return 0;
            // Whether a part may stop within a token is asked of the part, which does not say what it looks at.
            return if (t.languageOf(&place).stackForm() == .graph) std.math.maxInt(u32) else 0;
        }

        /// As JsonSchema's; for each part, and for where texts stand.
        pub fn limitKept(t: *Self, bytes_max: usize) void {
            t.places_bytes_max = bytes_max;
            for (t.languages) |*shared| shared.language.limitKept(bytes_max);
        }

        pub fn prepare(t: *Self, context: *const MaskContext, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
            for (t.languages) |*shared| try shared.language.prepare(context, budget, diag);
        }

        /// What it was compiled from: opening compiles it again.
        pub fn save(t: *const Self, writer: anytype) Allocator.Error!void {
            return writer.put(&t.source);
        }

        // ---- Places

        /// In place of a state of free text.
        const in_part = std.math.maxInt(u32);
        const finished = Behind.finished;
        /// In place of a part's state: the part cannot continue, and its end text is being read.
        const none = std.math.maxInt(u32);

        /// A position, taken apart.
        const Place = struct {
            /// A state of free text, `in_part` or `finished`.
            mode: u32,
            /// Parts that have ended, as far as it matters.
            n_parts: u32 = 0,
            part: u32 = 0,
            sub: Position = .{ .state = none },
            read: Progress = 0,
        };

        fn nFixed(t: *const Self) u32 {
            return (t.count.last() + 1) * t.free.n_states + 1;
        }

        fn placeOf(t: *const Self, at: Position) Place {
            const n_fixed = t.nFixed();
            if (at.state < n_fixed - 1) return .{ .mode = at.state % t.free.n_states, .n_parts = at.state / t.free.n_states };
            if (at.state == n_fixed - 1) return .{ .mode = finished };
            const mutex = &@constCast(t).mutex;
            mutex.lock();
            defer mutex.unlock();
            const words = t.places.get(at.state - n_fixed);
            var place: Place = .{
                .mode = in_part,
                .part = words[0],
                .n_parts = words[1],
                .sub = .{ .state = words[2], .stack = at.stack },
            };
            for (words[3..], 0..) |word, i| place.read |= @as(Progress, word) << @intCast(32 * i);
            return place;
        }

        fn positionOf(t: *const Self, place: *const Place) Error!Position {
            if (place.mode == finished) return .{ .state = t.nFixed() - 1 };
            if (place.mode != in_part) return .{ .state = place.n_parts * t.free.n_states + place.mode };
            var buffer: Words = undefined;
            const self = @constCast(t);
            self.mutex.lock();
            defer self.mutex.unlock();
            if (t.places.count() >= places_max or t.places.bytes() > t.places_bytes_max) return error.TooLarge;
            const canonical = t.languageOf(place).canonical(place.sub.state);
            if (canonical != place.sub.state) _ = try self.places.put(t.gpa, wordsOf(place, canonical, &buffer));
            const number = try self.places.put(t.gpa, wordsOf(place, place.sub.state, &buffer));
            return .{ .state = t.nFixed() + number, .stack = place.sub.stack };
        }

        const Words = [7]u32;

        fn wordsOf(place: *const Place, state: u32, buffer: *Words) []const u32 {
            buffer[0..3].* = .{ place.part, place.n_parts, state };
            var n: usize = 3;
            var rest = place.read;
            while (rest != 0) : (rest >>= 32) {
                buffer[n] = @truncate(rest);
                n += 1;
            }
            return buffer[0..n];
        }

        /// That of the place with what masks depend on alone, if it differs.
        fn canonicalState(t: *const Self, place: *const Place) ?u32 {
            const canonical = t.languageOf(place).canonical(place.sub.state);
            if (canonical == place.sub.state) return null;
            var buffer: Words = undefined;
            const words = wordsOf(place, canonical, &buffer);
            const mutex = &@constCast(t).mutex;
            mutex.lock();
            defer mutex.unlock();
            return t.nFixed() + (t.places.find(words) orelse return null);
        }

        fn endOf(t: *const Self, place: *const Place) *EndText {
            return &t.ends[t.parts[place.part].end];
        }

        fn languageOf(t: *const Self, place: *const Place) *Language {
            return &t.languages[t.parts[place.part].language].language;
        }

        /// Where a begin text has ended that longer ones begin with, the start of its part, unless the longer ones continue with
        /// `first`. Else the same place.
        fn entered(t: *const Self, place: *const Place, first: ?Symbol) Place {
            if (place.mode == finished or place.mode == in_part) return place.*;
            const part = t.free.pendingAt(place.mode) orelse return place.*;
            if (first) |symbol| if (t.free.afterSymbol(place.mode, symbol) != FreeText.dead) return place.*;
            return t.startOf(part, place.n_parts);
        }

        fn startOf(t: *const Self, part: u32, n_parts: u32) Place {
            const language = &t.languages[t.parts[part].language].language;
            return .{ .mode = in_part, .n_parts = n_parts, .part = part, .sub = .{ .state = language.initial() } };
        }

        fn mayStop(t: *const Self, gpa: Allocator, pool: *Pool, at: *const Place) Error!bool {
            const inside = t.entered(at, null);
            const place = &inside;
            if (place.mode == finished) return true;
            if (place.mode != in_part) return place.n_parts >= t.count.least and place.mode < t.free.first_closing;
            if (t.endOf(place).text.len > 0 or t.parts[place.part].behind.is_row or place.n_parts + 1 < t.count.least) return false;
            return t.languageOf(place).canStop(gpa, pool, place.sub);
        }

        /// Follows bytes from place to place.
        const Run = struct {
            tags: *const Self,
            gpa: Allocator,
            pool: *Pool,

            /// Null: no text continues like that.
            fn step(run: Run, place: *const Place, byte: u8) Error!?Place {
                try run.pool.watch.steps(1);
                return switch (place.mode) {
                    finished => null,
                    in_part => if (run.tags.endOf(place).text.len > 0) run.stepTo(place, byte) else run.stepOpen(place, byte),
                    else => {
                        const next = run.tags.entered(place, byte);
                        return if (next.mode == in_part) run.step(&next, byte) else run.stepFree(place, byte);
                    },
                };
            }

            /// A token. If it is named, with a symbol, it is that around parts; in a part it is that of the end text first,
            /// then itself if the part names it, and what it spells.
            fn stepToken(run: Run, place: *const Place, token: u32, symbol: ?Symbol, flags: Flags, text: ?[]const u8) Error!?Place {
                if (place.mode == finished) return null;
                if (place.mode != in_part) {
                    const first: ?Symbol = symbol orelse if (text != null and text.?.len > 0) text.?[0] else null;
                    const inside = run.tags.entered(place, first);
                    if (inside.mode == in_part) return run.stepToken(&inside, token, symbol, flags, text);
                    const named = symbol orelse return run.afterText(place, text);
                    // An end token would be the end, but where nothing else is meant.
                    if (flags.end_of_generation and place.mode < run.tags.free.first_closing) return null;
                    return run.stepFree(place, named);
                }
                const end = run.tags.endOf(place);
                const itself = try run.take(place, token, flags, null);
                if (symbol) |named| if (end.text.len > 0) {
                    var after = place.*;
                    after.read = end.after(place.read, named);
                    if (place.sub.state != none and named == end.text[0] and try run.canStop(place)) after.read |= 2;
                    after.sub = itself orelse .{ .state = none };
                    if (end.isRead(after.read)) return run.behind(place);
                    if (after.read != 0) return after;
                };
                if (itself) |sub| return try run.stepNamed(place, token, flags, text, sub);
                if (try run.afterText(place, text)) |next| return next;
                if (symbol == null or end.text.len > 0 or !try run.canStop(place)) return null;
                const outside = run.behind(place);
                return run.stepToken(&outside, token, symbol, flags, null);
            }

            /// A token that the part names, after which its position is `itself`. Unless its bytes have the end text, the part
            /// continues with both: with the token, and with what it spells.
            fn stepNamed(run: Run, place: *const Place, token: u32, flags: Flags, text: ?[]const u8, itself: Position) Error!Place {
                var next = place.*;
                next.read = 0;
                next.sub = itself;
                const bytes = text orelse return next;
                const has_end = run.tags.endOf(place).text.len > 0;
                const spelled = try run.afterText(place, bytes) orelse return next;
                if (has_end and try run.endsWithin(place, bytes)) return spelled;
                if (has_end) next.read = spelled.read;
                next.sub = (try run.take(place, token, flags, bytes)).?;
                return next;
            }

            /// After a text; null if there is none, or it cannot follow.
            fn afterText(run: Run, place: *const Place, text: ?[]const u8) Error!?Place {
                var next = place.*;
                return if (text != null and try run.follow(&next, text.?)) next else null;
            }

            /// Whether a text, which can follow, has the end of the part in it.
            fn endsWithin(run: Run, place: *const Place, text: []const u8) Error!bool {
                var at = place.*;
                for (text) |byte| {
                    at = (try run.step(&at, byte)).?;
                    if (at.mode != in_part) return true;
                }
                return false;
            }

            /// Byte by byte. False: no text continues like that.
            fn follow(run: Run, place: *Place, text: []const u8) Error!bool {
                var at: usize = 0;
                while (at < text.len) {
                    if (try run.skip(place, text[at..])) |n| {
                        if (n == 0) return false;
                        at += n;
                    } else {
                        place.* = try run.step(place, text[at]) orelse return false;
                        at += 1;
                    }
                }
                return true;
            }

            fn stepFree(run: Run, place: *const Place, symbol: Symbol) ?Place {
                const t = run.tags;
                const next = t.free.afterSymbol(place.mode, symbol);
                if (next == FreeText.dead) return null;
                if (next >= t.free.first_behind_trigger and place.n_parts == t.count.most) return null;
                if (next == t.free.n_states + t.parts.len) return .{ .mode = finished };
                if (next >= t.free.n_states) return t.startOf(next - t.free.n_states, place.n_parts);
                if (place.n_parts < t.count.least and !t.free.mayBegin(next)) return null;
                return .{ .mode = next, .n_parts = place.n_parts };
            }

            /// In a part with an end text.
            fn stepTo(run: Run, place: *const Place, byte: u8) Error!?Place {
                const end = run.tags.endOf(place);
                var after = place.*;
                after.read = end.after(place.read, byte);
                if (place.sub.state != none) {
                    if (byte == end.text[0] and try run.canStop(place)) after.read |= 2;
                    after.sub = try run.advance(place, &.{byte}) orelse .{ .state = none };
                }
                if (end.isRead(after.read)) return run.behind(place);
                return if (after.sub.state == none and after.read == 0) null else after;
            }

            /// In a part without one.
            fn stepOpen(run: Run, place: *const Place, byte: u8) Error!?Place {
                if (try run.advance(place, &.{byte})) |sub| {
                    var after = place.*;
                    after.sub = sub;
                    return after;
                }
                if (!try run.canStop(place)) return null;
                const outside = run.behind(place);
                return if (outside.mode == finished) null else run.stepFree(&outside, byte);
            }

            /// After the part.
            fn behind(run: Run, place: *const Place) Place {
                const count = &run.tags.count;
                const part = &run.tags.parts[place.part];
                const is_last = count.stop_after_first or place.n_parts + 1 == count.most;
                const mode = if (is_last) part.behind.last else part.behind.state;
                if (mode == Behind.finished) return .{ .mode = finished };
                return .{ .mode = mode, .n_parts = @min(place.n_parts + 1, count.last()) };
            }

            /// Whether the part continues, and names tokens.
            fn namesTokens(run: Run, place: *const Place) bool {
                return place.mode == in_part and place.sub.state != none and run.tags.languageOf(place).namesTokens();
            }

            /// The position of a part that names tokens after one of them and, with a text, after what it spells. Null if
            /// the part does not continue so.
            fn take(run: Run, place: *const Place, token: u32, flags: Flags, text: ?[]const u8) Error!?Position {
                if (!run.namesTokens(place)) return null;
                return run.tags.languageOf(place).advanceToken(run.gpa, run.pool, place.sub, token, flags, text);
            }

            /// Takes bytes at once in which a part surely does not end: how many, and 0 if they cannot follow. Null:
            /// there are none.
            fn skip(run: Run, place: *Place, text: []const u8) Error!?usize {
                if (place.mode != in_part or place.sub.state == none or place.read != 0) return null;
                const end = run.tags.endOf(place);
                const n = if (end.firstByte()) |first| std.mem.findScalar(u8, text, first) orelse text.len else text.len;
                if (n == 0) return null;
                place.sub = try run.advance(place, text[0..n]) orelse return if (end.text.len == 0) null else 0;
                return n;
            }

            fn advance(run: Run, place: *const Place, text: []const u8) Error!?Position {
                return run.tags.languageOf(place).advance(run.gpa, run.pool, place.sub, text);
            }

            fn canStop(run: Run, place: *const Place) Error!bool {
                return run.tags.languageOf(place).canStop(run.gpa, run.pool, place.sub);
            }
        };

        // ---- Masks

        /// In a part with an end text: what continues with the part, but for tokens in which the end text can lie. Those
        /// are tried byte by byte.
        fn findInPart(t: *Self, context: *const MaskContext, run: Run, place: *const Place, scratch: *Scratch) Error!void {
            const builder = &scratch.builder;
            bitmap.clear(builder.words);
            const places = try scratch.places(Place, context.gpa);
            if (place.sub.state != none) {
                try t.addPart(context, run, place, builder.words);
                try t.tryAll(context, run, place, 0, places, builder.words);
            }
            var rest = place.read;
            while (rest != 0) : (rest &= rest - 1) try t.tryAll(context, run, place, @ctz(rest), places, builder.words);
            try t.tryNamed(context.tokens, run, place, builder.words);
            context.finishWords(false, scratch);
        }

        /// The named tokens, whatever was found for what they spell.
        fn tryNamed(t: *const Self, tokens: *const Tokens, run: Run, place: *const Place, words: bitmap.Words) Error!void {
            for (t.named.ids, t.named.symbols) |token, symbol| {
                const text = if (tokens.isText(token)) tokens.bytesOf(token) else null;
                const is_legal = try run.stepToken(place, token, symbol, tokens.flagsOf(token), text) != null;
                if (is_legal) bitmap.set(words, token) else bitmap.unset(words, token);
            }
        }

        /// The tokens with which the part continues. An end token is one of them only if the part names it.
        fn addPart(t: *Self, context: *const MaskContext, run: Run, place: *const Place, words: bitmap.Words) Error!void {
            const shared = &t.languages[t.parts[place.part].language];
            const scratch = try shared.scratches.take();
            defer shared.scratches.giveBack(scratch);
            _ = try shared.language.computeMask(context, run.pool, place.sub, scratch);
            const mask = &scratch.mask;
            if (mask.words) |own| bitmap.unite(words, &.{own}) else for (mask.ids) |id| bitmap.set(words, @intCast(id));
            if (mask.can_stop) for (context.trie.end_tokens) |id| {
                const token: u32 = @intCast(id);
                if (try run.take(place, token, context.tokens.flagsOf(token), null) == null) bitmap.unset(words, token);
            };
        }

        /// Those in which an end text, of which `n_read` bytes are read, can lie. What tokens begin with alike is tried once.
        fn tryAll(
            t: *Self,
            context: *const MaskContext,
            run: Run,
            place: *const Place,
            n_read: usize,
            places: []Place,
            words: bitmap.Words,
        ) Error!void {
            const tried = try t.crossing(context, place, n_read);
            places[0] = place.*;
            var before: []const u8 = "";
            var n_taken: usize = 0;
            for (tried) |token| {
                const text = context.tokens.bytesOf(token);
                const n_shared = std.mem.findDiff(u8, before, text) orelse text.len;
                // Where the one before it was refused, this one is too if it has the same byte there.
                if (n_shared <= n_taken) {
                    n_taken = n_shared;
                    while (n_taken < text.len) : (n_taken += 1) {
                        places[n_taken + 1] = try run.step(&places[n_taken], text[n_taken]) orelse break;
                    }
                }
                before = text;
                const is_legal = n_taken == text.len or try run.take(place, token, context.tokens.flagsOf(token), null) != null;
                if (is_legal) bitmap.set(words, token) else bitmap.unset(words, token);
            }
        }

        /// Takes out tokens of a part that has not begun where a longer begin text continues with them.
        fn dropLonger(t: *const Self, tokens: *const Tokens, run: Run, place: *const Place, words: bitmap.Words) Error!void {
            for (0..tokens.n) |i| {
                const token: u32 = @intCast(i);
                if (!bitmap.has(words, token) or !tokens.isText(token)) continue;
                const text = tokens.bytesOf(token);
                if (t.entered(place, text[0]).mode == in_part) continue;
                if (try run.stepToken(place, token, null, tokens.flagsOf(token), text) == null) bitmap.unset(words, token);
            }
        }

        fn crossing(t: *Self, context: *const MaskContext, place: *const Place, n_read: usize) Error![]const u32 {
            t.mutex.lock();
            defer t.mutex.unlock();
            return t.endOf(place).tokensFrom(t.gpa, context.tokens, n_read);
        }

        /// What mask/walk.zig walks with: in free text along its automaton, in parts byte by byte.
        const Walker = struct {
            context: *const MaskContext,
            run: Run,
            places: []Place,
            /// A state of free text with as many parts as at first, or `elsewhere`: then it is in `places`.
            states: []u32,
            n_parts: u32,
            /// The states below are followed without a look at anything else.
            plain: u32,
            depth: usize = 0,
            /// A walk cannot fail. Once a step has, every byte that needs one is refused, and the mask does not count.
            failure: ?Error = null,

            const elsewhere = in_part;

            fn init(context: *const MaskContext, run: Run, place: *const Place, scratch: *Scratch) Error!Walker {
                const t = run.tags;
                const w: Walker = .{
                    .context = context,
                    .run = run,
                    .places = try scratch.places(Place, run.gpa),
                    .states = scratch.states,
                    .n_parts = place.n_parts,
                    .plain = if (place.n_parts < t.count.least) 0 else t.free.first_behind_trigger,
                };
                w.places[0] = place.*;
                w.states[0] = if (place.mode == finished) elsewhere else place.mode;
                return w;
            }

            pub inline fn tryPushByte(w: *Walker, byte: u8) bool {
                const state = w.states[w.depth];
                if (state == elsewhere) return w.tryPushAny(byte);
                const free = &w.run.tags.free;
                const next = free.after(state, byte);
                if (next >= w.plain) {
                    // After a trigger nothing is asked but whether the begin texts continue.
                    if (next == FreeText.dead and state < free.first_pending) return false;
                    if (next >= free.n_states or state < free.first_behind_trigger) return w.tryPushAny(byte);
                }
                w.depth += 1;
                w.states[w.depth] = next;
                return true;
            }

            pub inline fn popBytes(w: *Walker, n: usize) void {
                w.depth -= n;
            }

            /// Called at the place where the walk began.
            pub fn addNamed(w: *Walker, tokens: *const Tokens, words: bitmap.Words) void {
                w.tryNamed(tokens, words) catch |e| {
                    w.failure = e;
                };
            }

            fn tryNamed(w: *Walker, tokens: *const Tokens, words: bitmap.Words) Error!void {
                const t = @constCast(w.run.tags);
                const place = &w.places[0];
                const inside = t.entered(place, null);
                if (w.run.namesTokens(&inside)) {
                    try t.addPart(w.context, w.run, &inside, words);
                    if (place.mode != in_part) try t.dropLonger(tokens, w.run, place, words);
                }
                try t.tryNamed(tokens, w.run, place, words);
            }

            noinline fn tryPushAny(w: *Walker, byte: u8) bool {
                if (w.failure != null) return false;
                const state = w.states[w.depth];
                const place: Place = if (state == elsewhere) w.places[w.depth] else .{ .mode = state, .n_parts = w.n_parts };
                const next = w.run.step(&place, byte) catch |e| {
                    w.failure = e;
                    return false;
                } orelse return false;
                w.depth += 1;
                const is_free = next.mode != in_part and next.mode != finished and next.n_parts == w.n_parts;
                w.states[w.depth] = if (is_free) next.mode else elsewhere;
                w.places[w.depth] = next;
                return true;
            }
        };
    };
}
