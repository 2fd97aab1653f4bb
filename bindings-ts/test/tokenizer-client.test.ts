import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Model, TokenizerClient } from "../src";
import { libraryWithLlama, modelPath } from "./support";

const model = new Model(modelPath, { library: libraryWithLlama() });
const requests: { path: string; body: unknown }[] = [];

/** Answers as llama-server does, with the model's own tokenizer. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/tokenize": {
      POST: async (request) => {
        const body = (await request.json()) as { content: string; add_special?: boolean; with_pieces?: boolean };
        requests.push({ path: new URL(request.url).pathname, body });
        return Response.json({ tokens: model.tokenize(body.content, { addSpecial: body.add_special }) });
      },
    },
    "/broken/tokenize": () => new Response("no slot", { status: 503 }),
    "/empty/tokenize": () => Response.json({ error: "nothing" }),
    "/text/tokenize": () => new Response("hello"),
    "/pieces/tokenize": () => Response.json({ tokens: [{ id: 1, piece: "a" }] }),
  },
});
const baseUrl = `http://127.0.0.1:${server.port}`;

afterAll(async () => {
  await server.stop(true);
  model.close();
});
beforeEach(() => {
  requests.length = 0;
});

describe("over a llama-server", () => {
  test("gives the ids of the server, and asks once for a text", async () => {
    const client = new TokenizerClient();
    const expected = model.tokenize(" REPLY");
    expect(await client.tokenize("m", baseUrl, " REPLY")).toEqual(expected);
    expect(await client.tokenize("m", `${baseUrl}/`, " REPLY")).toEqual(expected);
    expect(requests).toEqual([
      { path: "/tokenize", body: { content: " REPLY", add_special: false, with_pieces: false } },
    ]);
    expect(client.cachedSize("m")).toBe(1);
  });

  test("what a caller does to an answer does not reach the cache", async () => {
    const client = new TokenizerClient();
    (await client.tokenize("m", baseUrl, "a")).push(-1);
    (await client.tokenize("m", baseUrl, "a")).push(-1);
    expect(await client.tokenize("m", baseUrl, "a")).toEqual(model.tokenize("a"));
  });

  test("tokenizeMany keeps the order and asks once for each text", async () => {
    const client = new TokenizerClient();
    const tokens = await client.tokenizeMany("m", baseUrl, ["STOP", "REPLY", "STOP", ""]);
    expect([...tokens]).toEqual(["STOP", "REPLY", ""].map((text) => [text, model.tokenize(text)]));
    expect(requests.length).toBe(3);
  });

  test("models are kept apart, and forgotten one by one", async () => {
    const client = new TokenizerClient();
    await client.tokenize("m", baseUrl, "a");
    await client.tokenize("n", baseUrl, "a");
    expect(requests.length).toBe(2);
    client.forgetModel("m");
    expect([client.cachedSize("m"), client.cachedSize("n"), client.cachedSize("unknown")]).toEqual([0, 1, 0]);
  });

  test("a model that reaches maxEntriesPerModel starts from empty", async () => {
    const client = new TokenizerClient({ maxEntriesPerModel: 2 });
    const sizes = [];
    for (const text of ["a", "b", "c", "d", "e"]) {
      await client.tokenize("m", baseUrl, text);
      sizes.push(client.cachedSize("m"));
    }
    expect(sizes).toEqual([1, 2, 1, 2, 1]);
  });

  test.each([
    ["broken", "HTTP 503"],
    ["absent", "HTTP 404"],
    ["empty", "no tokens[]"],
    ["text", "no tokens[]"],
    ["pieces", "tokens[0] of the answer is not an integer"],
  ])("a server that is %s gives an error with %p, and nothing is kept", async (folder, text) => {
    const client = new TokenizerClient();
    const asked = client.tokenize("m", `${baseUrl}/${folder}`, "a");
    await expect(asked).rejects.toThrow(`${baseUrl}/${folder}/tokenize: `);
    await expect(asked).rejects.toThrow(text);
    expect(client.cachedSize("m")).toBe(0);
  });

  test("the option fetch is used in place of the global one", async () => {
    const urls: string[] = [];
    const client = new TokenizerClient({
      fetch: (url, init) => {
        urls.push(url);
        return fetch(url, init);
      },
    });
    expect(await client.tokenize("m", baseUrl, "a")).toEqual(model.tokenize("a"));
    expect(urls).toEqual([`${baseUrl}/tokenize`]);
  });
});

describe("with a local tokenizer", () => {
  test("gives its ids, and asks once for a text", async () => {
    const client = new TokenizerClient();
    let calls = 0;
    const local = async (text: string) => {
      calls++;
      return Int32Array.from(model.tokenize(text));
    };
    for (let i = 0; i < 3; i++) expect(await client.tokenize("m", local, "REPLY")).toEqual(model.tokenize("REPLY"));
    expect(calls).toBe(1);
  });

  test("what it throws comes out, and nothing is kept", async () => {
    const client = new TokenizerClient();
    const failing = () => {
      throw new RangeError("no vocabulary");
    };
    await expect(client.tokenize("m", failing, "a")).rejects.toThrow(new RangeError("no vocabulary"));
    await expect(client.tokenize("m", () => [1.5], "a")).rejects.toThrow("tokens[0] of the answer is not an integer");
    expect(client.cachedSize("m")).toBe(0);
  });
});
