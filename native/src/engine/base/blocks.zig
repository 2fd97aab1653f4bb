//! Loops over whole bitmaps, for vectors of any width. A module of its own: it is compiled for the baseline
//! processor, and again for each processor that is chosen at run time.

pub const alignment = 64;

/// Adds the sources to `to`. All have the same length, a multiple of `lanes`. A block of `to` stays in
/// registers while the sources go by, so that it is read and written once.
pub inline fn unite(comptime lanes: usize, to: []align(alignment) u32, sources: []const []align(alignment) const u32) void {
    const Block = @Vector(lanes, u32);
    var i: usize = 0;
    while (i < to.len) : (i += lanes) {
        const place: *align(alignment) Block = @ptrCast(@alignCast(to.ptr + i));
        var block = place.*;
        for (sources) |source| block |= @as(*align(alignment) const Block, @ptrCast(@alignCast(source.ptr + i))).*;
        place.* = block;
    }
}

/// Number of ones. The length is a multiple of eight vectors. No vector instruction counts them on most processors: carry-save
/// adders make one vector of eight, and bits are counted within its words (Warren, Hacker's Delight, 5-1; Harley and Seal).
pub inline fn count(comptime lanes: usize, words: []align(alignment) const u32) u32 {
    const Counter = Counting(@Vector(lanes, u32));
    var total = Counter.splat(0);
    var ones = Counter.splat(0);
    var twos = Counter.splat(0);
    var fours = Counter.splat(0);
    var i: usize = 0;
    while (i < words.len) : (i += 8 * lanes) {
        const eight: *align(alignment) const [8]@Vector(lanes, u32) = @ptrCast(@alignCast(words.ptr + i));
        var of_two: [4]@Vector(lanes, u32) = undefined;
        for (&of_two, 0..) |*carry, j| carry.* = Counter.add(&ones, eight[2 * j], eight[2 * j + 1]);
        const first = Counter.add(&twos, of_two[0], of_two[1]);
        const second = Counter.add(&twos, of_two[2], of_two[3]);
        total += Counter.bitsOf(Counter.add(&fours, first, second));
    }
    total = total * Counter.splat(8) + Counter.bitsOf(fours) * Counter.splat(4) + Counter.bitsOf(twos) * Counter.splat(2) +
        Counter.bitsOf(ones);
    return @reduce(.Add, total);
}

fn Counting(comptime Vector: type) type {
    return struct {
        /// The carry of a sum of three bits at each place; the sum itself stays in the first.
        inline fn add(sum: *Vector, a: Vector, b: Vector) Vector {
            const differ = sum.* ^ a;
            const carry = (sum.* & a) | (differ & b);
            sum.* = differ ^ b;
            return carry;
        }

        inline fn bitsOf(words: Vector) Vector {
            var x = words;
            x -= x >> @splat(1) & splat(0x55555555);
            x = (x & splat(0x33333333)) + (x >> @splat(2) & splat(0x33333333));
            x = (x + (x >> @splat(4))) & splat(0x0f0f0f0f);
            x += x >> @splat(8);
            x += x >> @splat(16);
            return x & splat(0x3f);
        }

        inline fn splat(word: u32) Vector {
            return @splat(word);
        }
    };
}
