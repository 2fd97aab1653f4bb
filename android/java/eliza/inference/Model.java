package eliza.inference;

import java.util.Objects;

/** An open model. Any thread may call it; streams stay usable after {@link #close}. */
public final class Model implements AutoCloseable {
    private long handle;
    private Vocabulary vocabulary;

    private Model(long handle) {
        this.handle = handle;
    }

    /**
     * Opens a GGUF file, or a folder with one under text/.
     *
     * @throws ElizaException if there is no libllama, or the file is missing or damaged
     */
    public static Model open(String path) {
        return open(path, "");
    }

    /** As above; payloads with another model id than this are then refused. */
    public static Model open(String path, String modelId) {
        Native.load();
        return new Model(Native.modelOpen(Native.utf8(Objects.requireNonNull(path)), Native.utf8(modelId)));
    }

    /** The tokens of a text, as the model's tokenizer gives them. */
    public synchronized int[] tokenize(String text, boolean addSpecial, boolean parseSpecial) {
        return Native.tokenize(handle(), Native.utf8(Objects.requireNonNull(text)), addSpecial, parseSpecial);
    }

    /** The text of tokens. */
    public synchronized String detokenize(int[] tokens, boolean removeSpecial, boolean unparseSpecial) {
        return Native.text(Native.detokenize(handle(), Objects.requireNonNull(tokens), removeSpecial, unparseSpecial));
    }

    /** Opens a stream; the config is copied. */
    public synchronized Stream stream(StreamConfig config) {
        return new Stream(handle(), config);
    }

    /** The model's tokens; always the same object, closed with the model. */
    public synchronized Vocabulary vocabulary() {
        if (vocabulary == null) {
            vocabulary = new Vocabulary(Native.vocabulary(handle()));
        }
        return vocabulary;
    }

    /** Closes the model. Closing it again does nothing. */
    @Override
    public synchronized void close() {
        if (vocabulary != null) {
            vocabulary.close();
        }
        if (handle != 0) {
            Native.modelClose(handle);
            handle = 0;
        }
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the model is closed");
        }
        return handle;
    }
}
