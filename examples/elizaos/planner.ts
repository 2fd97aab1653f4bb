/**
 * elizaOS's planner in one pass. Its response skeleton is a list of spans; here it becomes one constraint, in which the
 * parameters depend on the action that the model chose. elizaOS itself needs two generations for that: one for the
 * action, a second for its parameters. Prints what comes out, and how many forward passes each way took.
 */
import { Constraint, Mode, Model, type Stream } from "eliza-inference";

/** A span of the host's response skeleton. `temperature` is that of its own sampler. */
interface Span {
  kind: "literal" | "enum" | "free-string" | "free-json" | "number" | "boolean" | "action";
  key?: string;
  value?: string;
  enumValues?: string[];
  temperature?: number;
}

/** An action, with the JSON Schema of its parameters. */
type Actions = Record<string, object>;

/** The skeleton in Lark's notation, with `%json` for what is JSON. */
function grammarOf(spans: Span[], actions: Actions): string {
  const anyOf = (parts: string[]): string => (parts.length === 1 ? parts[0]! : `(${parts.join(" | ")})`);
  const quoted = (text: string): string => JSON.stringify(text);
  const compact = { "x-guidance": { whitespace_flexible: false } };
  const json = (schema: object): string => `%json ${JSON.stringify({ ...schema, ...compact })}`;
  const parts = spans.map(({ kind, value = "", enumValues = [] }) => {
    if (kind === "literal") return quoted(value);
    if (kind === "enum") return anyOf(enumValues.map((each) => quoted(JSON.stringify(each))));
    if (kind === "free-string") return json({ type: "string", maxLength: 12 });
    if (kind === "free-json") return json({});
    if (kind === "number" || kind === "boolean") return json({ type: kind });
    // A name, and after it the parameters of that action alone.
    const names = Object.entries(actions).map(
      ([name, schema]) => `${quoted(`"${name}","parameters":`)} ${json(schema)}`,
    );
    return anyOf(names);
  });
  return `start: ${parts.join(" ")}`;
}

/** The same for one action alone in llama.cpp's notation, as elizaOS compiles it. */
function gbnfOf(parts: string[]): string {
  return `root ::= ${parts.join(" ")}
string ::= "\\"" [^"\\\\\\x00-\\x1f]{0,12} "\\""
number ::= "-"? ("0" | [1-9] [0-9]{0,3})
boolean ::= "true" | "false"`;
}

const actions: Actions = {
  SET_TIMER: object({ minutes: { type: "integer", minimum: 0, maximum: 999 } }),
  SEND_REMINDER: object({ about: { type: "string", maxLength: 12 }, urgent: { type: "boolean" } }),
  MUTE_ROOM: object({ room: { enum: ["kitchen", "office"] } }),
};

const skeleton: Span[] = [
  { kind: "literal", value: '{"action":' },
  { kind: "action", key: "action" },
  { kind: "literal", value: ',"priority":' },
  { kind: "enum", key: "priority", enumValues: ["high", "low"] },
  { kind: "literal", value: ',"thought":' },
  { kind: "free-string", key: "thought", temperature: 0.8 },
  { kind: "literal", value: "}" },
];

function object(properties: Record<string, object>): object {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

using model = new Model("tests/models/eliza-router.gguf");
const prompt = "User: set a timer for ten minutes\nAction: SET_TIMER\nJSON:";

/** Generates under one constraint; the sampler of a span acts from its key on. */
function inOnePass(stream: Stream): string {
  using constraint = Constraint.lark(model.vocabulary, grammarOf(skeleton, actions));
  stream.prefill(prompt);
  stream.setConstraint(constraint, Mode.SAMPLED);
  let text = "";
  stream.generate((_token, piece) => {
    text += piece;
    const span = skeleton.findLast(({ key }) => key && text.includes(`"${key}":`));
    stream.setSampling({ temperature: span?.temperature ?? 0 });
  });
  return text;
}

/** As elizaOS does it: a grammar for the action with free parameters, then one for the parameters of that action. */
function inTwoPasses(open: (grammar: string) => Stream): { text: string; passes: number } {
  const names = Object.keys(actions).map((name) => JSON.stringify(JSON.stringify(name)));
  using first = open(
    gbnfOf([
      '"{\\"action\\":"',
      `(${names.join(" | ")})`,
      '",\\"priority\\":"',
      '("\\"high\\"" | "\\"low\\"")',
      '",\\"thought\\":"',
      "string",
      '"}"',
    ]),
  );
  first.prefill(prompt);
  const plan = JSON.parse(first.generate());
  const rules: Record<string, string> = {
    SET_TIMER: '"{\\"minutes\\":" number "}"',
    SEND_REMINDER: '"{\\"about\\":" string ",\\"urgent\\":" boolean "}"',
    MUTE_ROOM: '"{\\"room\\":" ("\\"kitchen\\"" | "\\"office\\"") "}"',
  };
  using second = open(gbnfOf([rules[plan.action]!]));
  second.prefill(`${prompt} ${JSON.stringify(plan)}\nParameters:`);
  const parameters = JSON.parse(second.generate());
  const passes = [first, second].map(({ stats }) => stats.prefillPasses + stats.forwardPasses);
  return { text: JSON.stringify({ action: plan.action, parameters }), passes: passes[0]! + passes[1]! };
}

const two = inTwoPasses((grammar) => model.stream({ grammar, maxTokens: 120 }));
console.log(`two generations: ${two.text}, ${two.passes} passes`);
for (const draftMax of [0, 8]) {
  using stream = model.stream({ maxTokens: 120, draftMax, seed: 1 });
  const text = inOnePass(stream);
  const { prefillPasses, forwardPasses } = stream.stats;
  console.log(`one${draftMax ? ", with drafts" : ""}: ${text}, ${prefillPasses + forwardPasses} passes`);
}
