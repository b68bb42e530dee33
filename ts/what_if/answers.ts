// Results of activities, local activities and children of a branch. In this order: from an edit;
// from history, by type and arguments, else by order; from an answer of the user; from the rule for
// unknown results. Each recorded result is used once.
import type { Failure } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { Edit, End, FailureToTell, Question } from "./edits.ts";
import type { Recorded, RecordedCall, RecordedEnd } from "./recorded.ts";

/** How and when an item of the branch ends. */
export interface Answer {
  readonly end: RecordedEnd;
  /** Time after its start. */
  readonly afterMs: number;
  /** Start of the last attempt, after the start of the item. */
  readonly lastStartMs: number;
  readonly attempt: number;
  /** The child cannot be started. */
  readonly startFails: boolean;
  /** The history has no result, and the user gave none. */
  readonly question?: Question;
  /** The recorded event of the result; 0: no event. */
  readonly from: number;
}

interface Asked {
  readonly of: Question["of"];
  readonly type: string;
  readonly input: string;
  readonly eventId: number;
  readonly args: Question["args"];
}

const isSame = ({ type, input }: RecordedCall, asked: Asked): boolean =>
  type === asked.type && (input === asked.input || asked.of === "local activity");

export class Answers {
  readonly #calls: { readonly [of in Question["of"]]: RecordedCall[] };
  readonly #edits: readonly Edit[];
  readonly #default: End | undefined;
  readonly #converter: PayloadConverter;
  readonly #asked = new Map<string, number>();
  /** Questions without an answer, in order. */
  readonly questions: Question[] = [];
  /** IDs of the recorded events whose results were used. */
  readonly given = new Set<number>();

  constructor(
    recorded: Recorded,
    edits: readonly Edit[],
    unanswered: End | undefined,
    converter: PayloadConverter,
  ) {
    this.#calls = {
      activity: [...recorded.activities],
      "local activity": [...recorded.localActivities],
      child: [...recorded.children],
      transact: [...recorded.transacts],
    };
    this.#edits = edits;
    this.#default = unanswered;
    this.#converter = converter;
  }

  /** Marks calls up to the cut as used, whether ended or not. Returns those that are still open. */
  openAt(
    of: "activity" | "child",
    cut: number,
  ): { readonly eventId: number; readonly answer: Answer }[] {
    const calls = this.#calls[of];
    const open = calls.filter(({ eventId, endEventId }) =>
      eventId <= cut && (endEventId === 0 || endEventId > cut)
    );
    const mine = open.map((call) => ({
      eventId: call.eventId,
      answer: this.#fromRecord(of, call),
    }));
    this.#calls[of].splice(0, calls.length, ...calls.filter(({ eventId }) => eventId > cut));
    return mine;
  }

  /**
   * Marks local activities and reducers up to the cut as used: the prefix records their results.
   */
  skipLocal(cut: number): void {
    for (const kind of ["local activity", "transact"] as const) {
      const calls = this.#calls[kind];
      calls.splice(0, calls.length, ...calls.filter(({ eventId }) => eventId > cut));
    }
  }

  /**
   * Returns the result of a reducer; undefined if it is unknown. A reducer that no code awaits is
   * assumed to succeed: the code continues in the same way, and its tables are not available.
   */
  ofReducer(asked: Asked, isAwaited: boolean): RecordedEnd | undefined {
    if (!isAwaited && !this.#calls.transact.some((call) => isSame(call, asked))) {
      return { kind: "completed", result: undefined };
    }
    const { end, question } = this.of(asked);
    return question === undefined ? end : undefined;
  }

  /** Returns the result of something that the branch began. */
  of(asked: Asked): Answer {
    const calls = this.#calls[asked.of];
    const same = calls.findIndex((call) => isSame(call, asked));
    // A reducer with different arguments changes its tables differently.
    const index = same >= 0 || asked.of === "transact"
      ? same
      : calls.findIndex(({ type }) => type === asked.type);
    if (index >= 0) {
      const [call] = calls.splice(index, 1);
      return this.#fromRecord(asked.of, call!);
    }
    const name = `${asked.of} ${asked.type}`;
    const n = (this.#asked.get(name) ?? 0) + 1;
    this.#asked.set(name, n);
    const key = `${name} ${n}`;
    const byHand = this.#edits.findLast((edit) => edit.kind === "answer" && edit.key === key);
    if (byHand?.kind === "answer") return this.#byEdit(byHand.end, byHand.afterMs ?? 0);
    if (this.#default !== undefined) return this.#byEdit(this.#default, 0);
    const { of, type, args, eventId } = asked;
    const question = { key, of, type, args, eventId };
    this.questions.push(question);
    return { ...this.#byEdit({ kind: "never" }, 0), question };
  }

  #fromRecord(of: Question["of"], call: RecordedCall): Answer {
    this.given.add(call.eventId);
    const edit = this.#edits.findLast((each) =>
      (each.kind === of) && each.eventId === call.eventId
    );
    const afterMs = Math.max(0, call.endMs - call.startMs);
    const lastStartMs = Math.max(0, call.lastStartMs - call.startMs);
    const from = call.eventId;
    if (edit?.kind === "transact") return { ...this.#byEdit(edit.end, 0), from };
    if (edit?.kind === "activity" || edit?.kind === "child") {
      const recorded = Number.isFinite(afterMs) ? afterMs : 0;
      return { ...this.#byEdit(edit.end, edit.afterMs ?? recorded), from };
    }
    // Open at the end of the history: its result is unknown, so it never ends.
    return {
      end: call.end,
      afterMs,
      lastStartMs,
      attempt: call.attempt,
      startFails: call.startFailed === true,
      from,
    };
  }

  #byEdit(end: End, afterMs: number): Answer {
    return {
      end: this.#encoded(end),
      afterMs,
      lastStartMs: 0,
      attempt: 1,
      startFails: false,
      from: 0,
    };
  }

  #encoded(end: End): RecordedEnd {
    switch (end.kind) {
      case "completed": {
        // A worker also sends one payload for an undefined result.
        const payloads = [this.#converter.toPayload(end.result)];
        return { kind: "completed", result: create(PayloadsSchema, { payloads }) };
      }
      case "failed":
        return { kind: "failed", failure: failureOf(end.failure) };
      case "cancelled":
        return { kind: "cancelled", details: undefined };
      default:
        return { kind: end.kind };
    }
  }
}

function failureOf({ message, type = "Error", nonRetryable = true }: FailureToTell): Failure {
  return create(FailureSchema, {
    message,
    source: "what-if",
    failureInfo: { case: "applicationFailureInfo", value: { type, nonRetryable } },
  });
}
