// Rows of the views' table `waits`: timers and procedures that a run waits for, written with the
// state items they derive from. A timer's name is only in its event, which the same commit writes.
import {
  ActivityTaskScheduledEventAttributes,
  ActivityType,
  EngineActivityState,
  EngineHead,
  EngineTaskState,
  EngineTimerState,
  History,
  HistoryEvent,
  Payload,
  Payloads,
  UserMetadata,
} from "../../messages/generated/fields.ts";
import { Fields } from "../../messages/wire.ts";
import { procedureOf } from "../../converter/procedure_names.ts";
import type { SqlDatabase, SqlStatement } from "./driver.ts";
import type { RunWrite } from "../store.ts";

/** Kinds of state items, as in the engine. */
const ACTIVITY = 1, ACTIVITY_INPUT = 2, TIMER = 3;

/** The items of a run that are procedures; null: none; undefined: not read yet. */
export type Procedures = Set<string> | null | undefined;

const NONE: Uint8Array = new Uint8Array(0);
const text = new TextDecoder();

/**
 * The stage of an open run by its head: 0 before its first task is started, 1 with an open task,
 * else 2.
 */
export function stageOf(head: Uint8Array): 0 | 1 | 2 {
  let begun = false;
  let completed = false;
  try {
    for (const at = new Fields(head); at.next();) {
      if (at.tag === EngineHead.lastCompletedStartedId) completed = begun = true;
      // A failed first task is scheduled again, as a further attempt.
      else if (at.tag === EngineHead.taskAttempt) begun ||= at.int() > 1;
      else if (at.tag === EngineHead.task) return begun || isStarted(at.bytes()) ? 1 : 0;
    }
  } catch {
    // An undecodable head counts as far as it was read.
  }
  return completed ? 2 : begun ? 1 : 0;
}

/** Whether a worker has the task. */
function isStarted(task: Uint8Array): boolean {
  for (const at = new Fields(task); at.next();) {
    if (at.tag === EngineTaskState.startedId) return at.int() > 0;
  }
  return false;
}

/** Writes the rows of runs. */
export class Waits {
  readonly #put: SqlStatement;
  readonly #remove: SqlStatement;
  readonly #removeAll: SqlStatement;
  readonly #procedures: SqlStatement;

  constructor(database: SqlDatabase) {
    this.#put = database.prepare(
      `INSERT INTO waits (run_key, kind, id, label, name, at_ms, args) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms`,
    );
    this.#remove = database.prepare("DELETE FROM waits WHERE run_key = ? AND kind = ? AND id = ?");
    this.#removeAll = database.prepare("DELETE FROM waits WHERE run_key = ?");
    this.#procedures = database.prepare(
      `SELECT id FROM waits WHERE run_key = ? AND kind = ${ACTIVITY}`,
    );
  }

  /**
   * Applies a commit to the rows of a run. `procedures` are those before it; returns those after
   * it.
   */
  write(
    runKey: number,
    { put, remove }: Pick<RunWrite, "put" | "remove">,
    procedures: Procedures,
    named: (startedId: number) => string | undefined,
  ): Procedures {
    let known = procedures;
    for (const { kind, id, value } of put) {
      if (kind === TIMER) {
        const timer = timerOf(value);
        if (timer === undefined) continue;
        this.#put.run([
          runKey,
          TIMER,
          id,
          timer.label,
          named(timer.startedId) ?? null,
          timer.atMs,
          null,
        ]);
      } else if (kind === ACTIVITY || kind === ACTIVITY_INPUT) {
        const asked = procedureIn(kind, value);
        if (asked === undefined) continue;
        known = (this.#read(runKey, known) ?? new Set()).add(id);
        this.#put.run([
          runKey,
          ACTIVITY,
          id,
          asked.label,
          asked.name,
          asked.atMs || null,
          asked.args,
        ]);
      }
    }
    for (const { kind, id } of remove) {
      if (kind === TIMER) this.#remove.run([runKey, TIMER, id]);
      else if (kind === ACTIVITY) {
        known = this.#read(runKey, known);
        if (known?.delete(id)) this.#remove.run([runKey, ACTIVITY, id]);
      }
    }
    return known;
  }

  #read(runKey: number, known: Procedures): Set<string> | null {
    if (known !== undefined) return known;
    const rows = this.#procedures.all([runKey]);
    return rows.length === 0 ? null : new Set(rows.map((row) => row["id"] as string));
  }

  remove(runKey: number): void {
    this.#removeAll.run([runKey]);
  }
}

interface Timer {
  readonly label: string;
  readonly startedId: number;
  readonly atMs: number;
}

function timerOf(value: Uint8Array): Timer | undefined {
  let [label, startedId, atMs] = ["", 0, 0];
  try {
    for (const at = new Fields(value); at.next();) {
      if (at.tag === EngineTimerState.timerId) label = at.text();
      else if (at.tag === EngineTimerState.startedId) startedId = Number(at.int());
      else if (at.tag === EngineTimerState.fireUs) atMs = Number(at.int()) / 1000;
    }
  } catch {
    return undefined;
  }
  return { label, startedId, atMs };
}

/** The summary of the timer's event in encoded Histories; undefined if absent. */
export function nameOfTimer(
  histories: readonly Uint8Array[],
  startedId: number,
): string | undefined {
  for (const history of histories) {
    for (const events = new Fields(history); events.next();) {
      if (events.tag !== History.events) continue;
      let id = 0;
      let summary = NONE;
      for (const event = new Fields(events.bytes()); event.next();) {
        if (event.tag === HistoryEvent.eventId) {
          id = Number(event.int());
          if (id !== startedId) break;
        } else if (event.tag === HistoryEvent.userMetadata) {
          summary = field(event.bytes(), UserMetadata.summary);
        }
      }
      if (id !== startedId) continue;
      const name = parsed(jsonOf(summary));
      return typeof name === "string" ? name : undefined;
    }
  }
  return undefined;
}

function procedureIn(kind: number, value: Uint8Array) {
  try {
    let attributes = kind === ACTIVITY ? NONE : value;
    let atMs = 0;
    for (const at = new Fields(kind === ACTIVITY ? value : NONE); at.next();) {
      if (at.tag === EngineActivityState.attrs) attributes = at.bytes();
      else if (at.tag === EngineActivityState.firstScheduledUs) atMs = Number(at.int()) / 1000;
    }
    let label = "";
    let input = NONE;
    let name: string | undefined;
    for (const at = new Fields(attributes); at.next();) {
      if (at.tag === ActivityTaskScheduledEventAttributes.activityId) label = at.text();
      else if (at.tag === ActivityTaskScheduledEventAttributes.activityType) {
        name = procedureOf(text.decode(field(at.bytes(), ActivityType.name)));
        if (name === undefined) return undefined;
      } else if (at.tag === ActivityTaskScheduledEventAttributes.input) input = at.bytes();
    }
    return name === undefined ? undefined : { label, name, atMs, args: argsOf(input) };
  } catch {
    return undefined;
  }
}

/** The arguments as a JSON array; null if one is not JSON. */
function argsOf(input: Uint8Array): string | null {
  const args: string[] = [];
  for (const at = new Fields(input); at.next();) {
    if (at.tag !== Payloads.payloads) continue;
    const json = jsonOf(at.bytes());
    if (parsed(json) === undefined) return null;
    args.push(json);
  }
  return `[${args.join(",")}]`;
}

const jsonOf = (payload: Uint8Array): string => text.decode(field(payload, Payload.data));

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function field(message: Uint8Array, tag: number): Uint8Array {
  for (const at = new Fields(message); at.next();) if (at.tag === tag) return at.bytes();
  return NONE;
}
