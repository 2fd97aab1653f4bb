/** Formats that Zod writes into schemas, without the patterns beside them, against Zod itself. */
import { expect, test } from "bun:test";
import { z } from "zod";
import { Constraint, Matcher, Step, TokenFlag, Vocabulary } from "../src";

const END = 256;
const tokenBytes = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), Buffer.from("<end>")];
const flags = tokenBytes.map((_, token) => (token === END ? TokenFlag.END_OF_GENERATION : 0));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

const uuid = "2eb8aa08-aa98-41ea-b4aa-73b441d16380";
const FORMATS: [z.ZodType, string[]][] = [
  [z.guid(), [uuid]],
  [z.nanoid(), ["V1StGXR8_Z5jdHi6B-myT"]],
  [z.cuid(), ["cjld2cyuq0000t3rmniod1foy"]],
  [z.cuid2(), ["tz4a98xxat96iws9zmbrgj3a"]],
  [z.ulid(), ["01ARZ3NDEKTSV4RRFFQ69G5FAV"]],
  [z.xid(), ["9m4e2mr0ui3e8a215n4g"]],
  [z.ksuid(), ["0ujtsYcgvSTl8PAuAdqWYSMnLOv"]],
  [z.ipv4(), ["127.0.0.1"]],
  [z.cidrv4(), ["10.0.0.1/8", "0.0.0.0/32"]],
  [z.cidrv6(), ["::1/0", "2001:db8::/32"]],
  [z.mac(), ["00:1a:2b:3c:4d:5e"]],
  [z.base64(), ["", "QQ==", "QUE=", "QUFB"]],
  [z.e164(), ["+4912345678"]],
  [z.emoji(), ["\u{1f600}", "1\u{fe0f}\u{20e3}", "\u{1f468}\u{200d}\u{1f469}"]],
  [z.hex(), ["", "0aF"]],
  [z.hash("md5"), ["d41d8cd98f00b204e9800998ecf8427e"]],
  [z.hash("sha1", { enc: "base64" }), ["2jmj7l5rSw0yVb/vlWAYkK/YBwk="]],
  [z.hash("sha256", { enc: "base64url" }), ["47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"]],
  [z.creditCard(), ["4111 1111 1111 1111"]],
  [z.iban(), ["DE89370400440532013000"]],
];

function takes(constraint: Constraint, text: string): boolean {
  using matcher = new Matcher(constraint);
  for (const byte of Buffer.from(JSON.stringify(text))) if (matcher.accept(byte) !== Step.IN_SPAN) return false;
  return matcher.canStop;
}

/** The text with one character left out, doubled, or another. */
function* changed(text: string): Generator<string> {
  const characters = [...text];
  for (let i = 0; i < characters.length; i++) {
    for (const instead of ["", characters[i]?.repeat(2) ?? "", "g", "Z", "0", "9", "-", "/", "=", " ", "."]) {
      yield characters.with(i, instead).join("");
    }
  }
}

test.each(FORMATS.map(([schema, texts]) => [z.toJSONSchema(schema).format ?? "", schema, texts] as const))(
  "%s",
  (format, schema, texts) => {
    using constraint = Constraint.jsonSchema(vocabulary, { type: "string", format });
    expect(constraint.warnings).toEqual([]);
    const own = z.toJSONSchema(schema).pattern;
    for (const text of texts.flatMap((one) => [one, ...changed(one)])) {
      const expected = own === undefined ? schema.safeParse(text).success : new RegExp(own, "u").test(text);
      expect([text, takes(constraint, text)]).toEqual([text, expected]);
    }
  },
);

test("a token of JSON has three parts", () => {
  using constraint = Constraint.jsonSchema(vocabulary, z.toJSONSchema(z.jwt()));
  expect(takes(constraint, "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhIjoxfQ.c2ln")).toBe(true);
  expect(takes(constraint, "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhIjoxfQ")).toBe(false);
});
