//! The JSON numbers that satisfy a conjunction of assertions, as a deterministic automaton over the bytes of their
//! text, without dead ends: a byte is taken if and only if a number of the set begins so.
//!
//! A constrained number has no exponent; its fraction may end with zeros, and -0 is 0. Where fractions are in the
//! set, an integer may be spelled 1.0, too. A number without constraint has any form that JSON allows.
//!
//! What a text can still become is a run of values for each number of digits that its integer part may get, cut off
//! by the bounds. Whether a run has a value is arithmetic, so the automaton is never searched, and states are made
//! when they are first met. A state knows how the digits compare with those of both bounds, which excluded values
//! begin so, and the remainder of what was read. Numbers can have more states than memory would hold (those of the
//! multiples of a large prime); past `states_max` there is an error.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("../base/arena.zig").Arena;
const Decimal = @import("decimal.zig").Decimal;
const Multiples = @import("multiples.zig").Multiples;
const Side = @import("number_side.zig").Side;
const free_number = @import("free_number.zig");
const short_number = @import("short_number.zig");
const Room = @import("short_text.zig").Room;
pub const Bound = @import("number_spec.zig").Bound;
pub const Spec = @import("number_spec.zig").Spec;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Mutex = @import("../platform/mutex.zig").Mutex;

pub const states_max = 1 << 18;

/// Past a limit: `states_max` here, `places_max` in decimal.zig, `period_max` and `nots_max` in multiples.zig.
pub const Error = Multiples.Error;

/// Equal states are equal numbers.
pub const State = u32;

/// Any thread may ask while another does: a step that is known is read without a lock.
pub const Numbers = struct {
    gpa: Allocator,
    arena: Arena,
    spec: Spec,
    free: bool,
    /// A fraction may be spelled.
    has_point: bool,
    positive: Side,
    negative: Side,
    mutex: Mutex = .{},
    n_states: u32 = 0,
    /// Blocks of rows, each twice as large as the one before, that never move.
    blocks: [n_blocks][*]Row = undefined,
    /// The last state with a key of this hash; `Row.same_hash` leads to the others.
    by_hash: NumberMap = .{},

    pub const start: State = 0;

    const n_blocks = std.math.log2_int(u32, states_max / first_block) + 1;
    const first_block = 8;

    pub fn init(gpa: Allocator, spec: Spec) Error!Numbers {
        var arena: Arena = .init(gpa);
        errdefer arena.deinit();
        const a = arena.allocator();
        const one = [_]Decimal{.one};
        const multiples = try std.mem.concat(a, Decimal, &.{ spec.multiples, if (spec.fractions) &.{} else &one });
        const not = try std.mem.concat(a, Decimal, &.{ spec.not_multiples, if (spec.integers) &.{} else &one });
        const remainders: Multiples = try .init(a, multiples, not);
        const positive: Side = try .init(a, spec, remainders, false);
        const negative: Side = try .init(a, spec, remainders, true);
        var n: Numbers = .{
            .gpa = gpa,
            .arena = arena,
            .spec = spec,
            .free = spec.isFree(),
            .has_point = spec.fractions or spec.integer_fraction,
            .positive = positive,
            .negative = negative,
        };
        errdefer n.by_hash.deinit(gpa);
        _ = try n.intern(.{ .phase = .start, .negative = false, .at = .{} });
        return n;
    }

    pub fn deinit(n: *Numbers) void {
        var left = n.n_states;
        for (0..n_blocks) |block| {
            if (left == 0) break;
            const len = @as(u32, first_block) << @intCast(block);
            n.gpa.free(n.blocks[block][0..len]);
            left -= @min(left, len);
        }
        n.by_hash.deinit(n.gpa);
        n.arena.deinit();
    }

    /// No text is in the set.
    pub fn isEmpty(n: *const Numbers) bool {
        if (n.free) return false;
        return n.step(n.row(start).key, '-') == null and !n.hasDigit(n.row(start).key);
    }

    /// The set is known to have infinitely many values, if it has any; or so many that no text has them all.
    pub fn isEndless(n: *const Numbers) bool {
        if (n.free or !n.spec.is_short) return n.spec.isEndless();
        const positive = short_number.ofSide(&n.positive, false, n.spec.fractions);
        return positive +| short_number.ofSide(&n.negative, true, n.spec.fractions) > std.math.maxInt(u32);
    }

    /// There is no constraint.
    pub fn isFree(n: *const Numbers) bool {
        return n.free;
    }

    /// Null if and only if no number of the set begins so.
    pub fn next(n: *Numbers, state: State, byte: u8) Error!?State {
        if (n.free) return free_number.next(state, byte, n.spec.is_short);
        const column: usize = switch (byte) {
            '0'...'9' => byte - '0',
            '.' => 10,
            '-' => 11,
            else => return null,
        };
        const from = n.row(state);
        const known = from.next[column].load(.acquire);
        if (known != Row.unknown) return if (known == Row.none) null else known;

        const to: ?State = if (n.step(from.key, byte)) |key| to: {
            n.mutex.lock();
            defer n.mutex.unlock();
            break :to try n.intern(key);
        } else null;
        from.next[column].store(to orelse Row.none, .release);
        return to;
    }

    /// The text so far is a number of the set.
    pub fn canEnd(n: *const Numbers, state: State) bool {
        if (n.free) return free_number.canEnd(state);
        return n.row(state).can_end;
    }

    const Phase = enum {
        start,
        /// After the sign.
        sign,
        /// After a first 0.
        zero,
        integer,
        /// After the point.
        point,
        fraction,
    };

    /// What the rest of a text depends on.
    const Key = struct {
        phase: Phase,
        negative: bool,
        at: Side.Position,
        /// Of a short number.
        room: Room = .{},

        fn hash(key: Key) u64 {
            const at = &key.at;
            const orders = [_]u2{ @bitCast(@backingInt(at.least)), @bitCast(@backingInt(at.most)) };
            const words = [_]u64{
                @backingInt(key.phase),
                @intFromBool(key.negative),
                orders[0],
                orders[1],
                @intFromBool(at.loose),
                at.place,
                at.remainder,
                at.from,
                at.to,
                key.room.bytes,
                key.room.digits,
                @intFromBool(key.room.is_begun),
            };
            return std.hash.Wyhash.hash(0, std.mem.asBytes(&words)) >> 1; // a NumberMap has no place for all ones
        }
    };

    const Row = struct {
        key: Key,
        can_end: bool,
        same_hash: ?State,
        /// By digit, point, sign: the state after it, `none`, or `unknown`.
        next: [12]std.atomic.Value(u32) = @splat(.init(unknown)),

        const unknown = std.math.maxInt(u32);
        const none = unknown - 1;
    };

    fn row(n: *const Numbers, state: State) *Row {
        const block = std.math.log2_int(u32, state / first_block + 1);
        return &n.blocks[block][state - first_block * ((@as(u32, 1) << block) - 1)];
    }

    fn side(n: *const Numbers, key: Key) *const Side {
        return if (key.negative) &n.negative else &n.positive;
    }

    /// With `mutex` held.
    fn intern(n: *Numbers, key: Key) Error!State {
        const hash = key.hash();
        const same = n.by_hash.get(hash);
        var at = same;
        while (at) |state| : (at = n.row(state).same_hash) {
            if (std.meta.eql(n.row(state).key, key)) return state;
        }
        const state = n.n_states;
        if (state == states_max) return error.TooLarge;
        const block = std.math.log2_int(u32, state / first_block + 1);
        const len = @as(u32, first_block) << block;
        const is_new = state == len - first_block;
        if (is_new) n.blocks[block] = (try n.gpa.alloc(Row, len)).ptr;
        errdefer if (is_new) n.gpa.free(n.blocks[block][0..len]);
        try n.by_hash.put(n.gpa, hash, state);
        n.n_states += 1;
        n.row(state).* = .{ .key = key, .can_end = n.isNumber(key), .same_hash = same };
        return state;
    }

    fn isNumber(n: *const Numbers, key: Key) bool {
        return switch (key.phase) {
            .start, .sign, .point => false,
            .zero, .integer => n.side(key).hasInteger(key.at),
            .fraction => n.side(key).hasFraction(key.at),
        };
    }

    /// Null if no number of the set begins so.
    fn step(n: *const Numbers, key: Key, byte: u8) ?Key {
        if (!n.spec.is_short) return n.longStep(key, byte, key.room);
        const room = key.room.after(byte, n.spec.fractions) orelse return null;
        const after = n.longStep(key, byte, room) orelse return null;
        return if (n.hasShort(after)) after else null;
    }

    fn hasShort(n: *const Numbers, key: Key) bool {
        if (!n.spec.fractions) return key.phase != .point or key.room.bytes > 0;
        const s = n.side(key);
        var room = key.room;
        const values = switch (key.phase) {
            .start, .sign => return true, // a digit was looked for
            .zero => values: {
                room.bytes -|= 1; // of the point
                break :values short_number.ofFraction(s, key.at, room);
            },
            .integer => short_number.ofInteger(s, key.at, room),
            .point => if (room.bytes == 0) 0 else short_number.ofFraction(s, key.at, room),
            .fraction => short_number.ofFraction(s, key.at, room),
        };
        return values > key.at.to - key.at.from;
    }

    /// `room`: what is left after the byte.
    fn longStep(n: *const Numbers, key: Key, byte: u8, room: Room) ?Key {
        const s = n.side(key);
        switch (byte) {
            '-' => {
                const after: Key = .{ .phase = .sign, .negative = true, .at = n.negative.begin(), .room = room };
                return if (key.phase == .start and n.hasDigit(after)) after else null;
            },
            '.' => {
                if (!n.has_point or (key.phase != .zero and key.phase != .integer)) return null;
                const at = s.afterPoint(key.at) orelse return null;
                return .{ .phase = .point, .negative = key.negative, .at = at, .room = room };
            },
            else => {
                const digit = byte - '0';
                const phase: Phase = switch (key.phase) {
                    .zero => return null,
                    .start, .sign => if (digit == 0) .zero else .integer,
                    .integer => .integer,
                    .point, .fraction => .fraction,
                };
                const before = if (key.phase == .start) s.begin() else key.at;
                const at = switch (phase) {
                    .zero => s.afterZero(before),
                    .integer => s.afterInteger(before, digit),
                    else => s.afterFraction(before, digit),
                };
                return .{ .phase = phase, .negative = key.negative, .at = at orelse return null, .room = room };
            },
        }
    }

    fn hasDigit(n: *const Numbers, key: Key) bool {
        for ("0123456789") |digit| if (n.step(key, digit) != null) return true;
        return false;
    }
};
