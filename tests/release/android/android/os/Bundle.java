package android.os;

/** Of Android, as far as the example uses it. */
public final class Bundle {}
