const std = @import("std");
test {
    _ = @import("status.zig");
    _ = @import("diagnostic.zig");
    _ = @import("platform/mutex.zig");
    _ = @import("platform/log.zig");
    _ = @import("payload/payload.zig");
    _ = @import("payload/decode.zig");
    _ = @import("payload/json.zig");
    _ = @import("payload/msgpack.zig");
}
