/** A TokenTreePayload as bytes: JSON or MessagePack, which the library tells apart by their first byte. */
import { encode } from "@msgpack/msgpack";
import { unexpected } from "./arguments.js";
import { encodeUtf8 } from "./memory.js";
import { Owned } from "./owned.js";
import type { TokenTreeDescriptor, TokenTreePart, TokenTreePayload } from "./token-tree.js";

/** A payload as an object, as JSON text, or as bytes in either format. */
export type Payload = TokenTreePayload | string | Uint8Array;

/** Encodes a payload. MessagePack is smaller than JSON, and the library decodes it about twice as fast. */
export function encodePayload(payload: TokenTreePayload, format?: "json"): string;
export function encodePayload(payload: TokenTreePayload, format: "msgpack"): Uint8Array;
export function encodePayload(payload: TokenTreePayload, format: "json" | "msgpack" = "json"): string | Uint8Array {
  if (format === "json") return JSON.stringify(payload);
  return encode({ ...payload, descriptors: payload.descriptors.map(withSchemaTexts) }, { ignoreUndefined: true });
}

/** MessagePack has schemas as texts alone. */
function withSchemaTexts(descriptor: TokenTreeDescriptor | TokenTreePart): object {
  if (!("json_schema" in descriptor) || descriptor.json_schema === undefined) return descriptor;
  const { json_schema, schema_options, ...others } = descriptor;
  const given = Object.entries(schema_options?.documents ?? {});
  const documents = Object.fromEntries(given.map(([uri, schema]) => [uri, schemaText(schema)]));
  const options = schema_options && { ...schema_options, documents };
  return { ...others, json_schema: schemaText(json_schema), schema_options: options };
}

function schemaText(schema: object | boolean | string): string {
  return typeof schema === "string" ? schema : JSON.stringify(schema);
}

/** The bytes that the library reads. */
export function payloadBytes(payload: Payload): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  if (typeof payload === "string") return encodeUtf8(payload);
  const isObject = typeof payload === "object" && payload !== null;
  if (isObject && !Array.isArray(payload) && !(payload instanceof Owned)) return encodeUtf8(encodePayload(payload));
  throw unexpected("payload", "a token tree, as Model.tokenTree(names) makes it", payload);
}
