//! Bit sets as rows of 64-bit words. Mostly sets of terminals: all rows of one array have the same number of words.

/// Words of a set of the numbers below `n_members`.
pub fn wordsFor(n_members: usize) u32 {
    return @intCast((n_members + 63) / 64);
}

/// `member` must be below the number of the row's bits, here as in `add` and `remove`.
pub fn has(set: []const u64, member: usize) bool {
    return set[member / 64] >> @intCast(member % 64) & 1 != 0;
}

/// May be there already.
pub fn add(set: []u64, member: usize) void {
    set[member / 64] |= @as(u64, 1) << @intCast(member % 64);
}

/// Need not be there.
pub fn remove(set: []u64, member: usize) void {
    set[member / 64] &= ~(@as(u64, 1) << @intCast(member % 64));
}

/// Adds `from` to `to`; returns whether `to` grew, so that loops know when they have reached a fixed point.
pub noinline fn unite(to: []u64, from: []const u64) bool {
    var grown: u64 = 0;
    for (to, from) |*word, more| {
        grown |= more & ~word.*;
        word.* |= more;
    }
    return grown != 0;
}

/// Keeps of `to` what is in `with`; returns whether `to` shrank.
pub noinline fn intersect(to: []u64, with: []const u64) bool {
    var lost: u64 = 0;
    for (to, with) |*word, keep| {
        lost |= word.* & ~keep;
        word.* &= keep;
    }
    return lost != 0;
}

/// Whether two rows of one length have a member in common.
pub noinline fn intersects(a: []const u64, b: []const u64) bool {
    var common: u64 = 0;
    for (a, b) |x, y| common |= x & y;
    return common != 0;
}

/// Set `index` of an array of sets, as a slice of that array.
pub fn row(sets: anytype, index: usize, words: usize) @TypeOf(sets) {
    return sets[index * words ..][0..words];
}

/// The members in ascending order.
pub fn iterate(set: []const u64) Iterator {
    return .{ .set = set };
}

/// Of `iterate`. Sees changes to the set from the next word on.
pub const Iterator = struct {
    set: []const u64,
    at: usize = 0,
    rest: ?u64 = null,

    /// null: there are no more.
    pub fn next(i: *Iterator) ?u32 {
        while (i.at < i.set.len) {
            const rest = i.rest orelse i.set[i.at];
            if (rest != 0) {
                i.rest = rest & (rest - 1);
                return @intCast(i.at * 64 + @ctz(rest));
            }
            i.at += 1;
            i.rest = null;
        }
        return null;
    }
};
