// Redacts a history: values are replaced, its structure stays, and it replays as before. Each text
// is replaced by one of the same length, equal texts by equal ones, so that comparisons in the code
// have the same results. Replays find texts on which the code depends otherwise; these are kept
// only if the caller consents.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes, useEvent } from "../../history_files/decode_events.ts";
import type { ReplayingRealm } from "../session.ts";
import { ddmin } from "./ddmin.ts";
import { redactEvent, type Replacing } from "./redact_event.ts";
import { problemKeyWithoutValues } from "../problem.ts";

/** Which values are replaced. A rule with both fields applies if both match. */
export interface RedactionRule {
  /** Matches values by their key. */
  readonly key?: RegExp;
  /** Matches texts, or their base64. */
  readonly value?: RegExp;
}

/** Options of {@link redact}. */
export interface RedactOptions {
  /** Without rules every text of every payload is replaced. */
  readonly rules?: readonly RedactionRule[];
  /** Also replace numbers. Default: false. */
  readonly numbers?: boolean;
  /** Messages, stack traces and details of failures. Default: true. */
  readonly failures?: boolean;
  /** Default: true. */
  readonly headers?: boolean;
  /** Default: true. */
  readonly memo?: boolean;
  /** Default: true. */
  readonly searchAttributes?: boolean;
  /** Identities of clients and workers. Default: true. */
  readonly identity?: boolean;
  /** Default: false. */
  readonly taskQueues?: boolean;
  /** Texts that are not replaced: the caller's consent to texts in `needed`. */
  readonly keep?: readonly string[];
  /** A realm with the code, to verify that the verdict does not change. Default: not verified. */
  readonly realm?: ReplayingRealm;
  /** For histories that do not contain it. */
  readonly workflowId?: string;
  /** Stops the redaction. */
  readonly signal?: AbortSignal;
}

/** The result of {@link redact}. */
export interface RedactedHistory {
  /** Bytes of temporal.api.history.v1.History. Undefined if `needed` is not empty. */
  readonly history: Uint8Array | undefined;
  /** Number of replaced texts and numbers. */
  readonly replaced: number;
  /** Texts that change the verdict when they are replaced, and that the caller did not keep. */
  readonly needed: readonly string[];
  /** The verdict did not change; undefined without a realm. */
  readonly verified: boolean | undefined;
}

/**
 * The verdict changes whichever texts are kept: the code depends on numbers, or behaves differently
 * on each replay.
 */
export class RedactionError extends Error {
  override name = "RedactionError";
}

/**
 * Redacts a decoded history (bytes of temporal.api.history.v1.History). Rejects with a
 * RedactionError if the verdict cannot be preserved, and with a HistoryFileError for bytes that are
 * not a history.
 */
export async function redact(
  history: Uint8Array,
  options: RedactOptions = {},
): Promise<RedactedHistory> {
  const { realm, workflowId = "", signal } = options;
  const events = decodeHistoryBytes(history).events;
  const consent = new Set(options.keep ?? []);
  const first = replacing(options, consent);
  const redacted = encode(
    events.map((event, i) => useEvent(event, i, (each) => redactEvent(each, first))),
  );
  const replaced = first.count();
  if (realm === undefined) return { history: redacted, replaced, needed: [], verified: undefined };
  const key = async (bytes: Uint8Array) =>
    problemKeyWithoutValues(await realm.replay(workflowId, bytes, { repairs: false }));
  const wanted = await key(history);
  if (await key(redacted) === wanted) {
    return { history: redacted, replaced, needed: [], verified: true };
  }
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
  /** The replacement of each text. */
  readonly texts: Map<string, string>;
  count(): number;
}

/**
 * Numbers texts in the order in which they appear. The number, padded to the length of the text,
 * replaces it.
 */
function replacing(
  options: RedactOptions,
  keep: ReadonlySet<string>,
  texts: Map<string, string> = new Map(),
): Counted {
  const {
    rules,
    numbers = false,
    failures = true,
    headers = true,
    memo = true,
    searchAttributes = true,
    identity = true,
  } = options;
  let replaced = 0;
  const applies = (value: string, keys: readonly string[]): boolean =>
    rules === undefined ||
    rules.some((rule) =>
      (rule.key === undefined || keys.some((key) => matches(rule.key!, key))) &&
      (rule.value === undefined || matches(rule.value, value) ||
        matches(rule.value, fromBase64(value)))
    );
  return {
    ...{
      texts,
      failures,
      headers,
      memo,
      searchAttributes,
      identity,
      taskQueues: options.taskQueues ?? false,
      numbers,
    },
    text(value, keys) {
      if (value === "" || keep.has(value) || !applies(value, keys)) return value;
      let other = texts.get(value);
      if (other === undefined) {
        const number = texts.size.toString(36);
        other = number.length >= value.length
          ? number.slice(-value.length)
          : number + "x".repeat(value.length - number.length);
        texts.set(value, other);
      }
      replaced++;
      return other;
    },
    number(value, keys) {
      if (!numbers || !Number.isFinite(value) || !applies(String(value), keys)) return value;
      replaced++;
      // Keeps the number of digits, the sign and whether there is a fraction.
      return Number(
        String(value).replace(
          /\d/g,
          (digit, at: number) => at === 0 && digit !== "0" ? "1" : digit === "0" ? "0" : "1",
        ),
      );
    },
    bytes(value) {
      if (
        value.length === 0 ||
        rules !== undefined &&
          !rules.some(({ key, value: pattern }) => key === undefined && pattern === undefined)
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
