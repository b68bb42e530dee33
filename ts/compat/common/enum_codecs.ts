// Converts enumerations between names and numbers. Encoders accept a name, with or without the
// prefix of the protobuf enumeration, and a number.
import { ValueError } from "./errors.ts";

type Encode<P extends string, N extends string> = (
  input: N | `${P}${N}` | number | null | undefined,
) => number | undefined;
type Decode<N extends string> = (input: number | null | undefined) => N | undefined;
/** Encoder and decoder of an enumeration. */
export type EnumCodec<P extends string, N extends string> = [
  encode: Encode<P, N>,
  decode: Decode<N>,
];

/**
 * Returns encoder and decoder of an enumeration. Unknown numbers of newer servers are decoded as
 * "unknown_<number>"; 0 is undefined if the table has UNSPECIFIED.
 */
export function makeProtoEnumConverters<N extends string, P extends string>(
  numbers: { readonly [name in N | "UNSPECIFIED"]?: number },
  prefix: P,
): EnumCodec<P, Exclude<N, "UNSPECIFIED">> {
  const table = new Map<string, number>(Object.entries(numbers) as [string, number][]);
  const names = new Map([...table].map(([name, number]) => [number, name]));
  const unspecified = table.get("UNSPECIFIED") === 0 || table.get(`${prefix}UNSPECIFIED`) === 0;
  type Name = Exclude<N, "UNSPECIFIED">;
  const encode: Encode<P, Name> = (input) => {
    if (input === undefined || input === null) return undefined;
    if (typeof input === "number") return input;
    if (typeof input !== "string") {
      throw new ValueError(`Invalid enum value: '${input}' of type ${typeof input}`);
    }
    const number = table.get(
      (input as string).startsWith(prefix) ? (input as string).slice(prefix.length) : input,
    );
    if (number === undefined) throw new ValueError(`Invalid enum value: '${input}'`);
    return number;
  };
  const decode: Decode<Name> = (input) => {
    if (input === undefined || input === null) return undefined;
    if (typeof input !== "number") {
      throw new ValueError(`Invalid proto enum value: '${input}' of type ${typeof input}`);
    }
    if (unspecified && input === 0) return undefined;
    return (names.get(input) ?? `unknown_${input}`) as Name;
  };
  return [encode, decode];
}

/** Same for names whose numbers start at 1. */
export function enumCodec<N extends string, P extends string>(
  prefix: P,
  names: readonly N[],
): EnumCodec<P, N> {
  const numbers = Object.fromEntries(
    ["UNSPECIFIED", ...names].map((name, number) => [name, number]),
  );
  return makeProtoEnumConverters<N, P>(numbers as never, prefix) as unknown as EnumCodec<P, N>;
}
