// The namespace that a request is for, read from its bytes. It goes into a header as well, because an address that serves many namespaces
// (Temporal Cloud's) sends calls on by the header.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { MethodName } from "../service/raw.ts";

/** Where it is, if it is not the first field. 0: nowhere. tests/api/request_namespace.test.ts holds this against the messages. */
export const NAMESPACE_FIELD: { readonly [Method in MethodName]?: number } = {
  respondWorkflowTaskCompleted: 9,
  respondWorkflowTaskFailed: 6,
  recordActivityTaskHeartbeat: 4,
  respondActivityTaskCompleted: 4,
  respondActivityTaskFailed: 4,
  respondActivityTaskCanceled: 4,
  respondQueryTaskCompleted: 6,
  listNamespaces: 0,
  getSearchAttributes: 0,
  getClusterInfo: 0,
  getSystemInfo: 0,
};

/** The last one, which mostly is the next one too. */
let last: { readonly bytes: Uint8Array; readonly text: string } = { bytes: new Uint8Array(0), text: "" };

/** undefined for a request that names none, or one that no header takes (which the server will refuse). */
export function namespaceOf(method: MethodName, request: Uint8Array): string | undefined {
  const field = NAMESPACE_FIELD[method] ?? 1;
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
  if (wanted === 1 && message[0] === 0x0a && message[1]! < 0x80) return message.subarray(2, 2 + message[1]!);
  try {
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (field === wanted && wire === WireType.LengthDelimited) return reader.bytes();
      reader.skip(wire, field);
    }
  } catch {
    // Bytes that are no message are the server's to refuse.
  }
  return undefined;
}
