package eliza.inference;

import java.util.Objects;

/** The tokens of a model, as bytes. Constraints keep what they need of it, so that it may be closed at any time. */
public final class Vocabulary implements AutoCloseable {
    /** A control token: its text is not output. A set of these flags is given for each token. */
    public static final int SPECIAL = 1;

    /** Ends the generation. */
    public static final int END_OF_GENERATION = 2;

    /** Never produced. */
    public static final int UNUSED = 4;

    private long handle;
    private boolean compiling;

    Vocabulary(long handle) {
        this.handle = handle;
    }

    /**
     * A vocabulary of these tokens, in the order of their ids; an empty one has no text.
     *
     * @param flags a set of flags for each token, or null: all 0
     */
    public static Vocabulary of(byte[][] tokens, byte[] flags) {
        return of(tokens, flags, "");
    }

    /** As above; payloads with another model id than this are then refused. */
    public static Vocabulary of(byte[][] tokens, byte[] flags, String modelId) {
        Native.load();
        if (flags != null && flags.length != tokens.length) {
            throw new IllegalArgumentException(flags.length + " flags for " + tokens.length + " tokens");
        }
        Joined joined = new Joined(tokens);
        return new Vocabulary(Native.vocabularyCreate(joined.bytes, joined.lengths, flags, Native.utf8(modelId)));
    }

    /** Maps a file that {@link #save} wrote. It must not change while the vocabulary is used. */
    public static Vocabulary open(String path) {
        Native.load();
        return new Vocabulary(Native.vocabularyOpen(Native.utf8(Objects.requireNonNull(path))));
    }

    /** Writes a file for {@link #open}. */
    public synchronized void save(String path) {
        Native.vocabularySave(handle(), Native.utf8(Objects.requireNonNull(path)));
    }

    /** How many tokens there are. */
    public synchronized int size() {
        return Native.vocabularySize(handle());
    }

    /** The bytes of a token. */
    public synchronized byte[] token(int id) {
        return Native.vocabularyToken(handle(), id);
    }

    /** Closes the vocabulary. Closing it again does nothing. A function of a compile's options cannot close it. */
    @Override
    public synchronized void close() {
        if (compiling) {
            throw new IllegalStateException("a constraint is being compiled");
        }
        if (handle != 0) {
            Native.vocabularyFree(handle);
            handle = 0;
        }
    }

    synchronized long compile(int source, byte[] text, byte[] name, int[] numbers, CompileOptions options) {
        boolean outer = !compiling;
        compiling = true;
        try {
            return Native.compile(handle(), source, text, name, numbers, options.limits(), options.answers());
        } finally {
            compiling = !outer;
        }
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the vocabulary is closed");
        }
        return handle;
    }
}
