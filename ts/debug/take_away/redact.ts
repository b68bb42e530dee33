// A history that can be shown to others: values are replaced, the shape stays, and it replays as before. A text becomes another one of the same
// length, the same text always the same one, so that code which compares values takes the same way. Texts on which the code depends in another
// way are found by replaying, and are kept only where the caller says so.
import { create, toBinary } from "@bufbuild/protobuf";
import { type HistoryEvent, HistorySchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes, useEvent } from "../../history_files/decode_events.ts";
import type { ReplayingRealm } from "../session.ts";
import { ddmin } from "./ddmin.ts";
import { redactEvent, type Replacing } from "./redact_event.ts";
import { problemKeyWithoutValues } from "../problem.ts";

/** Which values are replaced. A rule with both applies where both do. */
export interface RedactionRule {
  /** Values under keys that match. */
  readonly key?: RegExp;
  /** Texts that match, or whose base64 does. */
  readonly value?: RegExp;
}

/** Options of {@link redact}. */
export interface RedactOptions {
  /** Without rules every text of every payload is replaced. */
  readonly rules?: readonly RedactionRule[];
  /** Replace numbers, too. Default: false. */
  readonly numbers?: boolean;
  /** Messages, stack traces and details of failures. Default: true. */
  readonly failures?: boolean;
  /** Default: true. */
  readonly headers?: boolean;
  /** Default: true. */
  readonly memo?: boolean;
  /** Default: true. */
  readonly searchAttributes?: boolean;
  /** Who did it: identities of clients and workers. Default: true. */
  readonly identity?: boolean;
  /** Default: false. */
  readonly taskQueues?: boolean;
  /** Texts that stay as they are: the caller's consent to what `needed` lists. */
  readonly keep?: readonly string[];
  /** With the code, to see that the verdict stays the same. Without it that is not known. */
  readonly realm?: ReplayingRealm;
  /** For histories that do not say it. */
  readonly workflowId?: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** What came of it. */
export interface RedactedHistory {
  /** Bytes of temporal.api.history.v1.History. Undefined while texts are needed that the caller has not consented to keep. */
  readonly history: Uint8Array | undefined;
  /** How many texts and numbers were replaced. */
  readonly replaced: number;
  /** Texts that change the verdict when they are replaced. */
  readonly needed: readonly string[];
  /** The verdict is the same; undefined without a realm. */
  readonly verified: boolean | undefined;
}

/** The replay goes another way whatever texts are kept: numbers are what it depends on, or the code was different each time. */
export class RedactionError extends Error {
  override name = "RedactionError";
}

/**
 * Redacts a decoded history (bytes of temporal.api.history.v1.History). Rejects with a RedactionError where the verdict
 * cannot be kept, and with a HistoryFileError for bytes that are not a history.
 */
export async function redact(history: Uint8Array, options: RedactOptions = {}): Promise<RedactedHistory> {
  const { realm, workflowId = "", signal } = options;
  const events = decodeHistoryBytes(history).events;
  const consent = new Set(options.keep ?? []);
  const first = replacing(options, consent);
  const redacted = encode(events.map((event, i) => useEvent(event, i, (each) => redactEvent(each, first))));
  const replaced = first.count();
  if (realm === undefined) return { history: redacted, replaced, needed: [], verified: undefined };
  const key = async (bytes: Uint8Array) => problemKeyWithoutValues(await realm.replay(workflowId, bytes));
  const wanted = await key(history);
  if (await key(redacted) === wanted) return { history: redacted, replaced, needed: [], verified: true };
  const holds = async (kept: readonly string[]): Promise<boolean> => {
    const replacement = replacing(options, new Set([...consent, ...kept]), first.texts);
    return await key(encode(events.map((event) => redactEvent(event, replacement)))) === wanted;
  };
  const texts = [...first.texts.keys()];
  if (!await holds(texts)) {
    throw new RedactionError(
      "the redacted history does not replay as the original does, even with every text of its payloads kept" +
        (options.numbers === true ? ": leave numbers as they are" : ""),
    );
  }
  const needed = await ddmin(texts, holds, () => signal?.aborted === true);
  return { history: undefined, replaced, needed, verified: false };
}

const encode = (events: readonly HistoryEvent[]): Uint8Array =>
  toBinary(HistorySchema, create(HistorySchema, { events: [...events] }));

interface Counted extends Replacing {
  /** What each text became. */
  readonly texts: Map<string, string>;
  count(): number;
}

/** Texts in the order in which they appear have numbers; a number, filled up to the length, stands for the text. */
function replacing(options: RedactOptions, keep: ReadonlySet<string>, texts: Map<string, string> = new Map()): Counted {
  const { rules, numbers = false, failures = true, headers = true, memo = true, searchAttributes = true, identity = true } =
    options;
  let replaced = 0;
  const applies = (value: string, keys: readonly string[]): boolean =>
    rules === undefined || rules.some((rule) =>
      (rule.key === undefined || keys.some((key) => matches(rule.key!, key))) &&
      (rule.value === undefined || matches(rule.value, value) || matches(rule.value, fromBase64(value)))
    );
  return {
    ...{ texts, failures, headers, memo, searchAttributes, identity, taskQueues: options.taskQueues ?? false, numbers },
    text(value, keys) {
      if (value === "" || keep.has(value) || !applies(value, keys)) return value;
      let other = texts.get(value);
      if (other === undefined) {
        const number = texts.size.toString(36);
        other = number.length >= value.length ? number.slice(-value.length) : number + "x".repeat(value.length - number.length);
        texts.set(value, other);
      }
      replaced++;
      return other;
    },
    number(value, keys) {
      if (!numbers || !Number.isFinite(value) || !applies(String(value), keys)) return value;
      replaced++;
      // As many digits, the same sign, and a fraction where there was one.
      return Number(
        String(value).replace(/\d/g, (digit, at: number) => at === 0 && digit !== "0" ? "1" : digit === "0" ? "0" : "1"),
      );
    },
    bytes(value) {
      if (
        value.length === 0 ||
        rules !== undefined && !rules.some(({ key, value: pattern }) => key === undefined && pattern === undefined)
      ) {
        const text = new TextDecoder().decode(value);
        if (rules === undefined || !applies(text, []) || value.length === 0) return value;
      }
      replaced++;
      return new Uint8Array(value.length).fill(0x78);
    },
    count: () => replaced,
  };
}

function matches(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(text);
}

function fromBase64(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
