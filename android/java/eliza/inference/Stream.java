package eliza.inference;

import java.util.Objects;

/**
 * One generation. Calls from several threads run one after the other, except {@link #cancel}, which acts at once, and
 * {@link #close}, which cancels first.
 */
public final class Stream implements AutoCloseable {
    /** Guards the handle against being closed while cancel uses it; taken after the monitor of this object. */
    private final Object handleLock = new Object();

    private long handle;
    private boolean generating;
    private boolean closeWhenGenerated;

    Stream(long model, StreamConfig config) {
        handle = Native.streamOpen(model, config.numbers(), config.strings());
        try {
            Native.setSeed(handle, config.seed);
            Native.setTimeBudget(handle, config.timeBudgetMilliseconds);
            Native.setStopAtSpanEnd(handle, config.stopAtSpanEnd);
        } catch (ElizaException error) {
            Native.streamClose(handle);
            throw error;
        }
    }

    /** Decodes prompt tokens, after those that are there. */
    public synchronized void prefill(int[] tokens) {
        Native.prefill(handle(), Objects.requireNonNull(tokens));
    }

    /** Lets only the names of a payload come out; see eliza_inference.h for its form. */
    public void setTokenTrie(String json, Mode mode) {
        setTokenTrie(Native.utf8(json), mode);
    }

    /** The same payload as JSON in UTF-8, or as MessagePack. */
    public synchronized void setTokenTrie(byte[] payload, Mode mode) {
        Native.setTokenTrie(handle(), Objects.requireNonNull(payload), mode.ordinal());
    }

    /** Removes the token trie; nothing happens if there is none. */
    public synchronized void clearTokenTrie() {
        Native.clearTokenTrie(handle());
    }

    /** Lets only what a constraint allows come out; it replaces the one before, or the token trie. */
    public synchronized void setConstraint(Constraint constraint, Mode mode) {
        constraint.set(handle(), mode);
    }

    /** Removes the constraint or token trie; nothing happens if there is none. */
    public synchronized void clearConstraint() {
        Native.clearConstraint(handle());
    }

    /** Starts a span of the payload's descriptor with this path. */
    public synchronized void activate(String path) {
        Native.activate(handle(), Native.utf8(path));
    }

    /** The name that the output has reached, or the text that its last span ended with; or null. */
    public synchronized String leaf() {
        return Native.text(Native.leaf(handle()));
    }

    /**
     * Generates until an end, or until this many tokens came out; 0: as configured. What the listener throws ends the
     * generation and is thrown here.
     */
    public synchronized StopReason generate(int maxTokens, final TokenListener listener) {
        Objects.requireNonNull(listener);
        if (generating) {
            throw new IllegalStateException("a listener cannot generate");
        }
        long stream = handle();
        generating = true;
        try {
            return StopReason.values()[Native.generate(stream, maxTokens, new Native.Sink() {
                @Override
                public int onToken(int id, byte[] text) {
                    return listener.onToken(id, Native.text(text)) ? 0 : 1;
                }
            })];
        } finally {
            generating = false;
            if (closeWhenGenerated) {
                close();
            }
        }
    }

    /** Ends a running generation. Later ones end at once, until {@link #reset}. Any thread may call this. */
    public void cancel() {
        synchronized (handleLock) {
            if (handle != 0) {
                Native.cancel(handle);
            }
        }
    }

    /** Forgets the prompt and what was generated; the settings and the token trie stay. */
    public synchronized void reset() {
        Native.reset(handle());
    }

    /** Cancels, waits for a running generation and closes. In a listener, the close comes after the generation. */
    @Override
    public void close() {
        cancel();
        synchronized (this) {
            if (generating) {
                closeWhenGenerated = true;
                return;
            }
            synchronized (handleLock) {
                if (handle != 0) {
                    Native.streamClose(handle);
                    handle = 0;
                }
            }
        }
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the stream is closed");
        }
        return handle;
    }
}
