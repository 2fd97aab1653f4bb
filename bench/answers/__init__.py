"""How many answers of real models end, and are valid, with which options of a JSON Schema."""
