// WebCrypto for the worker of a codec. A worker of an opaque origin has no `crypto.subtle`, because
// it is not a secure context, but the frame's document has. Calls are messages; keys stay here and
// have numbers.

/** A message of the worker. */
export interface SubtleAsk {
  readonly t: "subtle";
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A key in the worker. */
export interface KeyName {
  readonly $key: number;
  readonly type: KeyType;
  readonly extractable: boolean;
  readonly algorithm: KeyAlgorithm;
  readonly usages: readonly KeyUsage[];
}

export type SubtleReply =
  | { readonly t: "subtle"; readonly id: number; readonly result: unknown }
  | { readonly t: "subtle"; readonly id: number; readonly name: string; readonly message: string };

const METHODS: readonly string[] = [
  ...["encrypt", "decrypt", "sign", "verify", "digest", "generateKey"],
  ...["deriveKey", "deriveBits", "importKey", "exportKey", "wrapKey", "unwrapKey"],
];

export const isSubtleAsk = (data: unknown): data is SubtleAsk =>
  typeof data === "object" && data !== null && (data as { readonly t?: unknown }).t === "subtle";

/** Handles the calls of one worker. */
export function subtleFor(
  reply: (message: SubtleReply) => void,
): (ask: SubtleAsk) => Promise<void> {
  const keys: CryptoKey[] = [];
  const given = (value: unknown): unknown => {
    if (
      typeof value !== "object" || value === null || ArrayBuffer.isView(value) ||
      value instanceof ArrayBuffer
    ) return value;
    if (Array.isArray(value)) return value;
    if ("$key" in value) return keys[value.$key as number];
    // An algorithm can contain a key: the other party's, for ECDH.
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, given(each)]));
  };
  const named = (result: unknown): unknown => {
    if (result instanceof CryptoKey) {
      const { type, extractable, algorithm, usages } = result;
      return {
        $key: keys.push(result) - 1,
        type,
        extractable,
        algorithm,
        usages,
      } satisfies KeyName;
    }
    if (typeof result !== "object" || result === null || !("privateKey" in result)) return result;
    const { publicKey, privateKey } = result as CryptoKeyPair;
    return { publicKey: named(publicKey), privateKey: named(privateKey) };
  };
  return async ({ id, method, args }) => {
    try {
      if (!METHODS.includes(method)) throw new TypeError(`crypto.subtle has no ${method}`);
      const call = crypto.subtle[method as "digest"] as (...args: unknown[]) => Promise<unknown>;
      reply({ t: "subtle", id, result: named(await call.apply(crypto.subtle, args.map(given))) });
    } catch (error) {
      const { name, message } = error as Error;
      reply({ t: "subtle", id, name, message });
    }
  };
}
