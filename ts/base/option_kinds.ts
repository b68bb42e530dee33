// Validation of options before they are used. Static types do not cover JavaScript callers, values
// from the environment and misspelled names in objects made elsewhere. An ignored option loses
// data: without its `path` a store is in memory, without its `codec` values are stored in clear
// text.
import { unknownOptionMessage } from "./option_names.ts";

/**
 * The expected value in words, and a predicate. The words "" mark an option that is not checked and
 * not listed.
 */
export type Kind = readonly [expected: string, is: (value: unknown) => boolean];
export interface Kinds {
  readonly [name: string]: Kind | Kinds;
}
/** A kind for every option. */
export type Table<T> = { readonly [name in keyof Required<T>]: Kind | Kinds };

const isFunction = (value: unknown) => typeof value === "function";
const isObject = (value: unknown) => typeof value === "object" && value !== null;
const at = (value: unknown, name: string) =>
  (value as { readonly [name: string]: unknown } | null | undefined)?.[name];
export const has = (...names: string[]) => (value: unknown) =>
  names.every((name) => isFunction(at(value, name)));
const isPromise = has("then");
export const isModule = (value: unknown) =>
  value instanceof URL || (typeof value === "string" && value !== "");
/**
 * True for values that hold others by name: an object, a module namespace, an instance of a class.
 */
const isNamed = (value: unknown) =>
  isObject(value) && !Array.isArray(value) && !(value instanceof URL) && !isPromise(value);
const isDefinition = (value: unknown) =>
  isFunction(value) && isFunction(at(value, "run")) && isObject(at(value, "queries"));
/** True for workflow definitions, lists of them, and objects that hold them. */
const areDefinitions = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(areDefinitions) : isDefinition(value) || isNamed(value);
export const oneOrList = (is: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) ? value.every(is) : is(value);
export const oneOf = (...names: string[]): Kind => [
  names.map((name) => `"${name}"`).join(" or "),
  (value) => names.includes(value as string),
];

export const any: Kind = ["", () => true];
export const text: Kind = [
  "a non-empty string",
  (value) => typeof value === "string" && value !== "",
];
/** A name that is sent to other processes: UTF-8 cannot encode lone surrogates. */
export const name: Kind = [
  "a non-empty string without lone surrogates",
  (value) => typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value),
];
export const flag: Kind = ["true or false", (value) => typeof value === "boolean"];
export const number: Kind = ["a number", (value) => typeof value === "number"];
export const positive: Kind = [
  "a finite number above 0",
  (value) => Number.isFinite(value) && (value as number) > 0,
];
export const notNegative: Kind = [
  "a finite number of at least 0",
  (value) => Number.isFinite(value) && (value as number) >= 0,
];
export const atLeastOne: Kind = [
  "a finite number of at least 1",
  (value) => Number.isFinite(value) && (value as number) >= 1,
];
/** A part of a whole. */
export const share: Kind = [
  "a number from 0 to 1",
  (value) => typeof value === "number" && value >= 0 && value <= 1,
];
/** A time or a size that may be unlimited. */
export const notNegativeOrInfinity: Kind = [
  "a number of at least 0, or Infinity",
  (value) => typeof value === "number" && value >= 0,
];
export const count: Kind = [
  "a whole number of at least 1",
  (value) => Number.isInteger(value) && (value as number) >= 1,
];
export const countOrInfinity: Kind = [
  "a whole number of at least 1, or Infinity",
  (value) => value === Infinity || count[1](value),
];
export const call: Kind = ["a function", isFunction];
export const object: Kind = ["an object", isObject];
export const list: Kind = ["a list", Array.isArray];
export const module: Kind = ["a module's URL", isModule];
export const duration: Kind = [
  'a duration ("10s") or a number of milliseconds',
  (value) => ["string", "number", "object"].includes(typeof value) && value !== null,
];
export const converter: Kind = [
  "an object with the functions toPayload and fromPayload",
  has("toPayload", "fromPayload"),
];
export const logger: Kind = [
  "an object with the functions debug, info, warn and error, like console",
  has("debug", "info", "warn", "error"),
];
/** One codec or a list of codecs. */
export const codec: Kind = [
  "an object with the functions encode and decode, or a list of them",
  oneOrList(has("encode", "decode")),
];
export const service: Kind = ["an EmbeddedEngine or a connection to a cluster", has("call")];
export const serviceOrPromise: Kind = [
  "an EmbeddedEngine or a connection to a cluster, or the promise of one",
  (value) => isPromise(value) || service[1](value),
];
export const workflows: Kind = [
  'the URL of a module (new URL("./workflows.ts", import.meta.url)), a list of them, or definitions ({ order })',
  (value) => {
    if (!Array.isArray(value)) return isModule(value) || (isNamed(value) && !isDefinition(value));
    return value.length > 0 && (value.every(isModule) || value.every(areDefinitions));
  },
];
/** Functions by name. */
export const functions: Kind = ["an object of functions, such as a module namespace", isNamed];
/** Functions by name, or a list of such objects. */
export const functionObjects: Kind = [
  "an object of functions, such as a module namespace, or a list of such objects",
  oneOrList(isNamed),
];
export const migrations: Kind = [
  "a list of { name, sql }",
  (value) =>
    Array.isArray(value) &&
    value.every((step) => text[1](at(step, "name")) && text[1](at(step, "sql"))),
];
/** The URL of a module, or several. */
export const modules: Kind = ["the URLs of modules", oneOrList(isModule)];
export const moduleOrFunction = (
  words: string,
): Kind => [words, (value) => isModule(value) || isFunction(value)];
/** One of the names, or an object. */
export const nameOrObject = (words: string, ...names: string[]): Kind => [
  words,
  (value) => isObject(value) || names.includes(value as string),
];

/**
 * Throws a TypeError that names the option, what was given and what is expected. `of` is whose
 * options they are, as messages say it: "Worker.create". `elsewhere` says what to write instead of
 * an unknown name of a part; undefined where it has nothing to say.
 */
export function checkOptions(
  of: string,
  options: object,
  kinds: Kinds,
  elsewhere: (part: string, name: string) => string | undefined = () => undefined,
): void {
  if (!isNamed(options)) {
    throw new TypeError(`${of} options must be an object, not ${shown(options)}`);
  }
  check("", options, kinds);

  function check(part: string, given: object, kinds: Kinds): void {
    for (const [name, value] of Object.entries(given)) {
      const kind = Object.hasOwn(kinds, name) ? kinds[name]! : undefined;
      if (kind === undefined) {
        throw new TypeError(elsewhere(part, name) ?? unknown(of, part, name, kinds));
      }
      if (value === undefined) continue;
      const option = part === "" ? name : `${part}.${name}`;
      const [expected, is]: Kind = Array.isArray(kind)
        ? kind as unknown as Kind
        : ["an object of options", isNamed];
      if (!is(value)) {
        throw new TypeError(
          `${of}'s option ${option} must be ${expected}, not ${shown(value, is)}`,
        );
      }
      if (!Array.isArray(kind)) check(option, value as object, kind as Kinds);
    }
  }
}

/** Throws a TypeError where an option that there must be is missing. */
export function needsOption(
  of: string,
  name: string,
  options: { readonly [name: string]: unknown },
  kinds: Kinds,
): void {
  if (options[name] === undefined) {
    throw new TypeError(
      `${of}'s option ${name} must be ${(kinds[name] as Kind)[0]}, and is missing`,
    );
  }
}

function unknown(of: string, part: string, name: string, kinds: Kinds): string {
  const names = Object.entries(kinds).filter(([, kind]) => kind !== any).map(([each]) => each);
  return unknownOptionMessage(part === "" ? of : `${of}'s option ${part}`, name, names);
}

/** What a value is, in a few words; of a list the first that makes it wrong. */
function shown(value: unknown, is: Kind[1] = () => false): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}...` : value);
  }
  if (isDefinition(value)) return `a workflow: write { ${at(value, "name")} }`;
  if (isFunction(value)) return `a function ${(value as { readonly name: string }).name}`.trimEnd();
  if (!isObject(value)) return String(value);
  if (value instanceof URL) return "a URL";
  if (isPromise(value)) return "a promise: await it";
  if (!Array.isArray(value)) return "an object";
  if (value.length === 0) return "an empty list";
  const wrong = value.findIndex((each) => !is([each]));
  return wrong < 0 ? "a list of modules and definitions" : `a list with ${shown(value[wrong])}`;
}
