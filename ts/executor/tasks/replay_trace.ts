// What a debug session wants to know of a replay, written down task by task: what the code was told, what it waited for afterwards, what
// it had published, which messages it had not taken, and its log lines (which a replay leaves out otherwise). Plain data: it leaves the
// realm in one message. Commands are the Recorder's.
import type { Activation } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload } from "../../converter/payload.ts";
import type { LogEntry, LogSink } from "../program/program.ts";
import type { ReceiveState, RunSnapshot, Wait } from "../program/snapshot.ts";
import type { LineTrace } from "./line_records.ts";
import type { LineTracer } from "./line_trace.ts";

/** What the code was told, in order. */
export interface TracedJob {
  readonly eventId: number;
  readonly kind: string;
  /** Of a message: its name. */
  readonly name?: string;
  /** Of an update: the caller's id, and the id that responses refer to. */
  readonly updateId?: string;
  readonly protocolInstanceId?: string;
  readonly input?: readonly Payload[];
}

/** Something that holds from one activation on until another one. */
export interface Span<T> {
  /** Index of the activation after which it held first. */
  readonly from: number;
  readonly value: T;
}

export interface ReplayTrace {
  /** Per activation, as the recorded ones. */
  readonly jobs: readonly (readonly TracedJob[])[];
  /** `to`: index of the activation after which it was settled; undefined: it still pends. */
  readonly waits: readonly (Span<Wait> & { readonly to: number | undefined })[];
  readonly published: readonly Span<Payload | undefined>[];
  readonly receives: readonly Span<ReceiveState | undefined>[];
  readonly buffered: readonly Span<Readonly<Record<string, number>>>[];
  /** Awaits that were passed; of programs that count them. */
  readonly phases?: readonly Span<number>[];
  /** `from`: the activation that wrote the line. */
  readonly logs: readonly Span<LogEntry>[];
  /** Of a replay with `lines`. */
  readonly lines?: LineTrace;
}

type OpenWait = { from: number; value: Wait; to: number | undefined };

export class ReplayTracer implements LogSink {
  /** Told of the event at which an activation begins. */
  readonly #progress: ((startedEventId: number) => void) | undefined;
  readonly #jobs: TracedJob[][] = [];
  readonly #waits: OpenWait[] = [];
  #pending = new Map<object, OpenWait>();
  readonly #published: Span<Payload | undefined>[] = [];
  readonly #receives: Span<ReceiveState | undefined>[] = [];
  readonly #buffered: Span<Readonly<Record<string, number>>>[] = [];
  readonly #phases: Span<number>[] = [];
  readonly #logs: Span<LogEntry>[] = [];

  readonly lines: LineTracer | undefined;

  constructor(progress?: (startedEventId: number) => void, lines?: LineTracer) {
    this.#progress = progress;
    this.lines = lines;
  }

  write(entry: LogEntry): void {
    this.#logs.push({ from: this.#jobs.length - 1, value: entry });
    this.lines?.logged();
  }

  /** An activation begins. */
  begin(activation: Activation): void {
    this.#progress?.(activation.startedEventId);
    this.#jobs.push(activation.jobs.map(jobOf));
    this.lines?.begin(activation);
  }

  /** The run is quiet, or its task has failed. `snapshot` is absent where a program shows nothing of itself. */
  end(snapshot: RunSnapshot | undefined): void {
    if (snapshot !== undefined) this.#look(snapshot);
    this.lines?.end();
  }

  #look(snapshot: RunSnapshot): void {
    const at = this.#jobs.length - 1;
    if (this.#published.at(-1)?.value !== snapshot.published) this.#published.push({ from: at, value: snapshot.published });
    if (!same(this.#receives.at(-1)?.value, snapshot.receive)) this.#receives.push({ from: at, value: snapshot.receive });
    if (!same(this.#buffered.at(-1)?.value ?? {}, snapshot.buffered)) {
      this.#buffered.push({ from: at, value: snapshot.buffered });
    }
    const { phase } = snapshot;
    if (phase !== undefined && this.#phases.at(-1)?.value !== phase) this.#phases.push({ from: at, value: phase });
    const pending = new Map<object, OpenWait>();
    for (const awaiter of snapshot.waits) {
      let wait = this.#pending.get(awaiter);
      if (wait === undefined) {
        this.#waits.push(wait = { from: at, value: awaiter.inspect(), to: undefined });
        this.lines?.wait(awaiter.promise, awaiter.owner);
      } else this.#pending.delete(awaiter);
      pending.set(awaiter, wait);
    }
    for (const settled of this.#pending.values()) settled.to = at;
    this.#pending = pending;
  }

  get trace(): ReplayTrace {
    return {
      jobs: this.#jobs,
      waits: this.#waits,
      published: this.#published,
      receives: this.#receives,
      buffered: this.#buffered,
      phases: this.#phases,
      logs: this.#logs.map(({ from, value }) => ({ from, value: clonable(value) })),
      ...(this.lines === undefined ? {} : { lines: this.lines.trace }),
    };
  }
}

/** Small plain data, made in one order of keys each. */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function jobOf({ eventId, variant }: Activation["jobs"][number]): TracedJob {
  switch (variant?.$case) {
    case "signalWorkflow":
      return { eventId, kind: "signalWorkflow", name: variant.value.signalName, input: variant.value.input };
    case "doUpdate": {
      const { id, name, protocolInstanceId, input } = variant.value;
      return { eventId, kind: "doUpdate", name, updateId: id, protocolInstanceId, input };
    }
    default:
      return { eventId, kind: variant?.$case ?? "" };
  }
}

/** Fields that no message takes (functions, objects with private parts) are shown as text. */
function clonable(entry: LogEntry): LogEntry {
  try {
    return { ...entry, fields: JSON.parse(JSON.stringify(entry.fields)) as LogEntry["fields"] };
  } catch {
    return { ...entry, fields: Object.fromEntries(Object.entries(entry.fields).map(([key, value]) => [key, String(value)])) };
  }
}
