// What must hold of a store after each kill, from the output of the killed processes and the
// content of the file: nothing acknowledged is missing, nothing that was never requested is there,
// no command, completion or message is recorded twice, the file is intact, and every closed run
// replays. Closed runs that were found correct are not read again, so a growing file costs only its
// new runs.
import { fromBinary } from "@bufbuild/protobuf";
import { type SqliteOptions, SqliteStore } from "../../../ts/engine/mod.ts";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import * as program from "./program.ts";

const { HELPER } = program;

export interface Judgement {
  readonly runs: number;
  readonly open: number;
  readonly events: number;
  readonly replayed: number;
  readonly acknowledged: number;
  /** Activities that ran more than once, and how often in all. */
  readonly repeatedActivities: number;
  readonly extraExecutions: number;
  readonly problems: readonly string[];
}

/**
 * Kind of the store's items that are events behind an open workflow task
 * (core-rs/src/engine/state/run.rs).
 */
const BUFFERED = 4;
const text = new TextDecoder();

export class Oracle {
  readonly #tried = new Set<string>();
  readonly #acknowledged = new Set<string>();
  /** Executions by idempotency key, and what each key was for. */
  readonly #executions = new Map<string, { what: string; times: number }>();
  readonly #done = new Set<string>();
  readonly #problems: string[] = [];
  readonly #realm = createInlineRealm({ workflows: program });
  /**
   * Helpers that a parent says to have started, with whether it knows their end; and those that
   * have closed.
   */
  readonly #parents = new Map<string, boolean>();
  readonly #closed = new Set<string>();
  readonly #waiting = new Set<string>();
  #events = 0;
  #replayed = 0;

  /** A line of a child. */
  heard(line: string): void {
    const [kind, ...rest] = line.split(" ");
    const what = rest.join(" ");
    if (kind === "try") this.#tried.add(what);
    else if (kind === "ack") this.#acknowledged.add(what);
    else if (kind === "exec") {
      const [key, ...of] = rest as [string, ...string[]];
      const before = this.#executions.get(key);
      if (before === undefined) this.#executions.set(key, { what: of.join(" "), times: 1 });
      else {
        before.times++;
        if (before.what !== of.join(" ")) {
          this.#problems.push(
            `idempotency key ${key} was used for ${before.what} and ${of.join(" ")}`,
          );
        }
      }
    }
  }

  /** Opens the store as the next process would, and judges it. */
  async judge(path: string, options: SqliteOptions): Promise<Judgement> {
    const store = SqliteStore.open(path, options);
    try {
      this.#problems.push(...store.check());
      const found = new Set<string>();
      this.#waiting.clear();
      let open = 0;
      let after;
      do {
        const page = store.list(parseQuery(""), 1000, after);
        after = page.next;
        for (const row of page.rows) {
          if (found.has(row.workflowId)) this.#problems.push(`${row.workflowId} was started twice`);
          found.add(row.workflowId);
          if (row.status === 1) open++;
          else this.#closed.add(row.workflowId);
          if (this.#done.has(row.runId)) continue;
          const bytes = store.historyRange(row.workflowId, row.runId, 1, row.historyLength);
          const before = this.#problems.length;
          // A signal that came during a workflow task is stored outside the history until the task
          // ends.
          const waiting = store.load(row.workflowId, row.runId)!.items
            .filter(({ kind }) => kind === BUFFERED).map((item) => text.decode(item.value));
          await this.#judgeRun(row.workflowId, row.runId, bytes, waiting, row.status !== 1);
          if (row.status !== 1 && this.#problems.length === before) this.#done.add(row.runId);
        }
      } while (after !== undefined);
      for (const what of this.#acknowledged) {
        const [kind, id] = what.split(" ") as [string, string];
        if (kind === "start" && !found.has(id)) {
          this.#problems.push(`the start of ${id} was acknowledged and is gone`);
        }
      }
      for (const id of found) {
        const asked = id.endsWith(HELPER)
          ? this.#parents.has(id) || this.#waiting.has(id)
          : this.#tried.has(`start ${id}`);
        if (!asked) this.#problems.push(`${id} was never requested`);
      }
      this.#judgeChildren(found);
      const repeated = [...this.#executions.values()].filter(({ times }) => times > 1);
      return {
        runs: found.size,
        open,
        events: this.#events,
        replayed: this.#replayed,
        acknowledged: this.#acknowledged.size,
        repeatedActivities: repeated.length,
        extraExecutions: repeated.reduce((sum, { times }) => sum + times - 1, 0),
        problems: this.#problems,
      };
    } finally {
      store.close();
    }
  }

  /** What a parent has recorded of its helper is true of it, and the other way round. */
  #judgeChildren(found: ReadonlySet<string>): void {
    for (const [id, ended] of this.#parents) {
      if (!found.has(id)) {
        this.#problems.push(`the parent of ${id} has recorded its start, and it is gone`);
      } else if (ended !== this.#closed.has(id) && !this.#waiting.has(id)) {
        this.#problems.push(`${id}: its end is ${ended ? "known and has not come" : "unknown"}`);
      }
    }
  }

  async #judgeRun(
    id: string,
    runId: string,
    bytes: readonly Uint8Array[],
    waiting: readonly string[],
    closed: boolean,
  ): Promise<void> {
    const problem = (what: string) => this.#problems.push(`${id}: ${what}`);
    const events = bytes.flatMap((part) => fromBinary(HistorySchema, part).events);
    events.forEach((event, i) =>
      Number(event.eventId) === i + 1 || problem(`event ${event.eventId} is at position ${i + 1}`)
    );
    const once = new Set<string>();
    const unique = (
      what: string,
    ) => (once.has(what) ? problem(`${what} is recorded twice`) : once.add(what));
    for (const event of events) this.#judgeEvent(id, event, unique, problem);
    // What came during a workflow task is not in the history yet, but it is known.
    if (!closed && waiting.some((item) => item.includes(id + HELPER))) {
      this.#waiting.add(id + HELPER);
    }
    for (const what of this.#acknowledged) {
      const [kind, of, name] = what.split(" ");
      if (of !== id) continue;
      const kept = once.has(`signal ${name}`) ||
        (!closed && waiting.some((item) => item.includes(`"${name}"`)));
      if (kind === "signal" && !kept) problem(`signal ${name} was acknowledged and is gone`);
      if (kind === "update" && !once.has(`update ${name} completed`)) {
        problem(`update ${name} was acknowledged and is gone`);
      }
    }
    if (!closed) return;
    if (events.at(-1)?.attributes.case !== "workflowExecutionCompletedEventAttributes") {
      problem(`ended with ${events.at(-1)?.attributes.case}`);
    }
    this.#events += events.length;
    const length = bytes.reduce((sum, part) => sum + part.length, 0);
    const history = new Uint8Array(length);
    bytes.reduce((at, part) => (history.set(part, at), at + part.length), 0);
    const verdict = await (await this.#realm).replay(id, history, { runId });
    if (verdict.verdict === "ok") this.#replayed++;
    else problem(`does not replay: ${verdict.error?.message}`);
  }

  #judgeEvent(
    id: string,
    { attributes }: HistoryEvent,
    unique: (what: string) => void,
    problem: (what: string) => void,
  ): void {
    const valueOf = (list: { payloads: { data: Uint8Array }[] } | undefined) =>
      JSON.parse(text.decode(list!.payloads[0]!.data));
    switch (attributes.case) {
      case "workflowExecutionSignaledEventAttributes": {
        const name = valueOf(attributes.value.input);
        unique(`signal ${name}`);
        const parent = attributes.value.externalWorkflowExecution?.workflowId;
        const sent = parent === undefined
          ? this.#tried.has(`signal ${id} ${name}`)
          : id === parent + HELPER;
        if (!sent) problem(`the signal ${name} was never sent`);
        break;
      }
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const name = attributes.value.acceptedRequest?.meta?.updateId;
        unique(`update ${name}`);
        if (!this.#tried.has(`update ${id} ${name}`)) problem(`the update ${name} was never sent`);
        break;
      }
      case "workflowExecutionUpdateCompletedEventAttributes":
        unique(`update ${attributes.value.meta?.updateId} completed`);
        break;
      case "activityTaskScheduledEventAttributes":
        unique(`activity ${attributes.value.activityId}`);
        unique(`step ${valueOf(attributes.value.input)}`);
        break;
      case "activityTaskStartedEventAttributes":
        unique(`start of the activity of event ${attributes.value.scheduledEventId}`);
        break;
      case "activityTaskCompletedEventAttributes":
        unique(`completion of the activity of event ${attributes.value.scheduledEventId}`);
        break;
      case "childWorkflowExecutionStartedEventAttributes":
        unique(`start of the child of event ${attributes.value.initiatedEventId}`);
        this.#parents.set(id + HELPER, false);
        break;
      case "childWorkflowExecutionCompletedEventAttributes":
        unique(`end of the child of event ${attributes.value.initiatedEventId}`);
        this.#parents.set(id + HELPER, true);
        break;
      case "externalWorkflowExecutionSignaledEventAttributes":
        unique(`the signal of event ${attributes.value.initiatedEventId}`);
        break;
      case "startChildWorkflowExecutionFailedEventAttributes":
      case "signalExternalWorkflowExecutionFailedEventAttributes":
        problem(`${attributes.case} ${attributes.value.cause}`);
        break;
      case "timerStartedEventAttributes":
        unique(`timer ${attributes.value.timerId}`);
        break;
      case "timerFiredEventAttributes":
        unique(`end of timer ${attributes.value.timerId}`);
        break;
    }
  }
}
