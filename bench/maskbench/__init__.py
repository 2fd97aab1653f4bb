"""JSON Schemas as MaskBench runs engines on them: each new, compiled and used for a few texts."""
