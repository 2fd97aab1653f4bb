//! The documents that a schema consists of, and what its references lead to. A document is a tree of
//! resources, each with a URI of its own (`$id`); within a resource a place has a JSON Pointer or an anchor.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const message = @import("message");
const json = @import("json.zig");
const Value = json.Value;
const Object = json.Object;
const uri_module = @import("uri.zig");
const keywords = @import("keywords.zig");
const Draft = keywords.Draft;
const Keyword = keywords.Keyword;
const Vocabularies = keywords.Vocabularies;
const Documents = @import("documents.zig").Documents;
const metaschemas = @import("metaschemas.zig");

pub const Error = Allocator.Error || diagnostic.Error;

pub const ResourceId = u32;

pub const Resource = struct {
    /// Absolute, if the document has such a URI at all; no fragment.
    uri: []const u8,
    root: *const Value,
    draft: Draft,
    /// Whose keywords are read.
    vocabularies: Vocabularies,
    /// What `$dynamicRef` may find here. `$recursiveAnchor` is one without a name.
    dynamic: ArrayList(Dynamic) = .empty,

    /// Whether a keyword is read.
    pub fn has(resource: *const Resource, keyword: Keyword) bool {
        return keyword.isOf(resource.draft) and resource.vocabularies.has(keyword);
    }
};

pub const Dynamic = struct { name: []const u8, target: Target };

pub const Target = struct { schema: *const Value, resource: ResourceId };

/// The dynamic anchors that came first on the way to a place: a number for each set; 0 is none.
pub const Scope = u32;

const Document = struct { uri: []const u8, text: []const u8, root: *const Value, is_scanned: bool = false };

/// Documents of the caller.
pub const documents_max = 1024;
/// Warnings; the place of each is looked for.
pub const warnings_max = 100;

pub const References = struct {
    gpa: Allocator,
    arena: Allocator,
    default_draft: Draft,
    caller: Documents,
    budget: *Budget,
    diag: *Diagnostic,
    warnings: *ArrayList([]const u8),
    n_objects: u32 = 0,
    documents: ArrayList(Document) = .empty,
    /// Of the caller: of each in turn its URI and its text.
    given: ArrayList([]const u8) = .empty,
    has_metaschemas: bool = false,
    n_dialects: u32 = 0,
    resources: ArrayList(Resource) = .empty,
    /// By the serial number of their root.
    of_root: NumberMap = .{},
    /// URIs of resources, and URIs with anchors, and by number what is there.
    uris: Texts = .{},
    found: ArrayList(Found) = .empty,
    scopes: ArrayList([]const Dynamic) = .empty,
    /// What they are made of, as bytes.
    known_scopes: Texts = .{},
    /// By serial number of an object with many members: of `keys`, those of its members in their order.
    indexes: NumberMap = .{},
    keys: ArrayList(Texts) = .empty,

    const Found = struct { target: Target, is_dynamic: bool = false };

    /// The document that is compiled.
    pub fn open(r: *References, text: []const u8) Error!Target {
        _ = try r.addScope(&.{});
        const root = try r.arena.create(Value);
        root.* = try json.read(r.gpa, r.arena, text, &r.n_objects, r.budget, r.diag);
        return r.addDocument("", text, root, r.default_draft);
    }

    /// `draft` is that of a document that does not say its own.
    fn addDocument(r: *References, uri: []const u8, text: []const u8, root: *const Value, draft: Draft) Error!Target {
        const index = r.documents.items.len;
        try r.documents.append(r.arena, .{ .uri = uri, .text = text, .root = root });
        const id: ResourceId = @intCast(r.resources.items.len);
        try r.resources.append(r.arena, .{ .uri = uri, .root = root, .draft = draft, .vocabularies = .all });
        try r.put(uri, .{ .target = .{ .schema = root, .resource = id } });
        if (root.* == .object) {
            try r.of_root.put(r.arena, root.object.serial, id);
            try r.setDraft(id, root.object);
            if (try r.idOf(id, root.object)) |own| {
                const resource = &r.resources.items[id];
                resource.uri = try uri_module.resolve(r.arena, uri, own);
                try r.put(resource.uri, .{ .target = .{ .schema = root, .resource = id } });
            }
        }
        // Most documents have no dynamic anchors, and no reference that asks for more than a pointer.
        if (mentionsAnchor(text)) try r.scan(index);
        return .{ .schema = root, .resource = id };
    }

    /// Capital letters are few: a search for the whole word took a fifth of the time that a large schema takes.
    fn mentionsAnchor(text: []const u8) bool {
        var at: usize = 0;
        while (std.mem.findScalarPos(u8, text, at, 'A')) |found| : (at = found + 1) {
            if (std.mem.startsWith(u8, text[found..], "Anchor\"")) return true;
        }
        return false;
    }

    fn put(r: *References, uri: []const u8, found: Found) Error!void {
        if (try r.uris.put(r.arena, uri) == r.found.items.len) try r.found.append(r.arena, found);
    }

    fn setDraft(r: *References, id: ResourceId, object: Object) Error!void {
        const value = object.get("$schema") orelse return;
        if (value.* != .string) return r.fail(object, "$schema", "must be a string");
        const draft = r.resources.items[id].draft;
        const dialect: Dialect = if (Draft.of(value.string)) |named|
            .{ .draft = named, .vocabularies = .all }
        else
            try r.dialectOf(value.string, draft, object) orelse return r.warn(
                "{f} is no draft that is known: the schema is read as one of {s}",
                .{ quoted(value.string), @tagName(draft) },
            );
        r.resources.items[id].draft = dialect.draft;
        r.resources.items[id].vocabularies = dialect.vocabularies;
    }

    /// Meta-schemas that are read, each for the one before.
    const dialects_max = 16;

    const Dialect = struct { draft: Draft, vocabularies: Vocabularies };

    /// What a meta-schema of the caller says; null if there is none with this URI.
    fn dialectOf(r: *References, uri: []const u8, draft: Draft, object: Object) Error!?Dialect {
        if (r.n_dialects == dialects_max) return r.fail(object, "$schema", "too many meta-schemas have another one as theirs");
        r.n_dialects += 1;
        defer r.n_dialects -= 1;
        const plain = uri_module.withoutFragment(uri);
        const target = r.entered(plain) orelse try r.fetch(plain, draft) orelse return null;
        if (target.schema.* != .object) return null;
        var dialect: Dialect = .{ .draft = r.resources.items[target.resource].draft, .vocabularies = .all };
        const listed = target.schema.object.get("$vocabulary") orelse return dialect;
        if (listed.* != .object or !dialect.draft.hasSiblings()) return dialect;
        dialect.vocabularies = .{};
        for (listed.object.members()) |one| {
            const is_required = one.value != .boolean or one.value.boolean;
            if (!dialect.vocabularies.add(one.key) and is_required) {
                var buffer: [300]u8 = undefined;
                const reason = message.print(&buffer, "asks for the vocabulary {f}, which is not known", .{quoted(one.key)});
                return r.fail(object, "$schema", reason);
            }
        }
        return dialect;
    }

    pub fn warn(r: *References, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const text = message.print(&buffer, format, args);
        for (r.warnings.items) |old| if (std.mem.eql(u8, old, text)) return;
        if (r.warnings.items.len > warnings_max) return;
        const is_last = r.warnings.items.len == warnings_max;
        try r.warnings.append(r.arena, if (is_last) "there are more warnings" else try r.arena.dupe(u8, text));
    }

    /// `$id`, if it makes a resource of the object.
    fn idOf(r: *References, resource: ResourceId, object: Object) Error!?[]const u8 {
        const draft = r.resources.items[resource].draft;
        const value = try r.member(object, if (draft == .draft4) "id" else "$id") orelse return null;
        if (value.* != .string or uri_module.withoutFragment(value.string).len == 0) return null;
        if (!draft.hasSiblings() and try r.member(object, "$ref") != null) return null;
        return value.string;
    }

    /// The resource that an object is of, which stands in `outer` or is its root.
    pub fn enter(r: *References, outer: ResourceId, object: Object) Error!ResourceId {
        const own = try r.idOf(outer, object) orelse return outer;
        if (r.of_root.get(object.serial)) |id| return id;
        const id: ResourceId = @intCast(r.resources.items.len);
        const root = try r.arena.create(Value);
        root.* = .{ .object = object };
        try r.resources.append(r.arena, .{
            .uri = try uri_module.resolve(r.arena, r.resources.items[outer].uri, own),
            .root = root,
            .draft = r.resources.items[outer].draft,
            .vocabularies = r.resources.items[outer].vocabularies,
        });
        try r.of_root.put(r.arena, object.serial, id);
        try r.setDraft(id, object);
        try r.put(r.resources.items[id].uri, .{ .target = .{ .schema = root, .resource = id } });
        return id;
    }

    // ---- References

    /// What `$ref` with this text leads to. `object` has it.
    pub fn resolve(r: *References, from: ResourceId, text: []const u8, object: Object, keyword: []const u8) Error!Target {
        return (try r.find(from, text, object, keyword)).target;
    }

    pub fn resolveDynamic(r: *References, from: ResourceId, scope: Scope, text: []const u8, object: Object) Error!Target {
        const found = try r.find(from, text, object, "$dynamicRef");
        return if (found.is_dynamic) r.outermost(scope, uri_module.fragment(text)) orelse found.target else found.target;
    }

    pub fn resolveRecursive(r: *References, from: ResourceId, scope: Scope) Target {
        const resource = &r.resources.items[from];
        for (resource.dynamic.items) |dynamic| {
            if (dynamic.name.len == 0) return r.outermost(scope, "") orelse dynamic.target;
        }
        return .{ .schema = resource.root, .resource = from };
    }

    fn outermost(r: *const References, scope: Scope, name: []const u8) ?Target {
        for (r.scopes.items[scope]) |dynamic| if (std.mem.eql(u8, dynamic.name, name)) return dynamic.target;
        return null;
    }

    /// The scope within a resource that is entered.
    pub fn widen(r: *References, scope: Scope, resource: ResourceId) Error!Scope {
        var wider: ArrayList(Dynamic) = .empty;
        for (r.resources.items[resource].dynamic.items) |dynamic| {
            if (r.outermost(scope, dynamic.name) != null) continue;
            if (wider.items.len == 0) try wider.appendSlice(r.arena, r.scopes.items[scope]);
            try wider.append(r.arena, dynamic);
        }
        return if (wider.items.len == 0) scope else r.addScope(wider.items);
    }

    fn addScope(r: *References, scope: []const Dynamic) Error!Scope {
        var key: ArrayList(u8) = .empty;
        for (scope) |dynamic| {
            try key.appendSlice(r.arena, std.mem.asBytes(&dynamic.target.schema));
            try key.appendSlice(r.arena, std.mem.asBytes(&dynamic.name.len));
            try key.appendSlice(r.arena, dynamic.name);
        }
        const number = try r.known_scopes.put(r.arena, key.items);
        if (number == r.scopes.items.len) try r.scopes.append(r.arena, scope);
        return number;
    }

    fn find(r: *References, from: ResourceId, text: []const u8, object: Object, keyword: []const u8) Error!Found {
        const own = r.resources.items[from];
        if (text.len > 0 and text[0] == '#' and (text.len == 1 or text[1] == '/')) {
            const target = try r.atPointer(.{ .schema = own.root, .resource = from }, text[1..]);
            return .{ .target = target orelse return r.failDangling(text, object, keyword) };
        }
        const uri = try uri_module.resolve(r.arena, own.uri, text);
        const fragment = uri_module.fragment(text);
        const root = try r.findResource(uri, own.draft) orelse return r.failMissing(text, object, keyword);
        if (fragment.len == 0) return .{ .target = root };
        if (fragment[0] == '/') {
            return .{ .target = try r.atPointer(root, fragment) orelse return r.failDangling(text, object, keyword) };
        }
        return try r.findAnchor(root.resource, fragment) orelse r.failDangling(text, object, keyword);
    }

    fn failDangling(r: *References, text: []const u8, object: Object, keyword: []const u8) diagnostic.Error {
        var buffer: [200]u8 = undefined;
        const reason = message.print(&buffer, "there is no {f}", .{quoted(text)});
        return r.fail(object, keyword, reason);
    }

    fn failMissing(r: *References, text: []const u8, object: Object, keyword: []const u8) diagnostic.Error {
        var buffer: [300]u8 = undefined;
        const format = "there is no {f}: pass other documents with documents, in a grammar with imports";
        const reason = message.print(&buffer, format, .{quoted(text)});
        return r.fail(object, keyword, reason);
    }

    /// What has this URI, of what has been entered.
    fn entered(r: *const References, uri: []const u8) ?Target {
        return r.found.items[r.uris.find(uri) orelse return null].target;
    }

    fn findResource(r: *References, uri: []const u8, draft: Draft) Error!?Target {
        var i: usize = 0;
        while (true) : (i += 1) {
            if (r.entered(uri)) |target| return target;
            if (i == r.documents.items.len) break;
            try r.scan(i);
        }
        if (metaschemas.hasHost(uri)) if (try r.findMetaschema(uri)) |found| return found;
        return r.fetch(uri, draft);
    }

    /// A document of the caller; `draft` if it does not say its own.
    fn fetch(r: *References, uri: []const u8, draft: Draft) Error!?Target {
        const text = try r.caller.find(r.arena, uri, r.budget, r.diag) orelse return null;
        if (r.given.items.len == 2 * documents_max) {
            return r.diag.fail(.limit, "the schema needs more than {d} other documents", .{documents_max});
        }
        try r.given.appendSlice(r.arena, &.{ uri, text });
        const root = try r.arena.create(Value);
        root.* = json.read(r.gpa, r.arena, text, &r.n_objects, r.budget, r.diag) catch |e| return r.nameDocument(uri, e);
        return try r.addDocument(uri, text, root, draft);
    }

    /// What is wrong with the text of another document says which one.
    fn nameDocument(r: *References, uri: []const u8, e: Error) Error {
        if (e == error.OutOfMemory) return e;
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const reason = r.diag.message();
        @memcpy(buffer[0..reason.len], reason);
        return r.diag.fail(r.diag.status, "in {f}: {s}", .{ quoted(uri), buffer[0..reason.len] });
    }

    /// Both schemes lead to them.
    fn findMetaschema(r: *References, uri: []const u8) Error!?Target {
        if (!r.has_metaschemas) {
            r.has_metaschemas = true;
            const text = try metaschemas.text(r.arena);
            const all = try json.read(r.gpa, r.arena, text, &r.n_objects, r.budget, r.diag);
            for (all.array) |*root| {
                const id = root.object.first[0].value.string;
                _ = try r.addDocument(uri_module.withoutFragment(id), text, root, .draft2020_12);
            }
        }
        const rest = uri[std.mem.findScalar(u8, uri, ':').?..];
        for ([_][]const u8{ "http", "https" }) |scheme| {
            if (r.entered(try std.mem.concat(r.arena, u8, &.{ scheme, rest }))) |target| return target;
        }
        return null;
    }

    fn findAnchor(r: *References, resource: ResourceId, fragment: []const u8) Error!?Found {
        for (0..r.documents.items.len) |i| try r.scan(i);
        const name = try uri_module.decoded(r.arena, fragment) orelse return null;
        const number = r.uris.find(try r.anchorUri(resource, name)) orelse return null;
        return r.found.items[number];
    }

    fn anchorUri(r: *References, resource: ResourceId, name: []const u8) Error![]const u8 {
        // Two resources may have no URI.
        var buffer: [16]u8 = undefined;
        return std.mem.concat(r.arena, u8, &.{ "#", std.fmt.bufPrint(&buffer, "{d}", .{resource}) catch unreachable, "#", name });
    }

    /// RFC 6901, from the root of a resource; `pointer` is a fragment.
    fn atPointer(r: *References, root: Target, pointer: []const u8) Error!?Target {
        var at = root;
        if (pointer.len == 0) return at;
        var tokens = std.mem.splitScalar(u8, pointer[1..], '/');
        while (tokens.next()) |encoded| {
            const token = try unescaped(r.arena, try uri_module.decoded(r.arena, encoded) orelse return null) orelse return null;
            switch (at.schema.*) {
                .object => |object| at.schema = try r.member(object, token) orelse return null,
                .array => |items| at.schema = &items[indexOf(token, items.len) orelse return null],
                else => return null,
            }
            if (at.schema.* == .object) at.resource = try r.enter(at.resource, at.schema.object);
        }
        return at;
    }

    fn indexOf(token: []const u8, len: usize) ?usize {
        if (token.len > 1 and token[0] == '0') return null;
        for (token) |byte| if (!std.ascii.isDigit(byte)) return null;
        const index = std.fmt.parseInt(usize, token, 10) catch return null;
        return if (index < len) index else null;
    }

    fn unescaped(arena: Allocator, token: []const u8) Allocator.Error!?[]const u8 {
        if (std.mem.findScalar(u8, token, '~') == null) return token;
        var out: ArrayList(u8) = try .initCapacity(arena, token.len);
        var at: usize = 0;
        while (at < token.len) : (at += 1) {
            if (token[at] != '~') {
                out.appendAssumeCapacity(token[at]);
                continue;
            }
            at += 1;
            if (at == token.len or (token[at] != '0' and token[at] != '1')) return null;
            out.appendAssumeCapacity(if (token[at] == '0') '~' else '/');
        }
        return out.items;
    }

    /// Objects with more members than this are searched by hash.
    const few = 16;

    fn member(r: *References, object: Object, key: []const u8) Error!?*const Value {
        if (object.len <= few) return object.get(key);
        const index = r.indexes.get(object.serial) orelse added: {
            var keys: Texts = .{};
            for (object.members()) |*one| _ = try keys.put(r.arena, one.key);
            try r.indexes.putItem(r.arena, object.serial, Texts, &r.keys, keys);
            break :added r.keys.items.len - 1;
        };
        const i = r.keys.items[index].find(key) orelse return null;
        return &object.members()[i].value;
    }

    // ---- Looking for resources and anchors

    /// Enters all resources of a document, and their anchors.
    fn scan(r: *References, i: usize) Error!void {
        const document = &r.documents.items[i];
        if (document.is_scanned) return;
        document.is_scanned = true;
        const first: ResourceId = if (document.root.* == .object) r.of_root.get(document.root.object.serial).? else return;
        var todo: ArrayList(Target) = .empty;
        defer todo.deinit(r.gpa);
        try todo.append(r.gpa, .{ .schema = document.root, .resource = first });
        var n_steps: u32 = 0;
        while (todo.pop()) |at| {
            n_steps += 1;
            if (n_steps % 256 == 0) try r.budget.check("the schema's references", r.diag);
            if (at.schema.* != .object) continue;
            const object = at.schema.object;
            const resource = try r.enter(at.resource, object);
            try r.addAnchors(at.schema, resource, object);
            const read_as = r.resources.items[resource];
            const draft = read_as.draft;
            if (!draft.hasSiblings() and object.get("$ref") != null) continue;
            for (object.members()) |*one| {
                const keyword = Keyword.of(one.key) orelse continue;
                if (read_as.has(keyword) or keyword == .@"$defs") try r.addChildren(&todo, resource, keyword, &one.value);
            }
        }
    }

    fn addChildren(r: *References, todo: *ArrayList(Target), resource: ResourceId, keyword: Keyword, value: *const Value) Error!void {
        switch (keyword.children()) {
            .none => {},
            .schema => try todo.append(r.gpa, .{ .schema = value, .resource = resource }),
            .list, .map, .schema_or_list, .dependencies => switch (value.*) {
                .array => |items| for (items) |*item| try todo.append(r.gpa, .{ .schema = item, .resource = resource }),
                .object => |object| if (keyword == .items)
                    try todo.append(r.gpa, .{ .schema = value, .resource = resource })
                else for (object.members()) |*one| try todo.append(r.gpa, .{ .schema = &one.value, .resource = resource }),
                else => {},
            },
        }
    }

    fn addAnchors(r: *References, schema: *const Value, resource: ResourceId, object: Object) Error!void {
        const target: Target = .{ .schema = schema, .resource = resource };
        const draft = r.resources.items[resource].draft;
        if (!draft.hasSiblings()) {
            const id = object.get(if (draft == .draft4) "id" else "$id") orelse return;
            if (id.* != .string or object.get("$ref") != null) return;
            const name = uri_module.fragment(id.string);
            if (name.len > 0) try r.put(try r.anchorUri(resource, name), .{ .target = target });
            return;
        }
        if (object.get("$anchor")) |name| if (name.* == .string) {
            try r.put(try r.anchorUri(resource, name.string), .{ .target = target });
        };
        const of = &r.resources.items[resource].dynamic;
        if (draft == .draft2020_12) {
            const name = object.get("$dynamicAnchor") orelse return;
            if (name.* != .string) return;
            try r.put(try r.anchorUri(resource, name.string), .{ .target = target, .is_dynamic = true });
            try of.append(r.arena, .{ .name = name.string, .target = target });
        } else if (object.get("$recursiveAnchor")) |is| {
            const root = r.resources.items[resource].root.object;
            if (is.* == .boolean and is.boolean and root.serial == object.serial) try of.append(r.arena, .{ .name = "", .target = target });
        }
    }

    // ---- Places, for messages

    /// What is wrong with a keyword of an object; with the object itself if the keyword is empty.
    pub fn fail(r: *References, object: Object, keyword: []const u8, reason: []const u8) diagnostic.Error {
        @branchHint(.cold);
        var buffer: [700]u8 = undefined;
        return r.diag.fail(.grammar, "at {s}: {s}", .{ r.place(&buffer, object, keyword), reason });
    }

    /// A JSON Pointer as a fragment of its document's URI; cut where the buffer is full.
    pub fn place(r: *References, buffer: []u8, object: Object, keyword: []const u8) []const u8 {
        var writer: std.Io.Writer = .fixed(buffer);
        for (r.documents.items) |document| {
            var path: ArrayList(Step) = .empty;
            defer path.deinit(r.gpa);
            const is_here = findObject(r.gpa, document.root, object.serial, &path) catch break;
            if (!is_here) continue;
            writePath(&writer, document.uri, path.items, keyword) catch {};
            break;
        }
        return writer.buffered();
    }

    /// A child of `value`, the `next`th of which is looked at next.
    const Step = struct { value: *const Value, next: usize };

    fn findObject(gpa: Allocator, root: *const Value, serial: u32, path: *ArrayList(Step)) Allocator.Error!bool {
        var at = root;
        while (true) {
            try path.append(gpa, .{ .value = at, .next = 0 });
            if (at.* == .object and at.object.serial == serial) return true;
            at = while (path.items.len > 0) {
                const step = &path.items[path.items.len - 1];
                if (childOf(step.value, step.next)) |child| {
                    step.next += 1;
                    break child;
                }
                _ = path.pop();
            } else return false;
        }
    }

    fn childOf(value: *const Value, i: usize) ?*const Value {
        return switch (value.*) {
            .array => |items| if (i < items.len) &items[i] else null,
            .object => |object| if (i < object.len) &object.first[i].value else null,
            else => null,
        };
    }

    fn writePath(writer: *std.Io.Writer, uri: []const u8, path: []const Step, keyword: []const u8) std.Io.Writer.Error!void {
        try writer.writeAll(uri);
        try writer.writeByte('#');
        for (path[0 .. path.len - 1]) |step| switch (step.value.*) {
            .object => |object| try writeToken(writer, object.first[step.next - 1].key),
            else => try message.write(writer, "/{d}", .{step.next - 1}),
        };
        if (keyword.len > 0) try writeToken(writer, keyword);
    }

    fn writeToken(writer: *std.Io.Writer, token: []const u8) std.Io.Writer.Error!void {
        try writer.writeByte('/');
        for (token) |byte| switch (byte) {
            '~' => try writer.writeAll("~0"),
            '/' => try writer.writeAll("~1"),
            0...0x1f, 0x7f => try writer.writeAll(&.{ '%', '0' + (byte >> 4), "0123456789ABCDEF"[byte & 15] }),
            else => try writer.writeByte(byte),
        };
    }
};
