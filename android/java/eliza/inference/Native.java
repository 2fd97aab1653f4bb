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

    /** What {@link #compile} asks. */
    interface Answers {
        byte[] document(byte[] name);

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

    static native long vocabularyCreate(byte[] bytes, int[] lengths, byte[] flags, byte[] modelId);

    static native long vocabularyOpen(byte[] path);

    static native void vocabularySave(long vocabulary, byte[] path);

    static native int vocabularySize(long vocabulary);

    static native byte[] vocabularyToken(long vocabulary, int token);

    static native void vocabularyFree(long vocabulary);

    static native long compile(
            long vocabulary, int source, byte[] text, byte[] name, int[] numbers, long[] limits, Answers answers);

    static native void constraintSave(long constraint, byte[] path);

    static native byte[] constraintWarnings(long constraint);

    static native void constraintFree(long constraint);

    static native long matcherCreate(long constraint, int spanTimeout, int[] end);

    static native long matcherClone(long matcher);

    static native void matcherFree(long matcher);

    static native int matcherAccept(long matcher, int token);

    static native void matcherRollback(long matcher, int tokens);

    static native void matcherReset(long matcher);

    static native void matcherActivate(long matcher, byte[] path);

    static native void matcherDeactivate(long matcher);

    static native boolean matcherCanStop(long matcher);

    static native int[] matcherAllowed(long matcher);

    static native void matcherFillBitmap(long matcher, int[] words);

    static native void matcherMaskLogits(long matcher, float[] logits);

    static native int matcherSample(long matcher, float[] logits, int mode, int[] bits);

    static native void matcherSetSeed(long matcher, long seed);

    static native int[] matcherForced(long matcher);

    static native byte[] matcherForcedBytes(long matcher);

    static native byte[] matcherLeaf(long matcher);

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
