import eliza.inference.Constraint;
import eliza.inference.ElizaException;
import eliza.inference.ElizaInference;
import eliza.inference.CompileOptions;
import eliza.inference.JsonSchemaOptions;
import eliza.inference.LarkOptions;
import eliza.inference.Matcher;
import eliza.inference.Mode;
import eliza.inference.Model;
import eliza.inference.StopReason;
import eliza.inference.Stream;
import eliza.inference.StreamConfig;
import eliza.inference.TokenListener;
import eliza.inference.Vocabulary;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;

/** BridgeTest LIBLLAMA MODEL: each public method without parameters, named test..., is a test. */
public final class BridgeTest {
    private static final String PROMPT = "User: set a timer for ten minutes\nAction:";
    private static final String[] NAMES = {"REPLY", "SEND_EMAIL", "SET_TIMER", "PLAY_MUSIC"};

    private static String modelPath;

    public static void main(String[] arguments) throws Exception {
        String missing = "/nonexistent/libllama.so";
        expect("ELIZA_ERR_ABI_MISMATCH", missing, () -> ElizaInference.loadLlama(missing));
        ElizaInference.loadLlama(arguments[0]);
        modelPath = arguments[1];
        int failed = 0;
        int passed = 0;
        Method[] methods = BridgeTest.class.getMethods();
        Arrays.sort(methods, (a, b) -> a.getName().compareTo(b.getName()));
        for (Method method : methods) {
            if (!method.getName().startsWith("test")) {
                continue;
            }
            try {
                method.invoke(new BridgeTest());
                passed++;
            } catch (Exception error) {
                System.out.println("FAILED " + method.getName());
                error.printStackTrace(System.out);
                failed++;
            }
        }
        System.out.println("java: " + passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    public void testVersions() {
        check(ElizaInference.version().matches("\\d+\\.\\d+\\.\\d+"), ElizaInference.version());
        equal(15, ElizaInference.abiVersion());
    }

    public void testTextSurvivesTokensAndBack() {
        try (Model model = Model.open(modelPath)) {
            for (String text : new String[] {"", "SET_TIMER", "naïve – \uD83D\uDE00 \u0000 end", PROMPT}) {
                int[] tokens = model.tokenize(text, false, false);
                equal(text, model.detokenize(tokens, false, false).replaceFirst("^ ", ""));
            }
        }
    }

    public void testOnlyNamesComeOutOfATrie() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(spanConfig())) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setTokenTrie(json(model), Mode.GREEDY);
            StringBuilder text = new StringBuilder();
            equal(StopReason.SPAN_END, stream.generate(0, (id, part) -> {
                text.append(part);
                return true;
            }));
            equal("SET_TIMER", text.toString().trim());
            equal("SET_TIMER", stream.leaf());
        }
    }

    public void testMessagePackIsTheSameTrie() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(spanConfig())) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setTokenTrie(messagePack(model), Mode.SAMPLED);
            equal(StopReason.SPAN_END, stream.generate(0, (id, part) -> true));
            equal("SET_TIMER", stream.leaf());
        }
    }

    public void testWithoutTheTrieTheModelIsFree() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(spanConfig())) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setTokenTrie(json(model), Mode.GREEDY);
            stream.clearTokenTrie();
            equal(StopReason.MAX_TOKENS, stream.generate(3, (id, part) -> true));
            equal(null, stream.leaf());
        }
    }

    public void testAListenerEndsTheGeneration() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(new StreamConfig())) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            int[] seen = {0};
            equal(StopReason.LISTENER, stream.generate(50, (id, part) -> ++seen[0] < 2));
            equal(2, seen[0]);
        }
    }

    public void testDraftsChangeNoOutput() {
        try (Model model = Model.open(modelPath)) {
            StreamConfig config = new StreamConfig();
            config.grammar = "root ::= (\" SEND_\" (\"MESSAGE\" | \"EMAIL\") \"\\n\"){6}";
            String[] texts = {"", ""};
            for (int drafting = 0; drafting < 2; drafting++) {
                config.draftMax = 6 * drafting;
                int at = drafting;
                try (Stream stream = model.stream(config)) {
                    stream.prefill(model.tokenize(PROMPT, true, false));
                    stream.generate(0, (id, part) -> {
                        texts[at] += part;
                        return true;
                    });
                }
            }
            equal(texts[0], texts[1]);
            check(texts[0].endsWith("\n"), texts[0]);
            config.draftModel = "/absent.gguf";
            expect("ELIZA_ERR_BUNDLE_INVALID", "/absent.gguf", () -> model.stream(config));
        }
    }

    public void testWhatAListenerThrowsComesThrough() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(new StreamConfig())) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            try {
                stream.generate(50, (id, part) -> {
                    throw new IllegalArgumentException("mine");
                });
                throw new AssertionError("nothing was thrown");
            } catch (IllegalArgumentException error) {
                equal("mine", error.getMessage());
            }
            equal(StopReason.MAX_TOKENS, stream.generate(1, (id, part) -> true));
        }
    }

    public void testCancelFromAnotherThread() throws Exception {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(new StreamConfig())) {
            int[] prompt = model.tokenize(PROMPT, true, false);
            stream.prefill(prompt);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch cancelled = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                await(running);
                stream.cancel();
                cancelled.countDown();
            });
            other.start();
            equal(StopReason.CANCELLED, stream.generate(0, (id, part) -> {
                running.countDown();
                await(cancelled);
                return true;
            }));
            other.join();
            expect("ELIZA_ERR_CANCELLED", "", () -> stream.prefill(prompt));
            stream.reset();
            stream.prefill(prompt);
            equal(StopReason.MAX_TOKENS, stream.generate(1, (id, part) -> true));
        }
    }

    public void testCloseFromAnotherThreadWaitsForTheGeneration() throws Exception {
        Model model = Model.open(modelPath);
        Stream stream = model.stream(new StreamConfig());
        stream.prefill(model.tokenize(PROMPT, true, false));
        model.close();
        CountDownLatch running = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            await(running);
            stream.close();
        });
        other.start();
        StopReason reason = stream.generate(0, (id, part) -> {
            running.countDown();
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.yield(); // it has cancelled, and waits for this generation
            }
            return true;
        });
        equal(StopReason.CANCELLED, reason);
        other.join();
        expect("ELIZA_ERR_CLOSED", "closed", stream::leaf);
    }

    public void testAListenerMayClose() {
        try (Model model = Model.open(modelPath)) {
            Stream stream = model.stream(new StreamConfig());
            stream.prefill(model.tokenize(PROMPT, true, false));
            equal(StopReason.CANCELLED, stream.generate(0, (id, part) -> {
                stream.close();
                return true;
            }));
            expect("ELIZA_ERR_CLOSED", "closed", () -> stream.prefill(new int[] {1}));
        }
    }

    public void testHandlesAreFreedOnce() {
        Model model = Model.open(modelPath);
        Stream stream = model.stream(new StreamConfig());
        for (int i = 0; i < 3; i++) {
            stream.close();
            stream.cancel();
            model.close();
        }
        expect("ELIZA_ERR_CLOSED", "closed", () -> model.tokenize("x", false, false));
        expect("ELIZA_ERR_CLOSED", "closed", () -> stream.clearTokenTrie());
        expect("ELIZA_ERR_CLOSED", "closed", () -> model.stream(new StreamConfig()));
    }

    /** More calls and tokens than local references that a native method may hold. */
    public void testManyStreamsAndTokens() {
        try (Model model = Model.open(modelPath)) {
            int[] prompt = model.tokenize(PROMPT, true, false);
            byte[] payload = messagePack(model);
            for (int i = 0; i < 40; i++) {
                try (Stream stream = model.stream(spanConfig())) {
                    stream.prefill(prompt);
                    stream.setTokenTrie(payload, Mode.GREEDY);
                    equal(StopReason.SPAN_END, stream.generate(0, (id, part) -> true));
                }
            }
            StreamConfig config = new StreamConfig();
            config.temperature = 4;
            config.seed = 7;
            try (Stream stream = model.stream(config)) {
                stream.prefill(prompt);
                int[] seen = {0};
                for (int i = 0; i < 100 && seen[0] < 100; i++) {
                    stream.generate(100, (id, part) -> {
                        seen[0]++;
                        return true;
                    });
                    stream.prefill(new int[] {prompt[prompt.length - 1]});
                }
                check(seen[0] >= 100, "tokens: " + seen[0]);
            }
        }
    }

    private static final String SCHEMA = "{\"type\":\"object\",\"properties\":{\"name\":{\"enum\":[\"SET_TIMER\",\"é\"]},"
            + "\"minutes\":{\"$ref\":\"http://h/minutes\"}},\"required\":[\"name\",\"minutes\"],\"additionalProperties\":false}";

    private static JsonSchemaOptions compact() {
        JsonSchemaOptions options = new JsonSchemaOptions();
        options.space = JsonSchemaOptions.Space.COMPACT;
        options.documents = Collections.singletonMap("http://h/minutes", "{\"type\":\"integer\",\"enum\":[10,20]}")::get;
        return options;
    }

    public void testOnlyDocumentsOfASchemaComeOut() {
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(new StreamConfig())) {
            Constraint constraint = Constraint.jsonSchema(model.vocabulary(), SCHEMA, compact());
            for (Mode mode : Mode.values()) {
                stream.reset();
                stream.prefill(model.tokenize(PROMPT, true, false));
                stream.setConstraint(constraint, mode);
                StringBuilder text = new StringBuilder();
                equal(StopReason.END_OF_GENERATION, stream.generate(0, (id, part) -> {
                    text.append(part);
                    return true;
                }));
                check(text.toString().matches("\\{\"name\":\"(SET_TIMER|é)\",\"minutes\":[12]0\\}"), text.toString());
            }
            stream.reset();
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setConstraint(constraint, Mode.GREEDY);
            constraint.close();
            stream.clearConstraint();
            StringBuilder free = new StringBuilder();
            stream.generate(0, (id, part) -> {
                free.append(part);
                return true;
            });
            equal("SET_TIMER", free.toString().trim());
        }
    }

    public void testTextIsFreeButForTheParts() {
        String tags = "{\"tags\":[{\"begin\":\" \",\"choices\":[\"SET_TIMER\",\"NONE\"],\"end\":\"!\"}],"
                + "\"at_least\":1,\"stop_after_first\":true}";
        try (Model model = Model.open(modelPath);
                Stream stream = model.stream(new StreamConfig());
                Constraint constraint = Constraint.tags(model.vocabulary(), utf8(tags))) {
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setConstraint(constraint, Mode.GREEDY);
            StringBuilder text = new StringBuilder();
            equal(StopReason.END_OF_GENERATION, stream.generate(64, (id, part) -> {
                text.append(part);
                return true;
            }));
            check(text.toString().matches("[^ ]* (SET_TIMER|NONE)!"), text.toString());
            expect("ELIZA_ERR_GRAMMAR", "tags[0]: no part is given: json_schema, regex, lark, gbnf, ebnf or choices",
                    () -> Constraint.tags(model.vocabulary(), utf8("{\"tags\":[{\"begin\":\"<\"}]}")));
        }
    }

    public void testTheOptionsOfASchema() {
        try (Model model = Model.open(modelPath)) {
            JsonSchemaOptions options = new JsonSchemaOptions();
            options.draft = JsonSchemaOptions.Draft.DRAFT_4;
            options.order = JsonSchemaOptions.Order.ANY;
            options.lenient = true;
            options.integerFraction = true;
            String schema = "{\"const\":false,\"pattern\":\"(a)\\\\1\",\"format\":\"colour\"}";
            try (Constraint constraint = Constraint.jsonSchema(model.vocabulary(), schema, options)) {
                equal(3, constraint.warnings().split("\n").length);
                check(constraint.warnings().contains("at #/const: draft 4 has no such keyword"), constraint.warnings());
                check(constraint.warnings().contains("at #/pattern: "), constraint.warnings());
            }
            String newer = "{\"pattern\":\"(a)\\\\1\"}";
            expect("ELIZA_ERR_GRAMMAR", "at #/pattern: ", () -> Constraint.jsonSchema(model.vocabulary(), newer));
            expect("ELIZA_ERR_GRAMMAR", "there is no", () -> Constraint.jsonSchema(model.vocabulary(), SCHEMA));
            options.bytesMax = 1;
            expect("ELIZA_ERR_LIMIT", "bytes", () -> Constraint.jsonSchema(model.vocabulary(), SCHEMA, options));
            options.bytesMax = 0;
            options.cancel = () -> true;
            expect("ELIZA_ERR_CANCELLED", "", () -> Constraint.jsonSchema(model.vocabulary(), SCHEMA, options));
            options.cancel = () -> false;
            Constraint.jsonSchema(model.vocabulary(), "{}", options).close();
        }
    }

    public void testWhatAFunctionOfASchemaThrowsComesThrough() {
        try (Model model = Model.open(modelPath)) {
            JsonSchemaOptions options = compact();
            options.documents = uri -> {
                throw new IllegalStateException(uri);
            };
            expectThrown("http://h/minutes", () -> Constraint.jsonSchema(model.vocabulary(), SCHEMA, options));
            options.documents = null;
            options.cancel = () -> {
                throw new IllegalStateException("mine");
            };
            expectThrown("mine", () -> Constraint.jsonSchema(model.vocabulary(), SCHEMA, options));
            Constraint closed = Constraint.jsonSchema(model.vocabulary(), SCHEMA, compact());
            closed.close();
            closed.close();
            expect("ELIZA_ERR_CLOSED", "closed", closed::warnings);
        }
    }

    private static void expectThrown(String message, Runnable call) {
        try {
            call.run();
        } catch (IllegalStateException error) {
            equal(message, error.getMessage());
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    // ---- Vocabularies and matchers, without a model ----------------------------------------------------------------

    private static final String[] TOKENS = {"a", "b", "ab", "c", "", "1", "[", "]", "é"};
    private static final int END = 4;

    private static Vocabulary small() {
        byte[][] bytes = new byte[TOKENS.length][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = TOKENS[i].getBytes(StandardCharsets.UTF_8);
        }
        byte[] flags = new byte[bytes.length];
        flags[END] = Vocabulary.SPECIAL | Vocabulary.END_OF_GENERATION;
        return Vocabulary.of(bytes, flags);
    }

    public void testAVocabularyIsItsTokens() throws Exception {
        Path file = Files.createTempFile("vocabulary", ".bin");
        try (Vocabulary made = small()) {
            made.save(file.toString());
            try (Vocabulary opened = Vocabulary.open(file.toString())) {
                for (Vocabulary vocabulary : new Vocabulary[] {made, opened}) {
                    equal(TOKENS.length, vocabulary.size());
                    equal("ab", new String(vocabulary.token(2), StandardCharsets.UTF_8));
                    equal("é", new String(vocabulary.token(8), StandardCharsets.UTF_8));
                    expect("ELIZA_ERR_INVALID_ARG", "no such token", () -> vocabulary.token(TOKENS.length));
                }
            }
            expect("ELIZA_ERR_IO", "/nonexistent", () -> Vocabulary.open("/nonexistent/vocabulary.bin"));
        } finally {
            Files.delete(file);
        }
        Vocabulary closed = small();
        closed.close();
        closed.close();
        expect("ELIZA_ERR_CLOSED", "closed", closed::size);
        expect("ELIZA_ERR_CLOSED", "closed", () -> Constraint.regex(closed, "a"));
    }

    public void testEachKindOfConstraintAllowsWhatItSays() {
        CompileOptions options = new CompileOptions();
        LarkOptions lark = new LarkOptions();
        lark.start = "first";
        lark.grammars = Collections.singletonMap("mine", "A: \"a\"")::get;
        byte[] payload = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[{\"name\":\"ab\",\"tokens\":[0,1]}]}]}"
                .getBytes(StandardCharsets.UTF_8);
        byte[] tags = utf8("{\"at_least\":1,\"tags\":[{\"begin\":\"[\",\"regex\":\"1\",\"end\":\"]\"}]}");
        try (Vocabulary vocabulary = small()) {
            allows("[0]", Constraint.tokenTrie(vocabulary, payload));
            allows("[0, 2, 8]", Constraint.choices(vocabulary, Arrays.asList("ab", "é")));
            allows("[2]", Constraint.choices(vocabulary, Collections.singletonList("ab"), true, options));
            allows("[0, 2, 3]", Constraint.regex(vocabulary, "ab?|c"));
            allows("[0]", Constraint.lark(vocabulary, "start: \"a\""));
            allows("[0, 3]", Constraint.lark(vocabulary, "%import .mine.A\nfirst: A | \"c\"", lark));
            allows("[0, 2]", Constraint.gbnf(vocabulary, "root ::= \"a\" \"b\""));
            allows("[3]", Constraint.gbnf(vocabulary, "root ::= \"a\"\nother ::= \"c\"", "other", options));
            allows("[3, 6]", Constraint.ebnf(vocabulary, "root ::= Regex(\"c|\\\\[\")", null, options));
            allows("[5, 6]", Constraint.jsonSchema(vocabulary, "{\"enum\":[1, [1]]}"));
            try (Constraint constraint = Constraint.tags(vocabulary, tags); Matcher matcher = new Matcher(constraint)) {
                matcher.accept(6);
                equal("[5]", Arrays.toString(matcher.allowed()));
            }
        }
    }

    private static void allows(String tokens, Constraint constraint) {
        try (Matcher matcher = new Matcher(constraint)) {
            constraint.close();
            equal(tokens, Arrays.toString(matcher.allowed()));
        }
    }

    public void testASearchWithinItsTime() throws Exception {
        StringBuilder doubled = new StringBuilder("start: r0\n");
        for (int i = 0; i < 16; i++) doubled.append("r" + i + ": r" + (i + 1) + " r" + (i + 1) + "\n");
        LarkOptions options = new LarkOptions();
        options.maskMillisecondsMax = 1;
        Path file = Files.createTempFile("constraint", ".bin");
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.lark(vocabulary, doubled + "r16: \"a\"\n", options)) {
            constraint.save(file.toString());
            takesTooLong(constraint);
            takesTooLong(Constraint.open(vocabulary, file.toString(), options));
        } finally {
            Files.delete(file);
        }
    }

    private static void takesTooLong(Constraint constraint) {
        try (Matcher matcher = new Matcher(constraint)) {
            expect("ELIZA_ERR_LIMIT", "mask_ms_max", matcher::forced);
        }
    }

    public void testASavedConstraintIsTheSame() throws Exception {
        Path file = Files.createTempFile("constraint", ".bin");
        try (Vocabulary vocabulary = small(); Constraint constraint = Constraint.regex(vocabulary, "[ab]+c")) {
            constraint.save(file.toString());
            allows("[0, 1, 2]", Constraint.open(vocabulary, file.toString()));
        } finally {
            Files.delete(file);
        }
    }

    public void testAMatcherFollowsATextAndBack() {
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.regex(vocabulary, "abc|b");
                Matcher matcher = new Matcher(constraint)) {
            equal(Matcher.REFUSED, matcher.accept(3));
            equal(Matcher.IN_SPAN, matcher.accept(2));
            equal(false, matcher.canStop());
            equal("c", new String(matcher.forcedBytes(), StandardCharsets.UTF_8));
            equal("[3]", Arrays.toString(matcher.forced()));
            try (Matcher copy = matcher.copy()) {
                equal(Matcher.IN_SPAN, copy.accept(3));
                equal(true, copy.canStop());
                equal(Matcher.IN_SPAN | Matcher.SPAN_ENDED, copy.accept(END));
                equal(null, copy.allowed());
                copy.activate("");
                equal("[0, 1, 2]", Arrays.toString(copy.allowed()));
                copy.deactivate();
                equal(null, copy.allowed());
            }
            equal("[3]", Arrays.toString(matcher.allowed()));
            matcher.rollback(1);
            equal("[0, 1, 2]", Arrays.toString(matcher.allowed()));
            expect("ELIZA_ERR_INVALID_ARG", "", () -> matcher.rollback(1));
            expect("ELIZA_ERR_INVALID_ARG", "", () -> matcher.rollback(-1));
            expect("ELIZA_ERR_INVALID_ARG", "", () -> matcher.accept(TOKENS.length));
            matcher.accept(1);
            matcher.reset();
            equal("[0, 1, 2]", Arrays.toString(matcher.allowed()));
            Matcher closed = matcher.copy();
            closed.close();
            closed.close();
            expect("ELIZA_ERR_CLOSED", "closed", closed::allowed);
        }
    }

    public void testThreadsThatShareAMatcherTakeTurns() throws Exception {
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.regex(vocabulary, "[abc]*")) {
            Matcher matcher = new Matcher(constraint);
            Runnable use = () -> {
                for (int i = 0; i < 5000; i++) {
                    matcher.accept(matcher.sample(new float[TOKENS.length]));
                    equal(true, matcher.canStop());
                    matcher.fillBitmap(new int[1]);
                }
            };
            runBoth(use, use);
            matcher.reset();
            CountDownLatch running = new CountDownLatch(1);
            runBoth(() -> {
                try {
                    while (true) {
                        matcher.fillBitmap(new int[1]);
                        running.countDown();
                    }
                } catch (ElizaException error) {
                    equal("ELIZA_ERR_CLOSED", error.statusName());
                }
            }, () -> {
                await(running);
                matcher.close();
            });
        }
    }

    public void testCloseFromAnotherThreadWaitsForACompile() throws Exception {
        Vocabulary vocabulary = small();
        CountDownLatch running = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            await(running);
            vocabulary.close();
        });
        other.start();
        JsonSchemaOptions options = new JsonSchemaOptions();
        options.documents = uri -> {
            running.countDown();
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.yield(); // it waits for this compile
            }
            return "{}";
        };
        try (Constraint constraint = Constraint.jsonSchema(vocabulary, "{\"$ref\":\"http://h/any\"}", options)) {
            other.join();
            expect("ELIZA_ERR_CLOSED", "closed", vocabulary::size);
            new Matcher(constraint).close();
        }
    }

    /** Runs both at once; what one of them throws is thrown here. */
    private static void runBoth(Runnable one, Runnable other) throws Exception {
        Throwable[] thrown = new Throwable[1];
        Thread thread = new Thread(other);
        thread.setUncaughtExceptionHandler((where, error) -> thrown[0] = error);
        thread.start();
        one.run();
        thread.join();
        if (thrown[0] != null) {
            throw new AssertionError(thrown[0]);
        }
    }

    public void testLogitsAreMaskedAndChosenFrom() {
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.regex(vocabulary, "[bc]1");
                Matcher matcher = new Matcher(constraint)) {
            int[] words = {-1, -1};
            matcher.fillBitmap(words);
            equal("[10, 0]", Arrays.toString(words));
            float[] logits = {9, 1, 8, 2, 7, 6, 5, 4, 3};
            equal(3, matcher.sample(logits));
            int[] drawn = new int[TOKENS.length];
            matcher.setSeed(7);
            for (int i = 0; i < 1000; i++) {
                drawn[matcher.sample(logits, Mode.SAMPLED, 1, 1)]++;
            }
            equal(1000, drawn[1] + drawn[3]);
            check(drawn[1] > 200 && drawn[1] < 340, "e to the power of -1 to 1: " + drawn[1]);
            float none = Float.NEGATIVE_INFINITY;
            matcher.maskLogits(logits);
            equal(Arrays.toString(new float[] {none, 1, none, 2, none, none, none, none, none}), Arrays.toString(logits));
            expect("ELIZA_ERR_INVALID_ARG", "", () -> matcher.fillBitmap(new int[0]));
        }
    }

    public void testSpansOfATokenTrie() {
        byte[] payload = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[{\"name\":\"ab\",\"tokens\":[0,1]}]}]}"
                .getBytes(StandardCharsets.UTF_8);
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.tokenTrie(vocabulary, payload);
                Matcher matcher = new Matcher(constraint, 1, null)) {
            equal(Matcher.IN_SPAN | Matcher.SPAN_ENDED | Matcher.TIMED_OUT, matcher.accept(0));
        } catch (ElizaException error) {
            equal("ELIZA_ERR_LIMIT", error.statusName()); // a leaf has more tokens than the timeout
        }
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.tokenTrie(vocabulary, payload);
                Matcher matcher = new Matcher(constraint)) {
            equal(null, matcher.leaf());
            matcher.accept(0);
            matcher.accept(1);
            equal("ab", matcher.leaf());
            matcher.activate("p");
            equal("[0]", Arrays.toString(matcher.allowed()));
        }
        try (Vocabulary vocabulary = small();
                Constraint constraint = Constraint.regex(vocabulary, "a");
                Matcher matcher = new Matcher(constraint, 0, new int[] {3})) {
            matcher.accept(0);
            equal("[3]", Arrays.toString(matcher.allowed()));
            equal(Matcher.IN_SPAN | Matcher.SPAN_ENDED, matcher.accept(3));
        }
    }

    public void testAFunctionOfACompileCannotCloseItsVocabulary() {
        Vocabulary vocabulary = small();
        JsonSchemaOptions options = new JsonSchemaOptions();
        options.documents = uri -> {
            vocabulary.close();
            return "{}";
        };
        String schema = "{\"$ref\":\"http://h/any\"}";
        expectThrown("a constraint is being compiled", () -> Constraint.jsonSchema(vocabulary, schema, options));
        options.documents = uri -> {
            Constraint.regex(vocabulary, "a").close();
            return "{}";
        };
        Constraint.jsonSchema(vocabulary, schema, options).close();
        vocabulary.close();
    }

    public void testErrorsSayWhatAndWhereAndLeaveTheStreamUsable() {
        expect("ELIZA_ERR_BUNDLE_INVALID", "/nonexistent/model.gguf", () -> Model.open("/nonexistent/model.gguf"));
        try (Model model = Model.open(modelPath, "shipped");
                Stream stream = model.stream(spanConfig())) {
            expect("ELIZA_ERR_PAYLOAD", "descriptors", () -> stream.setTokenTrie("{\"modelId\":\"\"}", Mode.GREEDY));
            expect("ELIZA_ERR_PAYLOAD", "", () -> stream.setTokenTrie(new byte[0], Mode.GREEDY));
            String other = json(model).replace("\"modelId\":\"\"", "\"modelId\":\"other\"");
            expect("ELIZA_ERR_MODEL_MISMATCH", "other", () -> stream.setTokenTrie(other, Mode.GREEDY));
            expect("ELIZA_ERR_STATE", "", () -> stream.activate("action"));
            expect("ELIZA_ERR_STATE", "", () -> stream.generate(1, (id, part) -> true));
            expect("ELIZA_ERR_INVALID_ARG", "", () -> stream.prefill(new int[] {-1}));
            expect("ELIZA_ERR_CONTEXT_FULL", "", () -> stream.prefill(new int[100000]));
            StreamConfig wrong = new StreamConfig();
            wrong.cacheTypeK = "q7";
            expect("ELIZA_ERR_INVALID_ARG", "q7", () -> model.stream(wrong));
            wrong.cacheTypeK = null;
            wrong.grammar = "not a grammar";
            expect("ELIZA_ERR_INVALID_ARG", "", () -> model.stream(wrong));
            stream.prefill(model.tokenize(PROMPT, true, false));
            stream.setTokenTrie(json(model), Mode.GREEDY);
            equal(StopReason.SPAN_END, stream.generate(0, (id, part) -> {
                expect("ELIZA_ERR_BUSY", "", stream::reset);
                return true;
            }));
            equal("SET_TIMER", stream.leaf());
        }
    }

    // ---- Payloads --------------------------------------------------------------------------------------------------

    private static StreamConfig spanConfig() {
        StreamConfig config = new StreamConfig();
        config.stopAtSpanEnd = true;
        return config;
    }

    private static int[] tokensOf(Model model, String name) {
        return model.tokenize(" " + name, false, false);
    }

    private static String json(Model model) {
        StringBuilder text = new StringBuilder("{\"modelId\":\"\",\"descriptors\":[{\"path\":\"action\",\"leaves\":[");
        String comma = "";
        for (String name : NAMES) {
            text.append(comma).append("{\"name\":\"").append(name).append("\",\"tokens\":");
            text.append(Arrays.toString(tokensOf(model, name))).append('}');
            comma = ",";
        }
        return text.append("]}]}").toString();
    }

    private static byte[] messagePack(Model model) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(0x82);
        packText(bytes, "modelId");
        packText(bytes, "");
        packText(bytes, "descriptors");
        bytes.write(0x91);
        bytes.write(0x82);
        packText(bytes, "path");
        packText(bytes, "action");
        packText(bytes, "leaves");
        bytes.write(0x90 | NAMES.length);
        for (String name : NAMES) {
            int[] tokens = tokensOf(model, name);
            bytes.write(0x82);
            packText(bytes, "name");
            packText(bytes, name);
            packText(bytes, "tokens");
            bytes.write(0x90 | tokens.length);
            for (int token : tokens) {
                bytes.write(0xcd);
                bytes.write(token >> 8);
                bytes.write(token);
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void packText(ByteArrayOutputStream bytes, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        bytes.write(0xa0 | utf8.length);
        bytes.write(utf8, 0, utf8.length);
    }

    // ---- Checks ----------------------------------------------------------------------------------------------------

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }

    private static void equal(Object expected, Object actual) {
        check(expected == null ? actual == null : expected.equals(actual), "expected " + expected + ", got " + actual);
    }

    private static void expect(String status, String in, Runnable call) {
        try {
            call.run();
        } catch (ElizaException error) {
            equal(status, error.statusName());
            check(error.getMessage().contains(in), "no \"" + in + "\" in: " + error.getMessage());
            return;
        }
        throw new AssertionError("no " + status);
    }
}
