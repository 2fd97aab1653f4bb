package eliza.inference;

/** Options of {@link Constraint#jsonSchema}. */
public final class JsonSchemaOptions {
    /** Where white space may stand. */
    public enum Space {
        /** At each place none, one space, or a newline with up to 32 spaces or tabs. */
        LOOSE,
        /** Nowhere. */
        COMPACT,
        /** One space behind each comma and colon. */
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

    /** Asked now and then while a schema is compiled. */
    public interface Cancel {
        /** True to end it, with ELIZA_ERR_CANCELLED. */
        boolean ask();
    }

    public Space space = Space.LOOSE;

    public Order order = Order.DECLARED;

    /** Of a schema without $schema. */
    public Draft draft = Draft.DRAFT_2020_12;

    /** Notes what cannot be enforced exactly, and ignores it, instead of throwing. */
    public boolean lenient;

    /** Lets an integer be spelt 1.0. */
    public boolean integerFraction;

    /** What $ref to other documents leads to, such as a map's get; null: there are none but the drafts' meta-schemas. */
    public Documents documents;

    /** Memory for compiling; 0: the library's default. */
    public long bytesMax;

    /** Time for compiling; 0: no bound. */
    public long millisecondsMax;

    /** Null: never. */
    public Cancel cancel;

    /** In the order that the bridge reads. */
    int[] numbers() {
        return new int[] {
            (lenient ? 1 : 0) | (integerFraction ? 2 : 0), space.ordinal(), draft.ordinal(), order.ordinal(),
        };
    }

    Native.Answers answers() {
        final Documents find = documents;
        final Cancel asked = cancel;
        return new Native.Answers() {
            @Override
            public byte[] document(byte[] uri) {
                return find == null ? null : Native.utf8(find.find(Native.text(uri)));
            }

            @Override
            public int cancelled() {
                return asked != null && asked.ask() ? 1 : 0;
            }
        };
    }
}
