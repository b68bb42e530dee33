// What a run shows of itself between two activations: where its code waits, what it has published,
// which messages it takes and which it has not taken. Debug sessions and built-in queries read it.
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

/** A promise that a primitive handed out and that nothing has settled. */
export interface Wait {
  readonly kind: WaitKind;
  /** For people: `activity "charge"`. */
  readonly label: string;
  /** Whose it is: `run of workflow "Cart"`, `branch 2 of parallel in ...`. */
  readonly fiber: string;
  /** The user's line, where call sites are recorded; "" otherwise. */
  readonly site: string;
  /** Seq of the command that it stands for; 0: none. */
  readonly seq: number;
}

/** The messages that a run takes where it stands. */
export interface ReceiveState {
  /** Names of the signals that it handles. */
  readonly signals: readonly string[];
  /** Names of the updates that it handles. */
  readonly updates: readonly string[];
  /** It takes no new ones: it was stopped, timed out or cancelled, and waits for handlers in flight. */
  readonly stopping: boolean;
  /** Labels of handlers that have not ended. */
  readonly handling: readonly string[];
}

/** A look at a run between two activations. */
export interface RunSnapshot {
  /** The same object as long as nothing else was published. */
  readonly published: Payload | undefined;
  /** Pending promises, the same objects as long as they pend, and what each waits for. */
  readonly waits: Iterable<{ inspect(): Wait; readonly promise?: object; readonly owner?: object }>;
  readonly receive: ReceiveState | undefined;
  /** How many signals of each name nothing has taken. */
  readonly buffered: Readonly<Record<string, number>>;
  /** How many awaits have been passed; absent where a program does not count them. */
  readonly phase?: number;
}
