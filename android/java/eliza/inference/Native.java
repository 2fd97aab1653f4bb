package eliza.inference;

import java.nio.charset.StandardCharsets;

/** The native methods. Text is UTF-8, handles are numbers of the library; 0 is none. */
final class Native {
    private static boolean loaded;

    private Native() {}

    /** What {@link #generate} calls with each token; another result than 0 ends the generation. */
    interface Sink {
        int onToken(int id, byte[] text);
    }

    /** What {@link #jsonSchema} asks while it compiles. */
    interface Answers {
        byte[] document(byte[] uri);

        int cancelled();
    }

    static synchronized void load() {
        if (loaded) {
            return;
        }
        String path = System.getProperty("eliza.inference.jni");
        try {
            if (path != null) {
                System.load(path);
            } else {
                System.loadLibrary("elizainference_jni");
            }
        } catch (UnsatisfiedLinkError error) {
            throw new ElizaException(ElizaException.ABI_MISMATCH, "the native library cannot be loaded: "
                    + error.getMessage() + ". An app needs libelizainference.so and libelizainference_jni.so of one"
                    + " version in jniLibs/<abi>/ for this device's processor (" + System.getProperty("os.arch")
                    + "); elsewhere, set the system property eliza.inference.jni to the path of the second");
        }
        loaded = true;
    }

    static byte[] utf8(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    static native byte[] version();

    static native byte[] abiVersion();

    static native byte[] statusName(int status);

    static native void loadLlama(byte[] path);

    static native long modelOpen(byte[] path, byte[] modelId);

    static native void modelClose(long model);

    static native int[] tokenize(long model, byte[] text, boolean addSpecial, boolean parseSpecial);

    static native byte[] detokenize(long model, int[] tokens, boolean removeSpecial, boolean unparseSpecial);

    static native long vocabulary(long model);

    static native void vocabularyFree(long vocabulary);

    static native long jsonSchema(
            long vocabulary, byte[] schema, int[] numbers, long bytesMax, long millisecondsMax, Answers answers);

    static native long tags(long vocabulary, byte[] descriptor);

    static native byte[] constraintNotes(long constraint);

    static native void constraintFree(long constraint);

    static native void setConstraint(long stream, long constraint, int mode);

    static native void clearConstraint(long stream);

    static native long streamOpen(long model, int[] numbers, byte[][] strings);

    static native void streamClose(long stream);

    static native void setSeed(long stream, long seed);

    static native void setTimeBudget(long stream, long milliseconds);

    static native void setStopAtSpanEnd(long stream, boolean on);

    static native void prefill(long stream, int[] tokens);

    static native void setTokenTrie(long stream, byte[] payload, int mode);

    static native void clearTokenTrie(long stream);

    static native void activate(long stream, byte[] path);

    static native byte[] leaf(long stream);

    static native int generate(long stream, int maxTokens, Sink sink);

    static native void cancel(long stream);

    static native void reset(long stream);
}
