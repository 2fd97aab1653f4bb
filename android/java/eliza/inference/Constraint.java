package eliza.inference;

import java.util.List;
import java.util.Objects;

/**
 * What an output may be, compiled for a vocabulary. Any number of matchers and of streams of its model share it, and keep
 * what they need, so that it may be closed at any time. What a function of the options throws is thrown by the method
 * that takes them; an {@link ElizaException} says what is wrong with a source, and where.
 */
public final class Constraint implements AutoCloseable {
    // The sources that the bridge knows.
    private static final int TOKEN_TRIE = 0;
    private static final int CHOICES = 1;
    private static final int CANONICAL_CHOICES = 2;
    private static final int REGEX = 3;
    private static final int LARK = 4;
    private static final int GBNF = 5;
    private static final int EBNF = 6;
    private static final int JSON_SCHEMA = 7;
    private static final int TAGS = 8;
    private static final int FILE = 9;

    private long handle;

    private Constraint(long handle) {
        this.handle = handle;
    }

    /** Allows the names of a payload; see eliza_inference.h for its form. JSON in UTF-8, or MessagePack. */
    public static Constraint tokenTrie(Vocabulary vocabulary, byte[] payload) {
        return compile(vocabulary, TOKEN_TRIE, Objects.requireNonNull(payload), null, new CompileOptions());
    }

    /** Allows any of these texts, in any tokens that spell it. */
    public static Constraint choices(Vocabulary vocabulary, List<String> choices) {
        return choices(vocabulary, choices, false, new CompileOptions());
    }

    /** As above; if {@code canonical}, only as the vocabulary's tokenizer tokenizes them. */
    public static Constraint choices(
            Vocabulary vocabulary, List<String> choices, boolean canonical, CompileOptions options) {
        byte[][] texts = new byte[choices.size()][];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = Native.utf8(Objects.requireNonNull(choices.get(i)));
        }
        Joined joined = new Joined(texts);
        int source = canonical ? CANONICAL_CHOICES : CHOICES;
        return new Constraint(vocabulary.compile(source, joined.bytes, null, joined.lengths, options));
    }

    /** Allows what a regular expression matches as a whole; eliza_inference.h describes the notation. */
    public static Constraint regex(Vocabulary vocabulary, String pattern) {
        return regex(vocabulary, pattern, new CompileOptions());
    }

    /** As above. */
    public static Constraint regex(Vocabulary vocabulary, String pattern, CompileOptions options) {
        return compile(vocabulary, REGEX, Native.utf8(Objects.requireNonNull(pattern)), null, options);
    }

    /** Allows a text of a grammar in Lark's notation; docs/reference/grammars.md describes it. */
    public static Constraint lark(Vocabulary vocabulary, String grammar) {
        return lark(vocabulary, grammar, new LarkOptions());
    }

    /** As above. */
    public static Constraint lark(Vocabulary vocabulary, String grammar, LarkOptions options) {
        byte[] text = Native.utf8(Objects.requireNonNull(grammar));
        return compile(vocabulary, LARK, text, Native.utf8(options.start), options);
    }

    /** Allows a text of a grammar in GBNF, llama.cpp's notation, with a rule "root"; docs/reference/gbnf.md describes it. */
    public static Constraint gbnf(Vocabulary vocabulary, String grammar) {
        return gbnf(vocabulary, grammar, null, new CompileOptions());
    }

    /** As above; {@code root} names the rule that a text is of, null: "root". */
    public static Constraint gbnf(Vocabulary vocabulary, String grammar, String root, CompileOptions options) {
        return compile(vocabulary, GBNF, Native.utf8(Objects.requireNonNull(grammar)), Native.utf8(root), options);
    }

    /** Allows a text of a grammar in XGrammar's EBNF; {@code root} names the rule that a text is of, null: "root". */
    public static Constraint ebnf(Vocabulary vocabulary, String grammar, String root, CompileOptions options) {
        return compile(vocabulary, EBNF, Native.utf8(Objects.requireNonNull(grammar)), Native.utf8(root), options);
    }

    /** Allows a JSON document that is valid against a JSON Schema, with all options as they are by default. */
    public static Constraint jsonSchema(Vocabulary vocabulary, String schema) {
        return jsonSchema(vocabulary, schema, new JsonSchemaOptions());
    }

    /** As above; docs/reference/json-schema.md says for each keyword what is done. Messages begin with the JSON Pointer of the place. */
    public static Constraint jsonSchema(Vocabulary vocabulary, String schema, JsonSchemaOptions options) {
        return compile(vocabulary, JSON_SCHEMA, Native.utf8(Objects.requireNonNull(schema)), null, options);
    }

    /**
     * Allows free text with parts in it, such as tool calls; docs/reference/tags.md describes the descriptor: JSON in UTF-8,
     * or MessagePack.
     */
    public static Constraint tags(Vocabulary vocabulary, byte[] descriptor) {
        return tags(vocabulary, descriptor, new CompileOptions());
    }

    /** As above. */
    public static Constraint tags(Vocabulary vocabulary, byte[] descriptor, CompileOptions options) {
        return compile(vocabulary, TAGS, Objects.requireNonNull(descriptor), null, options);
    }

    /** Opens a file that {@link #save} wrote, for a vocabulary with the same tokens. It must not change while it is used. */
    public static Constraint open(Vocabulary vocabulary, String path) {
        return open(vocabulary, path, new CompileOptions());
    }

    /** As above, within the options' limits. */
    public static Constraint open(Vocabulary vocabulary, String path, CompileOptions options) {
        return compile(vocabulary, FILE, Native.utf8(Objects.requireNonNull(path)), null, options);
    }

    /** Writes a file for {@link #open}. Token tries are not saved: their payloads are. */
    public synchronized void save(String path) {
        Native.constraintSave(handle(), Native.utf8(Objects.requireNonNull(path)));
    }

    /** What compiling found that is not enforced, or seldom meant; a line each. */
    public synchronized String warnings() {
        return Native.text(Native.constraintWarnings(handle()));
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

    synchronized long matcher(int spanTimeout, int[] end) {
        return Native.matcherCreate(handle(), spanTimeout, end);
    }

    private static Constraint compile(
            Vocabulary vocabulary, int source, byte[] text, byte[] name, CompileOptions options) {
        return new Constraint(vocabulary.compile(source, text, name, options.numbers(), options));
    }

    private long handle() {
        if (handle == 0) {
            throw new ElizaException(ElizaException.CLOSED, "the constraint is closed");
        }
        return handle;
    }
}
