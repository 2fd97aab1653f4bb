package eliza.inference;

import java.util.Objects;

/** The library itself. */
public final class ElizaInference {
    private ElizaInference() {}

    /** The version of the native library, such as "1.2.3". */
    public static String version() {
        Native.load();
        return Native.text(Native.version());
    }

    /** The version of its ABI. */
    public static int abiVersion() {
        Native.load();
        return Integer.parseInt(Native.text(Native.abiVersion()));
    }

    /**
     * Loads libllama from a file. Without this, the first model takes the copy that the process has already loaded, or
     * one beside the library.
     *
     * @throws ElizaException if the file is missing, is for another processor, or is of an unknown version
     */
    public static void loadLlama(String path) {
        Native.load();
        Native.loadLlama(Native.utf8(Objects.requireNonNull(path)));
    }
}
