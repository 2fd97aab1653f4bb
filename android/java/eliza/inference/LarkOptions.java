package eliza.inference;

/** Options of {@link Constraint#lark}. */
public final class LarkOptions extends CompileOptions {
    /** Gives grammars and schemas that a grammar names. */
    public interface Grammars {
        /**
         * What {@code %import a.b.RULE} names {@code a.b}, {@code @name} names {@code name}, and a reference of a schema its
         * URI; null if there is none.
         */
        String find(String name);
    }

    /** The rule that a text is of; null: "start". */
    public String start;

    /** Such as a map's get; null: there are none but {@code common}. */
    public Grammars grammars;

    @Override
    String find(String name) {
        return grammars == null ? null : grammars.find(name);
    }
}
