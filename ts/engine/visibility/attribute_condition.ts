// Conditions on search attributes. Neither the query nor a registry declares the type of an
// attribute: a literal may be of several kinds, and is compared with values of each of them.
import { Kind } from "./attributes.ts";
import type { AttributeTest, CompareOp, Condition, Test, Value } from "./condition.ts";
import { momentOf, msOfNanoseconds } from "./moment.ts";
import { QueryError } from "./query_error.ts";
import type { Token } from "./tokens.ts";

/** A test as parsed; T is the type of its values. */
export type Written<T> =
  | { readonly kind: "compare"; readonly op: CompareOp; readonly value: T }
  | { readonly kind: "in"; readonly values: readonly T[]; readonly negated: boolean }
  | { readonly kind: "between"; readonly low: T; readonly high: T; readonly negated: boolean }
  | { readonly kind: "startsWith"; readonly prefix: T; readonly negated: boolean }
  | { readonly kind: "null"; readonly negated: boolean };

type Readings = ReadonlyMap<Kind, Value>;

/** Whether a token is true or false, in any case. */
export const isBool = (token: Token): boolean =>
  token.kind === "word" && /^(?:true|false)$/i.test(token.text);

/** The kinds and values that a literal may have. */
function readings(token: Token): Readings {
  if (isBool(token)) return new Map([[Kind.BOOL, token.text.toLowerCase() === "true" ? 1 : 0]]);
  if (token.kind === "number") {
    const number = new Map<Kind, Value>([[Kind.NUMBER, Number(token.text)]]);
    // Servers accept a time as integer nanoseconds.
    if (/^-?\d+$/.test(token.text)) number.set(Kind.TIME, msOfNanoseconds(token.text));
    return number;
  }
  const text = new Map<Kind, Value>([[Kind.TEXT, token.text]]);
  const ms = momentOf(token.text);
  if (!Number.isNaN(ms)) text.set(Kind.TIME, ms);
  return text;
}

/** Returns the condition. Throws a QueryError for values that the test does not support. */
export function attributeCondition(name: string, written: Written<Token>): Condition {
  if (written.kind === "null") return { kind: "noAttribute", name, negated: written.negated };
  const made = (tests: AttributeTest[], negated: boolean): Condition => ({
    kind: "attribute",
    name,
    tests,
    negated,
  });
  switch (written.kind) {
    case "compare": {
      const { op, value } = written;
      if (isBool(value) && op !== "=" && op !== "!=") {
        throw new QueryError("booleans support only = and !=", value);
      }
      const test = (read: Value): Test => ({
        kind: "compare",
        op: op === "!=" ? "=" : op,
        value: read,
      });
      return made(
        [...readings(value)].map(([of, read]) => ({ of, test: test(read) })),
        op === "!=",
      );
    }
    case "in": {
      const values = new Map<Kind, Value[]>();
      for (const [kind, value] of written.values.flatMap((token) => [...readings(token)])) {
        if (!values.get(kind)?.push(value)) values.set(kind, [value]);
      }
      return made(
        [...values].map(([of, read]) => ({ of, test: { kind: "in", values: read } })),
        written.negated,
      );
    }
    case "between": {
      const [low, high] = [readings(written.low), readings(written.high)];
      const both = [...low].filter(([of]) => of !== Kind.BOOL && high.has(of));
      if (both.length === 0) {
        throw new QueryError("BETWEEN needs two strings, two numbers or two times", written.high);
      }
      const test = (of: Kind, from: Value): Test => ({
        kind: "between",
        low: from,
        high: high.get(of)!,
      });
      return made(both.map(([of, from]) => ({ of, test: test(of, from) })), written.negated);
    }
    case "startsWith": {
      const { prefix } = written;
      if (prefix.kind !== "text") {
        throw new QueryError("STARTS_WITH needs a string: put the value in quotes", prefix);
      }
      return made(
        [{ of: Kind.TEXT, test: { kind: "startsWith", prefix: prefix.text } }],
        written.negated,
      );
    }
  }
}
