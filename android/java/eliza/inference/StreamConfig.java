package eliza.inference;

/** Settings of a {@link Stream}. */
public final class StreamConfig {
    /** Tokens to emit; 0: no bound. */
    public int maxTokens;

    /** 0 or less: greedy. */
    public float temperature;

    /** 1 or more, or 0 or less: off. */
    public float topP = 1;

    /** 0 or less: off. */
    public int topK;

    /** Over the last 64 tokens; 1, or 0 or less: off. */
    public float repeatPenalty = 1;

    /** Tokens; 0: what the model was trained with. */
    public int contextSize;

    /** Layers on the GPU; 0: none, all on the CPU; negative: as the model was loaded. */
    public int gpuLayers = -1;

    /** Never samples a thinking tag. */
    public boolean disableThinking;

    /** A llama.cpp grammar with a rule "root"; null: none. */
    public String grammar;

    /** Such as "f16", "q8_0"; null: f16. */
    public String cacheTypeK;

    /** Such as "f16", "q8_0"; null: f16. */
    public String cacheTypeV;

    /** The most tokens of a draft, up to 64; 0: no drafts. A draft saves passes, and changes no output. */
    public int draftMax;

    /** Drafts with fewer tokens are not tried. */
    public int draftMin = 1;

    /** The GGUF file of a smaller model with the same vocabulary, which drafts; null: prompt lookup. */
    public String draftModel;

    /** Of the random draws. */
    public long seed;

    /** From the first step after a prefill; 0: none. */
    public long timeBudgetMilliseconds;

    /** Ends the generation with the name that a token trie gives. */
    public boolean stopAtSpanEnd;

    /** In the order that the bridge reads. */
    int[] numbers() {
        return new int[] {
            maxTokens,
            Float.floatToRawIntBits(temperature),
            Float.floatToRawIntBits(topP),
            topK,
            Float.floatToRawIntBits(repeatPenalty),
            contextSize,
            gpuLayers,
            disableThinking ? 1 : 0,
            draftMin,
            draftMax,
        };
    }

    /** In the order that the bridge reads. */
    byte[][] strings() {
        return new byte[][] {
            Native.utf8(grammar), Native.utf8(cacheTypeK), Native.utf8(cacheTypeV), Native.utf8(draftModel),
        };
    }
}
