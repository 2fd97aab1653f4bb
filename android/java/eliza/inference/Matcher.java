package eliza.inference;

import java.util.Objects;

/**
 * The state of one text in a {@link Constraint}, for any engine that gives logits. Calls from several threads run one after
 * the other. A call that fails leaves it as it was.
 */
public final class Matcher implements AutoCloseable {
    /** The token belongs to a span; an end token too. {@link #accept} gives a set of these bits. */
    public static final int IN_SPAN = 1;

    /** A span is over: after this token, or before it if not {@link #IN_SPAN}. */
    public static final int SPAN_ENDED = 2;

    /** A span is open after this token. */
    public static final int SPAN_STARTED = 4;

    /** The span reached its timeout. */
    public static final int TIMED_OUT = 8;

    /** Not allowed here: nothing changed. */
    public static final int REFUSED = 16;

    private long handle;

    /** At the start of a text. */
    public Matcher(Constraint constraint) {
        this(constraint, 0, null);
    }

    /**
     * At the start of a text.
     *
     * @param spanTimeout a span that has not ended after so many tokens is deactivated; 0: the default of its kind
     * @param end the tokens that end a recognizer's text; null: the vocabulary's end-of-generation tokens; for a token trie
     *     it must be null
     */
    public Matcher(Constraint constraint, int spanTimeout, int[] end) {
        this(constraint.matcher(spanTimeout, end));
    }

    private Matcher(long handle) {
        this.handle = handle;
    }

    /** Takes one token: a set of the bits above. */
    public synchronized int accept(int token) {
        return Native.matcherAccept(handle(), token);
    }

    /** Takes back the last tokens with all that they did. */
    public synchronized void rollback(int tokens) {
        Native.matcherRollback(handle(), tokens);
    }

    /** Back to the start. */
    public synchronized void reset() {
        Native.matcherReset(handle());
    }

    /** Opens a span at the descriptor with this path. */
    public synchronized void activate(String path) {
        Native.matcherActivate(handle(), Native.utf8(Objects.requireNonNull(path)));
    }

    /** Ends an open span. */
    public synchronized void deactivate() {
        Native.matcherDeactivate(handle());
    }

    /** Whether the text may stop here. */
    public synchronized boolean canStop() {
        return Native.matcherCanStop(handle());
    }

    /** The ids of the legal next tokens, ascending; null: all are legal. */
    public synchronized int[] allowed() {
        return Native.matcherAllowed(handle());
    }

    /**
     * Writes the legal next tokens as a bitmap: bit i % 32 of word i / 32 is token i. There is a word for each 32 tokens of
     * the vocabulary, rounded up; words beyond them become 0.
     */
    public synchronized void fillBitmap(int[] words) {
        Native.matcherFillBitmap(handle(), Objects.requireNonNull(words));
    }

    /** Sets the logits of illegal tokens to negative infinity. */
    public synchronized void maskLogits(float[] logits) {
        Native.matcherMaskLogits(handle(), Objects.requireNonNull(logits));
    }

    /** Chooses a legal token, which is not accepted by that: the most likely one. */
    public int sample(float[] logits) {
        return sample(logits, Mode.GREEDY, 0, 1);
    }

    /** Chooses a legal token, which is not accepted by that. Draws come from {@link #setSeed}. */
    public synchronized int sample(float[] logits, Mode mode, float temperature, float topP) {
        int[] bits = {Float.floatToRawIntBits(temperature), Float.floatToRawIntBits(topP)};
        return Native.matcherSample(handle(), Objects.requireNonNull(logits), mode.ordinal(), bits);
    }

    /** Sets the state of the generator. */
    public synchronized void setSeed(long seed) {
        Native.matcherSetSeed(handle(), seed);
    }

    /** The tokens without a choice that come next, maybe none. They are not accepted by that. */
    public synchronized int[] forced() {
        return Native.matcherForced(handle());
    }

    /** The bytes without a choice that come next in a recognizer's text, maybe none. */
    public synchronized byte[] forcedBytes() {
        return Native.matcherForcedBytes(handle());
    }

    /** The name that the text has reached in a token trie, or the text that its last span ended with; or null. */
    public synchronized String leaf() {
        return Native.text(Native.matcherLeaf(handle()));
    }

    /** A matcher with the same position, history and generator. */
    public synchronized Matcher copy() {
        return new Matcher(Native.matcherClone(handle()));
    }

    /** Closes the matcher. Closing it again does nothing. */
    @Override
    public synchronized void close() {
        if (handle != 0) {
            Native.matcherFree(handle);
            handle = 0;
        }
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the matcher is closed");
        }
        return handle;
    }
}
