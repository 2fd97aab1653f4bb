"""The Rust crate."""
