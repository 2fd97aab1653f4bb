package eliza.inference;

/** Why a generation ended; in the order of ELIZA_STOP_ in eliza_inference.h. */
public enum StopReason {
    /** Nothing was generated yet. */
    NONE,
    END_OF_GENERATION,
    /** As many tokens as were asked for, or configured, came out. */
    MAX_TOKENS,
    SPAN_END,
    LISTENER,
    TIME_BUDGET,
    CANCELLED,
    CONTEXT_FULL
}
