// Reads the namespace of an encoded request. It is also sent as a header, because an address with
// many namespaces (Temporal Cloud's) routes calls by the header.
import { DescribeNamespaceRequest, RequestNamespace } from "../messages/generated/fields.ts";
import { Fields } from "../messages/wire.ts";
import type { MethodName } from "../service/raw.ts";

const BY_METHOD: { readonly [method in MethodName]?: number } = RequestNamespace;
/** Nearly all requests have it first. */
const FIRST = DescribeNamespaceRequest.namespace;

/** Field `namespace` of a method's request; 0 if it has none. */
export const namespaceField = (method: MethodName): number => BY_METHOD[method] ?? FIRST;

/** The last namespace, which is usually the next one too. */
let last: { readonly bytes: Uint8Array; readonly text: string } = {
  bytes: new Uint8Array(0),
  text: "",
};

/**
 * Undefined for a request without namespace, or with one that is invalid in a header (the server
 * rejects it).
 */
export function namespaceOf(method: MethodName, request: Uint8Array): string | undefined {
  const field = namespaceField(method);
  const bytes = field === 0 ? undefined : fieldOf(request, field);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (bytes.length !== last.bytes.length || bytes.some((byte, i) => byte !== last.bytes[i])) {
    const text = String.fromCharCode(...bytes.subarray(0, 1000));
    if (!/^[\x21-\x7e]+$/.test(text)) return undefined;
    last = { bytes: bytes.slice(), text };
  }
  return last.text;
}

function fieldOf(message: Uint8Array, wanted: number): Uint8Array | undefined {
  // The usual encoding: the first field, shorter than 128 bytes.
  if (wanted === FIRST && message[0] === FIRST && message[1]! < 0x80) {
    return message.subarray(2, 2 + message[1]!);
  }
  try {
    for (const at = new Fields(message); at.next();) if (at.tag === wanted) return at.bytes();
  } catch {
    // The server rejects bytes that do not decode.
  }
  return undefined;
}
