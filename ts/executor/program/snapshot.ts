// A run between two activations: where its code waits, what it has published, and its messages.
// Read by debug sessions and built-in queries.
import type { Payload } from "../../converter/payload.ts";

/** What a pending promise of workflow code waits for. */
export type WaitKind =
  | "timer"
  | "activity"
  | "localActivity"
  | "transact"
  | "childStart"
  | "childWorkflow"
  | "nexusStart"
  | "nexusOperation"
  | "externalSignal"
  | "externalCancel"
  | "signal"
  | "receive"
  | "receiveTimeout"
  | "select"
  | "selectTimer"
  | "children"
  | "condition"
  | "state";

/** A pending promise of a primitive. */
export interface Wait {
  readonly kind: WaitKind;
  /** For display: `activity "charge"`. */
  readonly label: string;
  /** The fiber's label: `run of workflow "Cart"`, `branch 2 of parallel in ...`. */
  readonly fiber: string;
  /** The user's line, if call sites are recorded; "" otherwise. */
  readonly site: string;
  /** Seq of its command; 0 without a command. */
  readonly seq: number;
}

/** The messages that a run accepts at this point. */
export interface ReceiveState {
  /** Names of handled signals. */
  readonly signals: readonly string[];
  /** Names of handled updates. */
  readonly updates: readonly string[];
  /** Stopped, timed out or canceled: accepts no messages and waits for running handlers. */
  readonly stopping: boolean;
  /** Labels of running handlers. */
  readonly handling: readonly string[];
}

/** A snapshot of a run between two activations. */
export interface RunSnapshot {
  /** The same object until something else is published. */
  readonly published: Payload | undefined;
  /** Pending promises (stable objects), and what each waits for. */
  readonly waits: Iterable<{ inspect(): Wait; readonly promise?: object; readonly owner?: object }>;
  readonly receive: ReceiveState | undefined;
  /** Number of buffered signals by name. */
  readonly buffered: Readonly<Record<string, number>>;
  /** Number of passed awaits; absent if the program does not count them. */
  readonly phase?: number;
}
