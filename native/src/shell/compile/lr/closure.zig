//! The rules that items are about to begin, and with which lookaheads. Scratch memory that serves
//! one state after the other.

const Flat = @import("flat.zig").Flat;
const First = @import("first.zig").First;
const sets = @import("sets.zig");
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

pub const Closure = struct {
    flat: *const Flat,
    /// Given where lookaheads are wanted.
    first: ?*const First,
    /// The rules, in the order in which they were found.
    rules: []u32,
    n: usize = 0,
    /// [rule]: the last state that began it, counted from 1.
    stamps: []u32,
    stamp: u32 = 0,
    /// [rule * words]: what can follow the rule in this state.
    lookaheads: []u64,

    pub fn init(w: *const Work, f: *const Flat, first: ?*const First) Error!Closure {
        return .{
            .flat = f,
            .first = first,
            .rules = try w.alloc(u32, f.n_rules),
            .stamps = try w.filled(u32, f.n_rules, 0),
            .lookaheads = try w.alloc(u64, if (first == null) 0 else @as(usize, f.n_rules) * f.words),
        };
    }

    pub fn found(c: *const Closure) []const u32 {
        return c.rules[0..c.n];
    }

    /// `kernel_sets` [kernel item * words]: what can follow each item; empty without lookaheads.
    pub fn close(c: *Closure, w: *const Work, kernel: []const u32, kernel_sets: []const u64) Error!void {
        c.n = 0;
        c.stamp += 1;
        for (kernel) |item| c.begin(c.flat.after[item]);
        var i: usize = 0;
        while (i < c.n) : (i += 1) {
            if (i % 256 == 255) try w.check();
            for (c.flat.productionsOf(c.rules[i])) |p| c.begin(c.flat.after[c.flat.first_items[p]]);
        }
        if (c.first) |first| try c.follow(w, first, kernel, kernel_sets);
    }

    fn begin(c: *Closure, symbol: u32) void {
        if (!c.flat.isRule(symbol)) return;
        const rule = c.flat.ruleOf(symbol);
        if (c.stamps[rule] == c.stamp) return;
        c.stamps[rule] = c.stamp;
        c.rules[c.n] = rule;
        c.n += 1;
    }

    fn follow(c: *Closure, w: *const Work, first: *const First, kernel: []const u32, kernel_sets: []const u64) Error!void {
        const f = c.flat;
        for (c.found()) |rule| @memset(sets.row(c.lookaheads, rule, f.words), 0);
        for (kernel, 0..) |item, i| _ = c.pass(first, item, sets.row(kernel_sets, i, f.words));
        var growing = true;
        while (growing) {
            growing = false;
            try w.check();
            for (c.found()) |rule| {
                const behind = sets.row(c.lookaheads, rule, f.words);
                for (f.productionsOf(rule)) |p| {
                    if (c.pass(first, f.first_items[p], behind)) growing = true;
                }
            }
        }
    }

    /// What the item, followed by `behind`, says of the rule after its dot. Whether that was new.
    fn pass(c: *Closure, first: *const First, item: u32, behind: []const u64) bool {
        const f = c.flat;
        if (!f.isRule(f.after[item])) return false;
        const set = sets.row(c.lookaheads, f.ruleOf(f.after[item]), f.words);
        var grown = sets.unite(set, sets.row(first.rest, item + 1, f.words));
        if (f.rest_nullable[item + 1] and sets.unite(set, behind)) grown = true;
        return grown;
    }
};
