package eliza.inference;

/** Why a generation ended; in the order of ELIZA_STOP_ in eliza_inference.h. */
public enum StopReason {
    /** It did not end: as many tokens as were asked for came out. */
    NONE,
    END_OF_GENERATION,
    MAX_TOKENS,
    SPAN_END,
    LISTENER,
    TIME_BUDGET,
    CANCELLED,
    CONTEXT_FULL
}
