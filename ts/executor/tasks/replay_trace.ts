// Records a replay for debug sessions, task by task: jobs, later waits, published states, buffered
// messages and log lines. Plain data, sent from the realm in one message. Commands are in the
// Recorder.
import type { Activation } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload } from "../../converter/payload.ts";
import type { MessageSite } from "../program/definition_sites.ts";
import type { LogEntry, LogSink } from "../program/program.ts";
import type { ReceiveState, RunSnapshot, Wait } from "../program/snapshot.ts";
import type { LineTrace } from "./line_records.ts";
import type { LineTracer } from "./line_trace.ts";

/** A job of the code, in order. */
export interface TracedJob {
  readonly eventId: number;
  readonly kind: string;
  /** Name of the message. */
  readonly name?: string;
  /** For updates: the caller's id, and the id in responses. */
  readonly updateId?: string;
  readonly protocolInstanceId?: string;
  readonly input?: readonly Payload[];
}

/** A value that holds from one activation until another. */
export interface Span<T> {
  /** Index of the activation after which it first held. */
  readonly from: number;
  readonly value: T;
}

export interface ReplayTrace {
  /** Per activation, as the recorded ones. */
  readonly jobs: readonly (readonly TracedJob[])[];
  /** `to`: index of the activation after which it was settled; undefined: pending. */
  readonly waits: readonly (Span<Wait> & { readonly to: number | undefined })[];
  readonly published: readonly Span<Payload | undefined>[];
  readonly receives: readonly Span<ReceiveState | undefined>[];
  readonly buffered: readonly Span<Readonly<Record<string, number>>>[];
  /** Passed awaits, for programs that count them. */
  readonly phases?: readonly Span<number>[];
  /** `from`: the activation that wrote the line. */
  readonly logs: readonly Span<LogEntry>[];
  /** Of a replay with `lines`. */
  readonly lines?: LineTrace;
  /** Handlers, each with the line where it was last set. */
  readonly handlers?: readonly MessageSite[];
}

type OpenWait = { from: number; value: Wait; to: number | undefined };

export class ReplayTracer implements LogSink {
  /** Called with the event at which an activation starts. */
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

  /** Starts an activation. */
  begin(activation: Activation): void {
    this.#progress?.(activation.startedEventId);
    this.#jobs.push(activation.jobs.map(jobOf));
    this.lines?.begin(activation);
  }

  /** Ends an activation. `snapshot` is absent for programs without one. */
  end(snapshot: RunSnapshot | undefined): void {
    if (snapshot !== undefined) this.#look(snapshot);
    this.lines?.end();
  }

  #look(snapshot: RunSnapshot): void {
    const at = this.#jobs.length - 1;
    if (this.#published.at(-1)?.value !== snapshot.published) {
      this.#published.push({ from: at, value: snapshot.published });
    }
    if (!same(this.#receives.at(-1)?.value, snapshot.receive)) {
      this.#receives.push({ from: at, value: snapshot.receive });
    }
    if (!same(this.#buffered.at(-1)?.value ?? {}, snapshot.buffered)) {
      this.#buffered.push({ from: at, value: snapshot.buffered });
    }
    const { phase } = snapshot;
    if (phase !== undefined && this.#phases.at(-1)?.value !== phase) {
      this.#phases.push({ from: at, value: phase });
    }
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

/** Compares small plain data with a fixed order of keys. */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function jobOf({ eventId, variant }: Activation["jobs"][number]): TracedJob {
  switch (variant?.$case) {
    case "signalWorkflow":
      return {
        eventId,
        kind: "signalWorkflow",
        name: variant.value.signalName,
        input: variant.value.input,
      };
    case "doUpdate": {
      const { id, name, protocolInstanceId, input } = variant.value;
      return { eventId, kind: "doUpdate", name, updateId: id, protocolInstanceId, input };
    }
    default:
      return { eventId, kind: variant?.$case ?? "" };
  }
}

/** Fields that cannot be cloned (functions, private parts) are converted to text. */
function clonable(entry: LogEntry): LogEntry {
  try {
    return { ...entry, fields: JSON.parse(JSON.stringify(entry.fields)) as LogEntry["fields"] };
  } catch {
    return {
      ...entry,
      fields: Object.fromEntries(
        Object.entries(entry.fields).map(([key, value]) => [key, String(value)]),
      ),
    };
  }
}
