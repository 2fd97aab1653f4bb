//! What a payload may hold at most: the limits of the header, section 3.

pub const payload_bytes_max = 64 << 20;
pub const depth_max = 64;
pub const descriptors_max = 4096;
pub const leaves_max = 1 << 20;
pub const leaf_tokens_max = 4096;
pub const tokens_max = 16 << 20;
pub const triggers_max = 64;
pub const trigger_tokens_max = 64;
pub const end_tokens_max = 16;
pub const name_bytes_max = 65535;
