package eliza.inference;

/** A failure in the library, with its message. */
public final class ElizaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    static final int ABI_MISMATCH = -6;
    static final int CLOSED = -9;

    private final int status;

    ElizaException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** Called from native code. */
    ElizaException(int status, byte[] message) {
        this(status, Native.text(message));
    }

    /** One of the negative ELIZA_ERR_ statuses of eliza_inference.h. */
    public int status() {
        return status;
    }

    /** Its name, such as "ELIZA_ERR_PAYLOAD". */
    public String statusName() {
        Native.load();
        return Native.text(Native.statusName(status));
    }
}
