// Records the probes of a debug session's modules during one replay, as deltas per activation.
// `debug/code` derives views. All of this runs during workflow code, so it must not call user code
// (copied_value.ts) and awaits nothing: its one reaction to an awaited promise runs before the code
// continues, and queues nothing.
import type { Activation } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { copiedText, isPlainPromise, readMistake } from "../program/copied_value.ts";
import { current } from "../program/current.ts";
import { fiberName } from "../program/fiber_names.ts";
import { LazyAwait } from "../program/lazy_await.ts";
import type {
  GuardEffect,
  LineProbes,
  LineWatcher,
  RunWatch,
  VariableReader,
  WatchedFiber,
} from "../program/line_probe.ts";
import { safeText, stackOf } from "../../converter/thrown.ts";
import { userFrame } from "../program/call_site.ts";
import type {
  AwaitRecord,
  CaughtRecord,
  GuardRecord,
  LaneRecord,
  LineTrace,
  LookRecord,
  TestRecord,
  WakeRecord,
} from "./line_records.ts";

/** Maximum points of a path; the end is kept. */
const MAX_PATH = 512;

/** Maximum characters of a copied value. */
export const MAX_COPY = 4096;
/** Above MANY characters in total, values are copied up to LITTLE; above TOO_MANY not at all. */
const MANY = 24 * 1024 * 1024, LITTLE = 256, TOO_MANY = 48 * 1024 * 1024;

/** Objects among operands are copied up to this size, and only this often per test and activation. */
const OPERAND_SIZE = 256, COPIED_OPERANDS = 200;
/** Maximum characters of a caught error, and number of caught errors. */
const MAX_CAUGHT_TEXT = 200, MAX_CAUGHT = 10_000;

/** A test that is being evaluated, and its last evaluation in the activation. */
interface TestNow {
  /** Values of primitive operands, or texts of objects; empty: not evaluated. */
  now: OperandNow[];
  last: readonly OperandNow[] | undefined;
  value: unknown;
  copies: number;
}

/** `text`: index of the copy of an object; -1: not copied; undefined: `value` is primitive. */
interface OperandNow {
  readonly value: unknown;
  readonly text: number | undefined;
}

const isPrimitive = (value: unknown): boolean =>
  value === null || (typeof value !== "object" && typeof value !== "function");

/** Maximum recorded awaits and variable reads: endless code makes millions. */
const MAX_RECORDS = 1_000_000;

/** Lane in triples of hits outside a lane. */
export const NO_LANE = 0xffff_ffff;

/** The promise awaited by `await value`, if it can be found without running user code. */
function awaited(value: unknown): Promise<unknown> | undefined {
  if (isPlainPromise(value)) return value;
  return typeof value === "object" && value !== null ? LazyAwait.promiseIn(value) : undefined;
}

/** The cause of a fiber's start. */
interface Begun {
  readonly eventId: number;
  readonly update: string;
}

const ofLane = ({ cause: eventId, update }: LaneRecord): Begun => ({ eventId, update });

const { then } = Promise.prototype;
const react = Function.prototype.call.bind(then) as (
  promise: Promise<unknown>,
  kept: (value: unknown) => void,
  broken: (reason: unknown) => void,
) => void;

export class LineTracer implements LineWatcher, RunWatch {
  readonly #probes: LineProbes;
  #at = -1;
  #event = 0;
  readonly #messages = new WeakMap<object, Begun>();
  #cause: Begun | undefined;
  readonly #lanes: LaneRecord[] = [];
  readonly #laneOf = new WeakMap<object, number>();
  #lastOwner: object | undefined;
  #lastLane = -1;
  readonly #counts = new Map<number, Map<number, number>>();
  #ofLane = new Map<number, number>();
  #countedLane = -2;
  #hits = new Uint32Array(1024);
  #used = 0;
  readonly #hitEnds: number[] = [];
  readonly #looks: LookRecord[] = [];
  readonly #lastLook = new Map<number, readonly number[]>();
  readonly #awaits: AwaitRecord[] = [];
  /** Pending awaits of the activation, with their promises. */
  #fresh: { readonly record: AwaitRecord; readonly promise: object }[] = [];
  readonly #wakes: WakeRecord[] = [];
  readonly #texts: string[] = [];
  readonly #textOf = new Map<string, number>();
  readonly #cut = new Set<number>();
  #size = 0;
  readonly #logs: [number, number][] = [];
  readonly #published: [number, number, number][] = [];
  readonly #states: { at: number; lane: number; point: number; text: number }[] = [];
  readonly #guards: GuardRecord[] = [];
  readonly #tests: TestRecord[] = [];
  readonly #caught: CaughtRecord[] = [];
  /** Tests by lane and point. */
  readonly #testsOf = new Map<number, Map<number, TestNow>>();
  /** Records of the activation, by point, lane and API. */
  readonly #guardsNow = new Map<string, GuardRecord>();
  readonly #waitLanes: number[] = [];
  readonly #waitOf = new WeakMap<object, number>();
  /** The last executed point, and the last statement. */
  #point = -1;
  #statement = -1;
  /** The last executed point by lane: code resumes within a statement after its await. */
  readonly #pointOf = new Map<number, number>();
  /** Id of the WorkflowTaskStarted event of the task whose path is recorded. */
  readonly #pathOf: number | undefined;
  #isOnPath = false;
  #path: number[] = [];

  constructor(probes: LineProbes, pathOf?: number) {
    this.#probes = probes;
    this.#pathOf = pathOf;
    if (probes.loading.size > 0) this.#counts.set(NO_LANE, new Map(probes.loading));
  }

  // --------------------------------------------------------------------------------- the task loop

  /** Starts an activation: probes report here until its end. */
  begin({ jobs, startedEventId }: Activation): void {
    this.#at++;
    this.#isOnPath = startedEventId === this.#pathOf;
    for (const { eventId, variant } of jobs) {
      if (variant?.$case === "signalWorkflow") {
        this.#messages.set(variant.value.input, { eventId, update: "" });
      } else if (variant?.$case === "doUpdate") {
        const { input, protocolInstanceId: update } = variant.value;
        this.#messages.set(input, { eventId, update });
      }
    }
    this.#probes.watcher = this;
  }

  /** Ends an activation, and stores how often each line ran in it. */
  end(): void {
    if (this.#probes.watcher === this) this.#probes.watcher = undefined;
    for (const [lane, counts] of this.#counts) {
      for (const [point, count] of counts) this.#keep(point, lane, count);
    }
    this.#counts.clear();
    this.#guardsNow.clear();
    this.#keepTests();
    this.#countedLane = -2;
    this.#hitEnds.push(this.#used);
    for (const { record, promise } of this.#fresh) {
      if (record.to < 0) record.wait = this.#waitOf.get(promise) ?? -1;
    }
    this.#fresh = [];
    this.#lastOwner = undefined;
  }

  #keep(point: number, lane: number, count: number): void {
    if (this.#used + 3 > this.#hits.length) {
      const more = new Uint32Array(2 * this.#hits.length);
      more.set(this.#hits);
      this.#hits = more;
    }
    this.#hits[this.#used++] = point;
    this.#hits[this.#used++] = lane;
    this.#hits[this.#used++] = count;
  }

  /** Records a wait of the snapshot, in the order of the trace. */
  wait(promise: object | undefined, fiber: object | undefined): void {
    if (promise !== undefined) this.#waitOf.set(promise, this.#waitLanes.length);
    this.#waitLanes.push(fiber === undefined ? -1 : this.#laneOf.get(fiber) ?? -1);
  }

  /** Records a log line. */
  logged(): void {
    const lane = this.#lane();
    this.#logs.push([this.#pointIn(lane), lane]);
  }

  published(): void {
    const lane = this.#lane();
    this.#published.push([this.#at, this.#pointIn(lane), lane]);
  }

  get trace(): LineTrace {
    return {
      modules: this.#probes.modules,
      hits: this.#hits.slice(0, this.#used),
      hitEnds: Uint32Array.from(this.#hitEnds),
      looks: this.#looks,
      awaits: this.#awaits,
      lanes: this.#lanes,
      wakes: this.#wakes,
      texts: this.#texts,
      cut: [...this.#cut],
      logs: this.#logs,
      waitLanes: this.#waitLanes,
      published: this.#published,
      states: this.#states,
      guards: this.#guards,
      tests: this.#tests,
      caught: this.#caught,
      path: this.#path.slice(-2 * MAX_PATH),
    };
  }

  // ---------------------------------------------------------------------------------------- fibers

  told(eventId: number): void {
    this.#event = eventId;
  }

  about(cause: object): void {
    const lane = this.#laneOf.get(cause);
    this.#cause = lane === undefined ? this.#messages.get(cause) : ofLane(this.#lanes[lane]!);
  }

  began(fiber: WatchedFiber): void {
    const { kind, label, parent } = fiber;
    const { eventId: cause, update } = this.#cause ?? { eventId: this.#event, update: "" };
    this.#cause = undefined;
    this.#lastOwner = undefined;
    const lane = this.#lanes.push({
      ...{ kind, name: fiberName(kind, label), label, from: this.#at, to: -1, cause, update },
      parent: parent === undefined ? -1 : this.#laneOf.get(parent) ?? -1,
    }) - 1;
    this.#laneOf.set(fiber, lane);
    if (cause > 0) this.#wakes.push({ at: this.#at, eventId: cause, lane, point: -1, wait: -1 });
  }

  turned(): void {
    this.#lastOwner = undefined;
  }

  ended(fiber: WatchedFiber): void {
    const lane = this.#lanes[this.#laneOf.get(fiber) ?? -1];
    if (lane !== undefined && lane.to < 0) lane.to = this.#at;
  }

  stateSet(state: unknown): void {
    // A handler's result is applied between turns; a receive starts within a statement.
    const lane = this.#lane();
    this.#states.push({
      at: this.#at,
      lane,
      point: lane < 0 ? this.#point : this.#statement,
      text: this.#copy(state),
    });
  }

  /** The lane of the running code. */
  #lane(): number {
    const owner = (current.fiber ?? current.run?.fiberNow?.()) as object | undefined;
    if (owner === undefined) return -1;
    if (owner !== this.#lastOwner) {
      this.#lastOwner = owner;
      this.#lastLane = this.#laneOf.get(owner) ?? -1;
    }
    return this.#lastLane;
  }

  // ---------------------------------------------------------------------------------------- probes

  hit(point: number, read: VariableReader): void {
    this.#statement = point;
    const lane = this.#ran(point);
    if (read !== undefined) this.#look(point, lane, read);
  }

  /** Counts a hit; returns its lane. */
  #ran(point: number): number {
    this.#point = point;
    const lane = this.#lane();
    this.#pointOf.set(lane, point);
    if (lane !== this.#countedLane) {
      this.#countedLane = lane;
      const key = lane < 0 ? NO_LANE : lane;
      let counts = this.#counts.get(key);
      if (counts === undefined) this.#counts.set(key, counts = new Map());
      this.#ofLane = counts;
    }
    this.#ofLane.set(point, (this.#ofLane.get(point) ?? 0) + 1);
    if (this.#isOnPath) this.#walk(point, lane);
    return lane;
  }

  #pointIn(lane: number): number {
    return this.#pointOf.get(lane) ?? this.#point;
  }

  #walk(point: number, lane: number): void {
    this.#path.push(point, lane);
    if (this.#path.length > 4 * MAX_PATH) this.#path = this.#path.slice(-2 * MAX_PATH);
  }

  calls(point: number, read: VariableReader): void {
    this.#look(point, this.#ran(point), read);
  }

  awaits(point: number, value: unknown, read: VariableReader): void {
    const lane = this.#ran(point);
    this.#look(point, lane, read);
    const promise = awaited(value);
    if (promise === undefined || this.#awaits.length >= MAX_RECORDS) return;
    const record: AwaitRecord = {
      ...{
        point,
        lane,
        from: this.#at,
        to: -1,
        endedBy: 0,
        outcome: -1,
        rejected: false,
        wait: -1,
      },
    };
    this.#awaits.push(record);
    this.#fresh.push({ record, promise });
    react(
      promise,
      (given) => this.#settled(record, given, false),
      (reason) => this.#settled(record, reason, true),
    );
  }

  guarded(api: string, effect: GuardEffect, given: number | string): void {
    const lane = this.#lane();
    const point = this.#pointIn(lane);
    const key = `${point} ${lane} ${api}`;
    let record = this.#guardsNow.get(key);
    if (record === undefined) {
      record = { at: this.#at, lane, point, api, effect, text: -1 };
      this.#guardsNow.set(key, record);
      this.#guards.push(record);
    }
    record.text = this.#copy(given);
  }

  tested(point: number, value: unknown): void {
    const test = this.#testAt(point);
    test.last = test.now;
    test.now = [];
    test.value = value;
  }

  operand(point: number, index: number, value: unknown): void {
    const test = this.#testAt(point);
    if (isPrimitive(value)) {
      test.now[index] = { value, text: undefined };
      return;
    }
    const text = test.copies++ < COPIED_OPERANDS ? this.#copy(value, OPERAND_SIZE) : -1;
    test.now[index] = { value: undefined, text };
  }

  #testAt(point: number): TestNow {
    const lane = this.#lane();
    let tests = this.#testsOf.get(lane);
    if (tests === undefined) this.#testsOf.set(lane, tests = new Map());
    let test = tests.get(point);
    if (test === undefined) {
      tests.set(point, test = { now: [], last: undefined, value: undefined, copies: 0 });
    }
    return test;
  }

  /** Records the last evaluation of each test in the activation. */
  #keepTests(): void {
    for (const [lane, tests] of this.#testsOf) {
      for (const [point, test] of tests) {
        const { last, value } = test;
        if (last === undefined || this.#tests.length >= MAX_RECORDS) continue;
        const operands = Array.from(last, (one) => one === undefined ? -1 : this.#textOfNow(one));
        const result = this.#copy(value, OPERAND_SIZE);
        this.#tests.push({ at: this.#at, lane, point, result, isTrue: Boolean(value), operands });
        [test.last, test.value, test.copies] = [undefined, undefined, 0];
      }
    }
  }

  #textOfNow({ value, text }: OperandNow): number {
    return text ?? this.#copy(value, OPERAND_SIZE);
  }

  caught(point: number, error: unknown): void {
    const mistake = readMistake(error);
    if (mistake === undefined || this.#caught.length >= MAX_CAUGHT) return;
    const text = safeText(`${mistake.name}: ${mistake.message}`, MAX_CAUGHT_TEXT);
    const site = userFrame(stackOf(error));
    this.#caught.push({ at: this.#at, lane: this.#lane(), point, error: text, site });
  }

  #settled(record: AwaitRecord, outcome: unknown, rejected: boolean): void {
    const { lane, point } = record;
    record.to = this.#at;
    record.endedBy = this.#event;
    record.rejected = rejected;
    record.outcome = this.#copy(outcome);
    if (record.from < this.#at) {
      this.#wakes.push({ at: this.#at, eventId: this.#event, lane, point, wait: record.wait });
    }
  }

  #look(point: number, lane: number, read: VariableReader): void {
    if (this.#looks.length >= MAX_RECORDS) return;
    const texts: number[] = [];
    if (typeof read === "function") {
      const count = this.#variablesOf(point);
      for (let i = 0; i < count; i++) texts.push(this.#readAt(read, i));
    }
    const last = this.#lastLook.get(point);
    const same = last !== undefined && last.length === texts.length &&
      last.every((text, i) => text === texts[i]);
    if (!same) this.#lastLook.set(point, texts);
    this.#looks.push({ point, at: this.#at, lane, texts: same ? last : texts });
  }

  #readAt(read: (index: number) => unknown, index: number): number {
    let value: unknown;
    try {
      value = read(index);
    } catch {
      return -1;
    }
    return this.#copy(value);
  }

  #variables: number[] | undefined;

  #variablesOf(point: number): number {
    this.#variables ??= this.#probes.modules.flatMap(({ points }) =>
      points.map(({ variables }) => variables.length)
    );
    return this.#variables[point] ?? 0;
  }

  #copy(value: unknown, most = MAX_COPY): number {
    const limit = this.#size < MANY ? most : LITTLE;
    const { text, cut } = this.#size < TOO_MANY
      ? copiedText(value, limit)
      : { text: '"<not kept>"', cut: true };
    const key = cut ? `…${text}` : text;
    let index = this.#textOf.get(key);
    if (index === undefined) {
      index = this.#texts.push(text) - 1;
      this.#textOf.set(key, index);
      this.#size += text.length;
      if (cut) this.#cut.add(index);
    }
    return index;
  }
}
