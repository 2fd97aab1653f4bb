"""Grammars that are not LR(1), grammars of llama.cpp, and tags, beside other libraries."""
