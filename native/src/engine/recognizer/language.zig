//! The languages that a recognizer can have, one type each. All of them have the operations below, and what
//! asks for one of these does not ask which language it is.
//!
//! A position means something only to the language that gave it. `pool` holds the stacks of one output: an
//! operation may add nodes, and drops those that it added when it gives no position that leads to them,
//! unless it says otherwise. A language is shared by threads; a pool and a scratch are one thread's.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const Arrays = @import("../language/arrays.zig").Arrays;
const Choices = @import("../language/choices.zig").Choices;
const Regex = @import("../language/regex.zig").Regex;
const Grammar = @import("../lr/grammar.zig").Grammar;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;

pub const Language = union(enum) {
    choices: Choices,
    regex: Regex,
    grammar: Grammar,

    /// Frees what it owns.
    pub fn deinit(language: *Language, gpa: Allocator, arrays: Arrays) void {
        switch (language.*) {
            inline else => |*one| one.deinit(gpa, arrays),
        }
    }

    pub fn kind(language: *const Language) Kind {
        return switch (language.*) {
            inline else => |*one| @TypeOf(one.*).kind,
        };
    }

    /// Whether the stack of a position decides about masks, beside its state.
    pub fn usesStack(language: *const Language) bool {
        return switch (language.*) {
            inline else => |*one| @TypeOf(one.*).uses_stack,
        };
    }

    /// Fills in what the language has.
    pub fn describe(language: *const Language, info: *Info) void {
        switch (language.*) {
            inline else => |*one| one.describe(info),
        }
    }

    /// The state before the first byte. Some text follows it.
    pub fn initial(language: *const Language) u32 {
        return switch (language.*) {
            inline else => |*one| one.initial(),
        };
    }

    /// The position after some bytes; null exactly if no text of the language goes on with them. O(bytes)
    /// and, for stacks, the reductions on the way. What is added to the pool may stay there.
    pub fn advance(language: *const Language, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) Allocator.Error!?Position {
        return switch (language.*) {
            inline else => |*one| one.advance(gpa, pool, from, text),
        };
    }

    /// Whether the text that led here is one of the language.
    pub fn canStop(language: *const Language, gpa: Allocator, pool: *Pool, at: Position) Allocator.Error!bool {
        return switch (language.*) {
            inline else => |*one| one.canStop(gpa, pool, at),
        };
    }

    /// Builds the mask as `scratch.mask`: exactly the tokens that `advance` takes, and where `canStop` is
    /// true the vocabulary's end tokens. Returns the least depth of the stack of which a state was looked
    /// at: two positions with one state, whose stacks agree from the top down to there, have one mask.
    /// This is the expensive operation: its caller remembers what it finds.
    pub fn computeMask(language: *Language, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) Allocator.Error!u32 {
        return switch (language.*) {
            inline else => |*one| one.computeMask(context, pool, at, scratch),
        };
    }

    /// Builds what `computeMask` would build at first use, as far as there is room.
    pub fn prepare(language: *Language, context: *const MaskContext, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return switch (language.*) {
            inline else => |*one| one.prepare(context, budget, diag),
        };
    }

    /// Puts everything that `open` needs. The writer is that of the files: `put`, and an `arena`.
    pub fn save(language: *const Language, writer: anytype) Allocator.Error!void {
        return switch (language.*) {
            inline else => |*one| one.save(writer),
        };
    }

    /// What `save` put; its arrays are the reader's. Damaged where what was read cannot have been put.
    pub fn open(gpa: Allocator, wanted: Kind, reader: anytype) error{ OutOfMemory, Damaged }!Language {
        inline for (comptime std.meta.fieldNames(Language)) |name| {
            const One = @FieldType(Language, name);
            if (One.kind == wanted) return @unionInit(Language, name, try One.open(gpa, reader));
        }
        return error.Damaged;
    }
};
