//! A JSON Schema as a language: the machine, used by one thread at a time. A position's state is the number
//! of a configuration, and its stack holds the frames.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Mutex = @import("../platform/mutex.zig").Mutex;
const position = @import("../language/position.zig");
const StackForm = position.StackForm;
const Position = position.Position;
const Pool = position.Pool;
const LimitedAllocator = @import("../base/limited_allocator.zig").LimitedAllocator;
const Watch = @import("../base/watch.zig").Watch;
const Arrays = @import("../language/arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const Schema = @import("schema.zig").Schema;
const NodeId = @import("schema.zig").NodeId;
const work_max = @import("alternatives.zig").work_max;
const machine_module = @import("machine.zig");
const Machine = machine_module.Machine;
const Words = machine_module.Words;
const Point = machine_module.Point;
const StringIndex = @import("../vocabulary/string_index.zig").StringIndex;
const bitmap = @import("../base/bitmap.zig");
const list_max = @import("../mask/mask.zig").list_max;
const MaskFinder = @import("mask_finder.zig").MaskFinder;
const addDuplicates = @import("../mask/walk.zig").addDuplicates;

/// More tokens are put in order by a bitmap.
const few_max = 48;

/// Its operations are those of a language: recognizer/language.zig says what each promises.
pub const JsonSchema = struct {
    schema: *Schema,
    machine: *Machine,
    /// Of what the machine keeps of all texts.
    kept: *LimitedAllocator,
    /// The vocabulary's.
    index: *StringIndex,
    /// Made with the first mask.
    finder: ?*MaskFinder = null,
    /// Where the present mask is looked for.
    start: Words = .empty,
    mutex: Mutex = .{},

    pub const kind: Kind = .json_schema;
    pub const stack_form: StackForm = .one;

    /// Takes the schema over, unless it fails.
    pub fn init(gpa: Allocator, schema: *Schema, index: *StringIndex) machine_module.Error!JsonSchema {
        const kept = try gpa.create(LimitedAllocator);
        errdefer gpa.destroy(kept);
        kept.* = .{ .parent = gpa };
        const machine = try gpa.create(Machine);
        errdefer gpa.destroy(machine);
        try machine.init(gpa, kept.allocator(), schema, &index.automata);
        return .{ .schema = schema, .machine = machine, .kept = kept, .index = index };
    }

    /// Whether some document is valid.
    pub fn isSatisfiable(s: *JsonSchema, watch: *Watch, bytes_max: usize) machine_module.Error!bool {
        s.limitKept(bytes_max);
        s.machine.alternatives.watch = watch;
        defer s.machine.alternatives.watch = null;
        return s.machine.isSatisfiable() catch |e| s.kept.reason(e);
    }

    /// Whether some value satisfies a node of the schema.
    pub fn isNodeSatisfiable(s: *JsonSchema, node: NodeId, watch: *Watch) machine_module.Error!bool {
        s.machine.alternatives.watch = watch;
        defer s.machine.alternatives.watch = null;
        return s.machine.isNodeSatisfiable(node);
    }

    /// Beyond it, texts that lead to anything new are `TooLarge`.
    pub fn limitKept(s: *JsonSchema, bytes_max: usize) void {
        s.kept.bytes_max = s.kept.bytes +| bytes_max;
    }

    pub fn deinit(s: *JsonSchema, gpa: Allocator, _: Arrays) void {
        s.deinitKept(gpa);
        s.start.deinit(gpa);
        s.schema.deinit(gpa);
        s.* = undefined;
    }

    fn deinitKept(s: *JsonSchema, gpa: Allocator) void {
        if (s.finder) |finder| {
            finder.deinit();
            gpa.destroy(finder);
        }
        s.machine.deinit();
        gpa.destroy(s.machine);
        gpa.destroy(s.kept);
    }

    /// Memory of what texts have left: each configuration that one met, and what was found out for it.
    pub fn grown(s: *JsonSchema) usize {
        s.mutex.lock();
        defer s.mutex.unlock();
        return s.kept.bytes;
    }

    /// Drops it, unless memory is short.
    pub fn forget(s: *JsonSchema, gpa: Allocator) void {
        s.mutex.lock();
        defer s.mutex.unlock();
        var fresh: JsonSchema = init(gpa, s.schema, s.index) catch return;
        // As when it was compiled: later searches need not look for it.
        const is_ready = fresh.machine.isSatisfiable() catch false;
        if (is_ready) {
            fresh.kept.bytes_max = s.kept.bytes_max;
            std.mem.swap(*Machine, &s.machine, &fresh.machine);
            std.mem.swap(*LimitedAllocator, &s.kept, &fresh.kept);
            std.mem.swap(?*MaskFinder, &s.finder, &fresh.finder);
        }
        fresh.deinitKept(gpa);
    }

    pub fn save(s: *const JsonSchema, writer: anytype) Allocator.Error!void {
        return writer.put(&s.schema.source);
    }

    pub fn describe(s: *const JsonSchema, info: *Info) void {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        info.n_states = s.machine.runs.count();
        info.automaton_bytes = s.schema.arena.bytes() + s.kept.bytes;
    }

    pub fn initial(s: *const JsonSchema) u32 {
        return s.machine.initial;
    }

    /// Not inline, here and below: beside it the short loops of other languages would be laid out worse.
    pub noinline fn advance(
        s: *const JsonSchema,
        _: Allocator,
        pool: *Pool,
        from: Position,
        text: []const u8,
    ) machine_module.Error!?Position {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        return s.machineAfter(pool, from, text) catch |e| s.kept.reason(e);
    }

    fn machineAfter(s: *const JsonSchema, pool: *Pool, from: Position, text: []const u8) machine_module.Error!?Position {
        const m = s.machine;
        m.alternatives.work_left = work_max;
        m.alternatives.watch = &pool.watch;
        defer m.alternatives.watch = null;
        const at: Point = .{ .words = m.runs.get(from.state), .stack = from.stack };
        const stack = try m.follow(pool, at, text) orelse return null;
        try m.detach(m.reached.items);
        return .{ .state = try m.runs.put(m.kept, m.reached.items), .stack = stack };
    }

    pub noinline fn canStop(s: *const JsonSchema, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        return s.machine.canStop(.{ .words = s.machine.runs.get(at.state), .stack = at.stack });
    }

    /// Null within text that is open.
    pub noinline fn nextBytes(s: *const JsonSchema, gpa: Allocator, pool: *Pool, at: Position) machine_module.Error!?machine_module.Bytes {
        var bytes = try s.firstBytes(pool, at);
        if (bytes.count() == 256) return null;
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        var left = bytes;
        while (left.toggleFirstSet()) |byte| {
            if (try s.advance(gpa, pool, at, &.{@intCast(byte)}) == null) bytes.unset(byte);
        }
        return bytes;
    }

    fn firstBytes(s: *const JsonSchema, pool: *Pool, at: Position) machine_module.Error!machine_module.Bytes {
        const mutex = &@constCast(s).mutex;
        mutex.lock();
        defer mutex.unlock();
        const m = s.machine;
        m.alternatives.work_left = work_max;
        m.alternatives.watch = &pool.watch;
        defer m.alternatives.watch = null;
        return m.firstBytes(m.runs.get(at.state)) catch |e| s.kept.reason(e);
    }

    pub noinline fn computeMask(
        s: *JsonSchema,
        context: *const MaskContext,
        pool: *Pool,
        at: Position,
        scratch: *Scratch,
    ) machine_module.Error!u32 {
        s.mutex.lock();
        defer s.mutex.unlock();
        const m = s.machine;
        m.alternatives.work_left = work_max;
        m.alternatives.watch = &pool.watch;
        defer m.alternatives.watch = null;
        const n_nodes = pool.nodes.items.len;
        defer pool.nodes.shrinkRetainingCapacity(n_nodes);
        m.least_depth = pool.depthOf(at.stack);
        s.start.clearRetainingCapacity();
        try s.start.appendSlice(context.gpa, m.runs.get(at.state));
        const point: Point = .{ .words = s.start.items, .stack = at.stack };
        const finder = try s.finderFor(context);
        finder.find(pool, point, scratch) catch |e| return s.kept.reason(e);
        return m.least_depth;
    }

    fn finderFor(s: *JsonSchema, context: *const MaskContext) Allocator.Error!*MaskFinder {
        if (s.finder) |finder| return finder;
        const finder = try context.gpa.create(MaskFinder);
        finder.* = .init(.{ .gpa = context.gpa, .index = s.index, .tokens = context.tokens, .trie = context.trie }, s.machine);
        s.finder = finder;
        return finder;
    }

    pub fn prepare(_: *JsonSchema, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}
};
