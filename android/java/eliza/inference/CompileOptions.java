package eliza.inference;

/** What compiling a {@link Constraint} may use. */
public class CompileOptions {
    /** Asked now and then while a constraint is compiled. */
    public interface Cancel {
        /** True to end it, with ELIZA_ERR_CANCELLED. */
        boolean ask();
    }

    /** Memory for compiling; 0: the library's default. */
    public long bytesMax;

    /** Time for compiling; 0: no bound. */
    public long millisecondsMax;

    /** Memory of the masks and tables that the constraint keeps; 0: the library's default. */
    public long maskBytesMax;

    /** Time of each later call on a matcher of the constraint; 0: no bound. */
    public long maskMillisecondsMax;

    /** Null: never. */
    public Cancel cancel;

    /** In the order that the bridge reads. */
    final long[] limits() {
        return new long[] {bytesMax, millisecondsMax, maskBytesMax, maskMillisecondsMax};
    }

    /** In the order that the bridge reads. */
    int[] numbers() {
        return new int[4];
    }

    /** A text that the source names, or null if there is none. */
    String find(String name) {
        return null;
    }

    final Native.Answers answers() {
        return new Native.Answers() {
            @Override
            public byte[] document(byte[] name) {
                return Native.utf8(find(Native.text(name)));
            }

            @Override
            public int cancelled() {
                return cancel != null && cancel.ask() ? 1 : 0;
            }
        };
    }
}
