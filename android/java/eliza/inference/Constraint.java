package eliza.inference;

import java.util.Objects;

/**
 * What an output may be, compiled for the vocabulary of a model. Any number of streams of that model share it, and keep
 * what they need, so that it may be closed at any time.
 */
public final class Constraint implements AutoCloseable {
    private long handle;

    private Constraint(long handle) {
        this.handle = handle;
    }

    /** Allows a JSON document that is valid against a JSON Schema, with all options as they are by default. */
    public static Constraint jsonSchema(Model model, String schema) {
        return jsonSchema(model, schema, new JsonSchemaOptions());
    }

    /**
     * Allows a JSON document that is valid against a JSON Schema; native/SCHEMAS.md says for each keyword what is done.
     * What a function of the options throws is thrown here.
     *
     * @throws ElizaException if the schema is wrong, cannot be enforced exactly, or nothing satisfies it: the message
     *     begins with the JSON Pointer of the place
     */
    public static Constraint jsonSchema(Model model, String schema, JsonSchemaOptions options) {
        byte[] text = Native.utf8(Objects.requireNonNull(schema));
        long vocabulary = model.vocabulary();
        try {
            return new Constraint(Native.jsonSchema(
                    vocabulary, text, options.numbers(), options.bytesMax, options.millisecondsMax, options.answers()));
        } finally {
            Native.vocabularyFree(vocabulary);
        }
    }

    /**
     * Allows free text with parts in it, such as tool calls: a descriptor of tags in JSON, which native/TAGS.md
     * describes.
     *
     * @throws ElizaException if the descriptor is wrong: the message says where
     */
    public static Constraint tags(Model model, String descriptor) {
        byte[] text = Native.utf8(Objects.requireNonNull(descriptor));
        long vocabulary = model.vocabulary();
        try {
            return new Constraint(Native.tags(vocabulary, text));
        } finally {
            Native.vocabularyFree(vocabulary);
        }
    }

    /** What compiling found that is not enforced, or seldom meant; a line each. */
    public synchronized String notes() {
        return Native.text(Native.constraintNotes(handle()));
    }

    /** Closes the constraint. Closing it again does nothing. */
    @Override
    public synchronized void close() {
        if (handle != 0) {
            Native.constraintFree(handle);
            handle = 0;
        }
    }

    synchronized void set(long stream, Mode mode) {
        Native.setConstraint(stream, handle(), mode.ordinal());
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the constraint is closed");
        }
        return handle;
    }
}
