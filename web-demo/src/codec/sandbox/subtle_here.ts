// `crypto.subtle` for the worker of a pasted codec, which does not have it: calls are forwarded to
// the frame's document (realm/frame/subtle.ts).
import type { KeyName, SubtleAsk, SubtleReply } from "../../realm/frame/subtle.ts";

const METHODS = [
  ...["encrypt", "decrypt", "sign", "verify", "digest", "generateKey"],
  ...["deriveKey", "deriveBits", "importKey", "exportKey", "wrapKey", "unwrapKey"],
];
const open = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
let ids = 0;

const call = (method: string, args: readonly unknown[]): Promise<unknown> =>
  new Promise((resolve, reject) => {
    open.set(++ids, { resolve, reject });
    postMessage({ t: "subtle", id: ids, method, args } satisfies SubtleAsk);
  });

/** Handles responses of the frame. Returns false for other messages. */
export function takeSubtle(data: SubtleReply | { readonly t?: unknown }): boolean {
  if (data.t !== "subtle") return false;
  const reply = data as SubtleReply;
  const asked = open.get(reply.id);
  open.delete(reply.id);
  if ("name" in reply) asked?.reject(new DOMException(reply.message, reply.name));
  else asked?.resolve(frozen(reply.result));
  return true;
}

/** Keys stay in the frame; the worker has frozen references to them. */
function frozen(result: unknown): unknown {
  if (typeof result === "object" && result !== null && "$key" in result) {
    return Object.freeze(result as KeyName);
  }
  return result;
}

if (crypto.subtle === undefined) {
  const subtle = Object.fromEntries(
    METHODS.map((method) => [method, (...args: unknown[]) => call(method, args)]),
  );
  Object.defineProperty(crypto, "subtle", { value: Object.freeze(subtle), configurable: true });
}
