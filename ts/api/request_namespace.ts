// The namespace that a request is for, read from its bytes. It goes into a header as well, because an address that serves many namespaces
// (Temporal Cloud's) sends calls on by the header.
import { DescribeNamespaceRequest, RequestNamespace } from "./generated/fields.ts";
import { Fields } from "./wire.ts";
import type { MethodName } from "../service/raw.ts";

const BY_METHOD: { readonly [method in MethodName]?: number } = RequestNamespace;
/** Nearly all requests have it first. */
const FIRST = DescribeNamespaceRequest.namespace;

/** The field `namespace` of a method's request; 0 where it has none. */
export const namespaceField = (method: MethodName): number => BY_METHOD[method] ?? FIRST;

/** The last one, which mostly is the next one too. */
let last: { readonly bytes: Uint8Array; readonly text: string } = { bytes: new Uint8Array(0), text: "" };

/** undefined for a request that names none, or one that no header takes (which the server will refuse). */
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
  // As writers write it: the first field, shorter than 128 bytes.
  if (wanted === FIRST && message[0] === FIRST && message[1]! < 0x80) return message.subarray(2, 2 + message[1]!);
  try {
    for (const at = new Fields(message); at.next();) if (at.tag === wanted) return at.bytes();
  } catch {
    // Bytes that are no message are the server's to refuse.
  }
  return undefined;
}
