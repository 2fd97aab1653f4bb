"""Tests of the TypeScript package besides bun: WebAssembly, other hosts, the page."""
