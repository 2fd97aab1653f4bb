package eliza.inference;

/** Options of {@link Constraint#jsonSchema}. */
public final class JsonSchemaOptions extends CompileOptions {
    /** Where white space may stand. */
    public enum Space {
        /** At each place none, one space, or a newline with up to 32 spaces or tabs. */
        LOOSE,
        /** Nowhere. */
        COMPACT,
        /** One space after each comma and colon. */
        SPACED,
        /** Anywhere. */
        ANY
    }

    /** In which order the members of an object come. */
    public enum Order {
        /** As the schema has them, then the other required ones, then the rest. */
        DECLARED,
        /** In any. */
        ANY
    }

    /** How long numbers may be. */
    public enum Numbers {
        ANY,
        /** At most 17 significant digits, 24 bytes, and finite; integers have 64 bits. */
        DOUBLE
    }

    /** Members that a schema does not name. */
    public enum Additional {
        ALLOW,
        /** None, where a schema names members and says nothing of others. */
        FORBID
    }

    /** The drafts of JSON Schema. */
    public enum Draft {
        DRAFT_2020_12,
        DRAFT_2019_09,
        DRAFT_7,
        DRAFT_6,
        DRAFT_4
    }

    /** Gives other documents. */
    public interface Documents {
        /** The JSON Schema with this URI, or null if there is none. */
        String find(String uri);
    }

    public Space space = Space.LOOSE;

    public Order order = Order.DECLARED;

    public Numbers numbers = Numbers.ANY;

    public Additional additional = Additional.ALLOW;

    /** Of a schema without $schema. */
    public Draft draft = Draft.DRAFT_2020_12;

    /** Ignores what cannot be enforced exactly, with a warning, instead of throwing. */
    public boolean lenient;

    /** Lets an integer be spelled 1.0. */
    public boolean integerFraction;

    /** What $ref to other documents leads to, such as a map's get; null: there are none but the drafts' meta-schemas. */
    public Documents documents;

    @Override
    int[] numbers() {
        int flags = (lenient ? 1 : 0) | (integerFraction ? 2 : 0) | 4 * numbers.ordinal() | 8 * additional.ordinal();
        return new int[] {flags, space.ordinal(), draft.ordinal(), order.ordinal()};
    }

    @Override
    String find(String uri) {
        return documents == null ? null : documents.find(uri);
    }
}
