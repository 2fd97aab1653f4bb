package eliza.inference;

/** How a token is chosen among the legal ones. */
public enum Mode {
    /** The most likely one. */
    GREEDY,
    /** By the temperature, top-p and seed of the stream. */
    SAMPLED
}
