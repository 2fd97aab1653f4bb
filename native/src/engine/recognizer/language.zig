//! The languages of recognizers, one type each. All have the operations below; whoever calls one does not ask
//! which language it is.
//!
//! A position means something only to the language that gave it. `pool` holds the stacks of one text: an
//! operation may add nodes, and drops those that no position it returns leads to, unless it says otherwise.
//! Threads share a language; a pool and a scratch belong to one thread.

const std = @import("std");
const built = @import("built");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const span = @import("../contract/span.zig");
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const Account = @import("../mask/cache.zig").Account;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const Choices = @import("../language/choices.zig").Choices;
const Regex = @import("../language/regex.zig").Regex;
const Grammar = @import("../lr/grammar.zig").Grammar;
const Ambiguous = @import("../glr/ambiguous.zig").Ambiguous;
const Counts = @import("../glr/key.zig").Counts;
const graph = @import("../glr/graph.zig");
const MaskContext = @import("../mask/context.zig").MaskContext;
const JsonSchema = @import("../schema/json_schema.zig").JsonSchema;
const Scratch = @import("../mask/scratch.zig").Scratch;
const Tags = @import("../tags/tags.zig").Tags;
const TokenTree = @import("token_tree.zig").TokenTree;

/// Which of them this build has. What it lacks takes no room in it.
pub const has_grammars = built.languages == .all;
pub const has_schemas = built.languages != .regexes;

/// A compiled language. Immutable but for the tables that `computeMask` adds.
pub const Language = union(enum) {
    choices: Choices,
    regex: Regex,
    grammar: if (has_grammars) Grammar else noreturn,
    ambiguous: if (has_grammars) Ambiguous else noreturn,
    json_schema: if (has_schemas) JsonSchema else noreturn,
    tags: Tags(Language),
    token_tree: TokenTree,

    /// Frees what it owns; its arrays unless they are mapped.
    pub fn deinit(language: *Language, gpa: Allocator, arrays: Arrays) void {
        switch (language.*) {
            inline else => |*one| one.deinit(gpa, arrays),
        }
    }

    /// The kind of constraint that a recognizer of this language is.
    pub fn kind(language: *const Language) Kind {
        return switch (language.*) {
            inline else => |*one| @TypeOf(one.*).kind,
        };
    }

    /// What masks depend on, besides the state of a position.
    pub fn stackForm(language: *const Language) StackForm {
        return switch (language.*) {
            .tags => |*tags| tags.stackForm(),
            inline else => |*one| @TypeOf(one.*).stack_form,
        };
    }

    /// A position, and the form of its stack. `state` is that of the outer position, as far as masks depend on it.
    pub const Inner = struct { form: StackForm, at: Position, state: u32, counts: Counts = .{} };

    /// The position that a stack belongs to: in a language that holds others, that in one of them.
    pub fn inner(language: *const Language, at: Position) Inner {
        return switch (language.*) {
            .tags => |*tags| tags.inner(at),
            inline else => |*one| .{ .form = @TypeOf(one.*).stack_form, .at = at, .state = at.state },
        };
    }

    /// Fills in the sizes that the language has.
    pub fn describe(language: *const Language, info: *Info) void {
        switch (language.*) {
            inline else => |*one| one.describe(info),
        }
    }

    /// Memory of what texts have left in it, if it keeps such things: it grows with each new text.
    pub fn grown(language: *Language) usize {
        return switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "grown")) one.grown() else 0,
        };
    }

    /// Drops that. No position of it is in use or known, but for the initial one, which is asked for again.
    pub fn forget(language: *Language, gpa: Allocator) void {
        switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "forget")) one.forget(gpa),
        }
    }

    /// The state of the empty text. Some text continues it.
    pub fn initial(language: *const Language) u32 {
        return switch (language.*) {
            inline else => |*one| one.initial(),
        };
    }

    /// The position after some bytes; null exactly if no text of the language continues like that. O(bytes)
    /// and, for stacks, the reductions on the way. What it adds to the pool may stay there.
    pub fn advance(language: *const Language, gpa: Allocator, pool: *Pool, from: Position, text: []const u8) span.Error!?Position {
        return switch (language.*) {
            inline else => |*one| one.advance(gpa, pool, from, text),
        };
    }

    /// The position after a token; null exactly if no text of the language continues like that. `text`: what it
    /// spells, if a text can have it. As `advance`, unless the language names tokens.
    pub inline fn advanceToken(
        language: *const Language,
        gpa: Allocator,
        pool: *Pool,
        from: Position,
        token: u32,
        flags: Flags,
        text: ?[]const u8,
    ) span.Error!?Position {
        return switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "advanceToken"))
                one.advanceToken(gpa, pool, from, token, flags, text)
            else if (text) |bytes| one.advance(gpa, pool, from, bytes) else null,
        };
    }

    /// Whether some token may come for its own sake, whatever it spells.
    pub fn namesTokens(language: *const Language) bool {
        return switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "namesTokens")) one.namesTokens() else false,
        };
    }

    /// The position after a token whose bytes `advance` has read one after another: as `advanceToken` gives it.
    pub fn endToken(language: *const Language, gpa: Allocator, pool: *Pool, at: Position) span.Error!Position {
        return switch (language.*) {
            .ambiguous => |*ambiguous| ambiguous.endToken(gpa, pool, at),
            else => at,
        };
    }

    /// Whether such a token may come next, or what follows depends on where tokens end.
    pub fn takesTokens(language: *const Language, gpa: Allocator, pool: *Pool, at: Position) span.Error!bool {
        return switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "takesTokens")) one.takesTokens(gpa, pool, at) else false,
        };
    }

    /// The bytes that `advance` takes, where that is cheaper than to try them; else null.
    pub fn nextBytes(language: *const Language, gpa: Allocator, pool: *Pool, at: Position) span.Error!?std.StaticBitSet(256) {
        return switch (language.*) {
            inline .ambiguous, .json_schema => |*one| try one.nextBytes(gpa, pool, at),
            else => null,
        };
    }

    /// Whether the text that led here is in the language.
    pub fn canStop(language: *const Language, gpa: Allocator, pool: *Pool, at: Position) span.Error!bool {
        return switch (language.*) {
            inline else => |*one| one.canStop(gpa, pool, at),
        };
    }

    /// Computes `scratch.mask`: exactly the tokens that `advance` takes and, where `canStop` is true, the
    /// vocabulary's end tokens. Returns the least depth of the stack at which a state was looked at (of a graph, the
    /// most levels below the top): positions with the same state, whose stacks agree from the top down to there, have
    /// the same mask. The expensive
    /// operation: its caller caches the mask.
    pub fn computeMask(language: *Language, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) span.Error!u32 {
        return switch (language.*) {
            inline else => |*one| one.computeMask(context, pool, at, scratch),
        };
    }

    /// Of a graph of stacks.
    pub fn graphCounts(language: *const Language) Counts {
        return switch (language.*) {
            .ambiguous => |*ambiguous| .{ .limits = &ambiguous.limits, .texts = ambiguous.texts },
            else => .{},
        };
    }

    /// A state of a position with what masks depend on alone.
    pub fn canonical(language: *const Language, state: u32) u32 {
        return switch (language.*) {
            inline .ambiguous, .regex => |*one| if (graph.isText(state)) one.texts.canonical(state) else state,
            else => state,
        };
    }

    /// Bounds what is kept of texts, where it grows with them without end: beyond it, what is new is `TooLarge`.
    pub fn limitKept(language: *Language, bytes_max: usize) void {
        switch (language.*) {
            inline .json_schema, .ambiguous, .tags => |*one| one.limitKept(bytes_max),
            .choices, .regex, .grammar, .token_tree => {},
        }
    }

    /// Builds now what `computeMask` would build at first use, as far as there is room.
    pub fn prepare(language: *Language, context: *const MaskContext, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return switch (language.*) {
            inline else => |*one| one.prepare(context, budget, diag),
        };
    }

    /// Writes all that `open` needs. `writer` is that of shell/files: `put`, and an `arena`.
    pub fn save(language: *const Language, writer: anytype) Allocator.Error!void {
        return switch (language.*) {
            inline else => |*one| one.save(writer),
        };
    }

    /// Reads what `save` wrote; the arrays stay the reader's. A language without `open` has saved its source, which
    /// the shell compiles. `Damaged`: `save` cannot have written this. What it gives may still be unsound.
    pub fn open(gpa: Allocator, wanted: std.meta.Tag(Language), reader: anytype) error{ OutOfMemory, Damaged }!Language {
        switch (wanted) {
            inline else => |which| {
                const One = @FieldType(Language, @tagName(which));
                if (comptime !@hasDecl(One, "open")) return error.Damaged;
                return @unionInit(Language, @tagName(which), try One.open(gpa, reader));
            },
        }
    }

    /// Whether no operation reads or writes outside of memory that is its own, or never ends, whatever wrote the arrays.
    /// Says nothing on whether some compiler can have made them. O(arrays).
    pub fn isSound(language: *const Language, gpa: Allocator, tokens: *const Tokens, trie: *const ByteTrie) Allocator.Error!bool {
        var account: Account = .{ .bytes_max = 0 };
        const context: MaskContext = .{ .gpa = gpa, .tokens = tokens, .trie = trie, .account = &account };
        return switch (language.*) {
            inline else => |*one| if (comptime @hasDecl(@TypeOf(one.*), "open")) one.isSound(&context) else true,
        };
    }
};
