package eliza.inference;

/** Receives what a stream generates, on the thread that called {@link Stream#generate}. */
public interface TokenListener {
    /**
     * A token and the whole characters that it brings to the text, perhaps none. If the output ends inside a character,
     * a last call with -1 brings U+FFFD for it.
     *
     * @return false to end the generation
     */
    boolean onToken(int id, String text);
}
