// Values recorded at lines up to a position: the latest of each kind and name at each line, and the
// one before it.
import { CommandKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { LineTrace, LookRecord } from "../../executor/tasks/line_records.ts";
import type { RecordedCommand } from "../../executor/tasks/recording.ts";
import { decodeCommand } from "../commands.ts";
import type { SessionData } from "../session_data.ts";
import { countWhile } from "../spans.ts";
import { formatExactDuration, readPayload, readPayloads } from "../values.ts";
import { type Copies, copyValue } from "./copies.ts";
import type { Coverage } from "./coverage.ts";
import type { Places } from "./places.ts";
import type { CopiedValue, Crossing, CrossingKind, Place } from "./types.ts";

/** A recorded value, decoded when it is shown. */
interface Crossed {
  readonly at: number;
  readonly lane: number;
  readonly name: string;
  readonly kind: CrossingKind;
  read(): CopiedValue | undefined;
}

/** Values recorded at one place under one name, in order. */
interface Series {
  readonly place: Place;
  readonly all: Crossed[];
}

const WITH_ARGUMENTS: ReadonlySet<CommandKind> = new Set([
  CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY,
  CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY,
  CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW,
  CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW,
  CommandKind.COMMAND_KIND_TRANSACT,
  CommandKind.COMMAND_KIND_START_TIMER,
  CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES,
  CommandKind.COMMAND_KIND_CONTINUE_AS_NEW,
]);

export class Crossings {
  readonly #series = new Map<string, Series>();
  readonly #lines: LineTrace;
  readonly #places: Places;
  readonly #copies: Copies;
  readonly #coverage: Coverage;
  readonly #data: SessionData;
  /** By name: the looks at which a variable had a new value. */
  readonly variables = new Map<
    string,
    { readonly at: number; readonly lane: number; readonly text: number; readonly point: number }[]
  >();

  constructor(
    data: SessionData,
    lines: LineTrace,
    places: Places,
    copies: Copies,
    coverage: Coverage,
  ) {
    this.#data = data;
    this.#lines = lines;
    this.#places = places;
    this.#copies = copies;
    this.#coverage = coverage;
    this.#locals();
    this.#results();
    this.#commands();
    this.#messages();
    this.#states();
    this.#guarded();
    this.#operands();
    // Handlers end in another order than they begin.
    for (const { all } of this.#series.values()) all.sort((a, b) => a.at - b.at);
  }

  /**
   * Returns the values at a position. `at`: its last activation; `first`: the first activation of
   * its task.
   */
  at(first: number, at: number, file?: number): Crossing[] {
    const found: Crossing[] = [];
    for (const { place, all } of this.#series.values()) {
      if (file !== undefined && place.file !== file) continue;
      const last = countWhile(all.length, (i) => all[i]!.at <= at) - 1;
      const crossed = all[last];
      const value = crossed?.read();
      if (crossed === undefined || value === undefined) continue;
      const { kind, name, lane } = crossed;
      found.push({
        ...{ place, kind, name, value, before: this.#before(all, last, value) },
        fiber: lane < 0 ? undefined : lane,
        taskEventId: this.#data.activations[crossed.at]?.startedEventId ?? 0,
        isNew: crossed.at >= first,
      });
    }
    return found;
  }

  /**
   * The result of the await of a line that began at a look. `next`: the activation in which the lane
   * runs the line again.
   */
  resultAfter({ file, line }: Place, look: LookRecord, next: number): CopiedValue | undefined {
    const results = [...this.#series.values()].find(({ place, all: [first] }) =>
      place.file === file && place.line === line && first?.kind === "result"
    );
    return results?.all.find(({ at, lane }) => lane === look.lane && at >= look.at && at <= next)
      ?.read();
  }

  #before(all: readonly Crossed[], index: number, value: CopiedValue): CopiedValue | undefined {
    const before = index > 0 ? all[index - 1]!.read() : undefined;
    return before?.text === value.text ? undefined : before;
  }

  #add(place: Place | undefined, crossed: Crossed): void {
    if (place === undefined) return;
    const key = `${place.file} ${place.line} ${crossed.kind} ${crossed.name}`;
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, series = { place, all: [] });
    series.all.push(crossed);
  }

  /**
   * Records variables at looks where they are new or changed since the last look of their fiber.
   */
  #locals(): void {
    const last = new Map<string, number>();
    for (const look of this.#lines.looks) {
      const point = this.#places.point(look.point);
      point?.variables.forEach((name, i) => {
        const text = look.texts[i]!;
        const key = `${look.lane} ${name}`;
        if (text < 0 || last.get(key) === text || this.#copies.isFunction(text)) return;
        last.set(key, text);
        this.#sees(name, look, text);
      });
    }
  }

  #sees(name: string, { at, lane, point }: LookRecord, text: number): void {
    const seen = { at, lane, text, point };
    const all = this.variables.get(name);
    if (all === undefined) this.variables.set(name, [seen]);
    else all.push(seen);
    this.#add(this.#places.placeOf(point), {
      at,
      lane,
      name,
      kind: "local",
      read: () => this.#copies.of(text),
    });
  }

  #results(): void {
    // In the order in which the awaits ended.
    const over = this.#lines.awaits.filter(({ to, outcome }) => to >= 0 && outcome >= 0).sort((
      a,
      b,
    ) => a.to - b.to);
    for (const { to: at, lane, point, outcome, rejected } of over) {
      const name = this.#places.point(point)?.name ?? "";
      const read = () => this.#copies.of(outcome);
      this.#add(this.#places.placeOf(point), {
        at,
        lane,
        name,
        kind: rejected ? "failure" : "result",
        read,
      });
    }
  }

  /** Records arguments of commands. */
  #commands(): void {
    const { activations, cache } = this.#data;
    activations.forEach(({ commands }, at) => {
      for (const command of commands) {
        if (command.cancel || !WITH_ARGUMENTS.has(command.kind)) continue;
        // Equal names on one line are one series. Names are decoded only when shown, except for
        // timers, because a select may have several.
        const isTimer = command.kind === CommandKind.COMMAND_KIND_START_TIMER;
        const name = isTimer ? cache.namesOf(this.#data).timers.get(command.seq) ?? "" : "";
        const read = () => copyValue(this.#argumentsOf(command));
        this.#add(this.#places.ofSite(command.site), {
          at,
          lane: -1,
          name,
          kind: "arguments",
          read,
        });
      }
    });
  }

  /** Records arguments of handlers, and results of updates. */
  #messages(): void {
    const { trace, converter } = this.#data;
    this.#lines.lanes.forEach(({ kind, name, cause, update, from, to }, lane) => {
      if (kind !== "handler" && kind !== "async") return;
      const place = this.#places.placeOf(this.#coverage.firstPointOf(lane, from));
      const job = this.#jobOf(cause, update, name);
      if (job === undefined) return;
      const { input, protocolInstanceId, name: message = "" } = job;
      if (kind === "handler") {
        const read = () => copyValue(readPayloads(input, converter));
        this.#add(place, { at: from, lane, name: message, kind: "message", read });
      }
      if (protocolInstanceId === undefined || to < 0) return;
      const read = () => this.#answerOf(protocolInstanceId, to);
      this.#add(place, { at: to, lane, name: message, kind: "answer", read });
    });
    for (const [at, point, lane] of this.#lines.published) {
      const span = trace.published.find(({ from }) => from === at);
      const payload = span?.value;
      if (payload === undefined) continue;
      const read = () => {
        const seen = readPayload(payload, converter);
        return "value" in seen
          ? copyValue(seen.value)
          : copyValue(`<unreadable: ${seen.unreadable}>`);
      };
      this.#add(this.#places.placeOf(point), { at, lane, name: "", kind: "published", read });
    }
  }

  #jobs: Map<number, SessionData["trace"]["jobs"][number][number][]> | undefined;

  #jobOf(eventId: number, update: string, laneName: string) {
    if (this.#jobs === undefined) {
      this.#jobs = new Map();
      for (const job of this.#data.trace.jobs.flat()) {
        if (job.kind !== "signalWorkflow" && job.kind !== "doUpdate") continue;
        this.#jobs.set(job.eventId, [...this.#jobs.get(job.eventId) ?? [], job]);
      }
    }
    const jobs = this.#jobs.get(eventId) ?? [];
    return jobs.find(({ name = "", protocolInstanceId = "" }) =>
      protocolInstanceId === update && laneName.endsWith(`handler of ${name}`)
    );
  }

  #answerOf(protocolInstanceId: string, at: number): CopiedValue | undefined {
    const { activations, converter } = this.#data;
    for (const command of activations[at]?.commands ?? []) {
      if (command.kind !== CommandKind.COMMAND_KIND_UPDATE_RESPONSE) continue;
      const { kind, attributes } = decodeCommand(command, converter);
      if (attributes.protocolInstanceId !== protocolInstanceId || kind === "AcceptUpdate") continue;
      return copyValue(kind === "CompleteUpdate" ? attributes.result : attributes.failure);
    }
    return undefined;
  }

  /** Returns the value of commands without arguments: a duration, a subscription, attributes. */
  #argumentsOf(command: RecordedCommand): unknown {
    const names = this.#data.cache.namesOf(this.#data);
    const { attributes } = decodeCommand(command, this.#data.converter, names);
    const { arguments: given, durationMs, searchAttributes } = attributes;
    if (typeof durationMs === "number") return [formatExactDuration(durationMs)];
    const subscription = names.subscriptions.get(command)?.split(" ").slice(1).join(" ");
    if (subscription !== undefined) return [subscription];
    return given ?? [searchAttributes];
  }

  /** Records calls that the guard emulated or rejected. */
  #guarded(): void {
    for (const { at, lane, point, api, effect, text } of this.#lines.guards) {
      this.#add(this.#places.placeOf(point), {
        at,
        lane,
        name: api,
        kind: effect,
        read: () => this.#copies.of(text),
      });
    }
  }

  /** Records operands of tests. Their names are source texts. */
  #operands(): void {
    for (const { at, lane, point, operands } of this.#lines.tests) {
      const { test } = this.#places.point(point) ?? {};
      operands.forEach((text, i) => {
        if (test === undefined || text < 0 || this.#copies.isFunction(text)) return;
        this.#add(this.#places.placeOf(point), {
          at,
          lane,
          name: test.operands[i] ?? "",
          kind: "operand",
          read: () => this.#copies.of(text),
        });
      });
    }
  }

  #states(): void {
    for (const { at, lane, point, text } of this.#lines.states) {
      const read = () => this.#copies.of(text);
      this.#add(this.#places.placeOf(point), { at, lane, name: "", kind: "accumulator", read });
    }
    this.#lines.logs.forEach(([point, lane], i) => {
      const entry = this.#data.trace.logs[i];
      if (entry === undefined) return;
      const { from: at, value: { message } } = entry;
      this.#add(this.#places.placeOf(point), {
        at,
        lane,
        name: "",
        kind: "log",
        read: () => copyValue(message),
      });
    });
  }
}
