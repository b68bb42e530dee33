// Kills processes while local activities run. The next process sends other messages first, so that
// the workflow task runs again with them. The judge: no idempotency key names two calls, and no
// call has two keys.
import { kill, startModule } from "../../unit/engine/support/child.ts";
import type { KeyMessage } from "./local_keys_names.ts";

export interface LocalKeysOptions {
  /** The path of a store, or the address of a server. */
  readonly place: string;
  /** Kills after which a run's task ran again with other messages. */
  readonly kills: number;
  /** Random numbers in [0, 1). */
  readonly random?: () => number;
  readonly onLife?: (life: number, figures: LocalKeysFigures) => void;
}

export interface LocalKeysFigures {
  readonly problems: readonly string[];
  /** Processes that were killed. */
  readonly killed: number;
  /**
   * Of them: a call was cut off, and its run made calls for another message before that call came
   * again.
   */
  readonly withOthers: number;
  /** Calls that ran, and how many of them ran more than once. */
  readonly calls: number;
  readonly repeated: number;
}

const child = new URL(
  import.meta.url.endsWith(".js") ? "./local_keys_child.js" : "./local_keys_child.ts",
  import.meta.url,
);
const CUSTOMERS = ["ada", "bob"];
/** Lives of the same runs: their histories grow with each. */
const LIVES_OF_RUNS = 20;
const RUNS = ["native", "temporal"].flatMap((kind) =>
  Array.from({ length: 6 }, (_, i) => `${kind}-${i}`)
);
/**
 * Of each life and run. A life makes more calls than these need, so that what earlier ones left is
 * done in the end.
 */
const NEW_MESSAGES = 1;
const PAY_PART = 0.8;
const MIN_CALLS = 18;
const MAX_CALLS = 50;
const MAX_LIFE_MS = 60_000;

/** What is known of the calls so far. */
class Calls {
  readonly problems: string[] = [];
  readonly #callOfKey = new Map<string, string>();
  readonly #keyOfCall = new Map<string, string>();
  readonly #repeated = new Set<string>();

  note(call: string, key: string): void {
    const other = this.#callOfKey.get(key);
    if (other !== undefined && other !== call) {
      this.problems.push(`the key ${key} names two calls: ${other} and ${call}`);
    }
    const before = this.#keyOfCall.get(call);
    if (before !== undefined && before !== key) {
      this.problems.push(`the call ${call} has two keys: ${before} and ${key}`);
    }
    if (before !== undefined) this.#repeated.add(call);
    this.#callOfKey.set(key, call);
    this.#keyOfCall.set(call, key);
  }

  get figures(): Pick<LocalKeysFigures, "problems" | "calls" | "repeated"> {
    return { problems: this.problems, calls: this.#keyOfCall.size, repeated: this.#repeated.size };
  }
}

export async function localKeysLoop(options: LocalKeysOptions): Promise<LocalKeysFigures> {
  const { place, kills, random = Math.random } = options;
  const calls = new Calls();
  let killed = 0, withOthers = 0, next = 1;
  /** Updates that were cut off, with their runs. */
  let open: KeyMessage[] = [];
  const figures = () => ({ ...calls.figures, killed, withOthers });

  for (let life = 1; withOthers < kills && calls.problems.length === 0; life++) {
    const generation = Math.floor(life / LIVES_OF_RUNS);
    const fresh = RUNS.flatMap((name) =>
      Array.from({ length: NEW_MESSAGES }, (): KeyMessage => ({
        workflowId: `${name}-${generation}`,
        kind: random() < PAY_PART ? "pay" : "remind",
        customer: CUSTOMERS[Math.floor(random() * CUSTOMERS.length)]!,
        number: next++,
      }))
    );
    const process = startModule(child, [place, JSON.stringify([...fresh, ...open])]);
    const limit = setTimeout(() => void kill(process), MAX_LIFE_MS);
    let left = MIN_CALLS + Math.floor(random() * (MAX_CALLS - MIN_CALLS));
    /** Messages with calls and without an acknowledgment, by number. */
    const begun = new Set<number>();
    const cut = new Map(open.map(({ workflowId, number }) => [workflowId, number]));
    let others = false;
    for await (const line of process.lines) {
      const [word, ...rest] = line.split(" ");
      if (word === "ack") begun.delete(Number(rest[0]));
      if (word === "call") {
        const [workflowId, number, call, key] = rest as [string, string, string, string];
        begun.add(Number(number));
        others ||= cut.has(workflowId) && cut.get(workflowId) !== Number(number);
        if (cut.get(workflowId) === Number(number)) cut.delete(workflowId);
        calls.note(`${workflowId} ${number} ${call}`, key);
        if (--left === 0) process.process.kill("SIGKILL");
      }
      if (word === "sent") process.process.kill("SIGKILL");
    }
    clearTimeout(limit);
    await process.exited;
    if (process.process.signalCode !== "SIGKILL") {
      calls.problems.push(`life ${life} ended by itself: ${process.errors()}`);
    }
    killed++;
    if (others) withOthers++;
    open = [...fresh, ...open].filter(({ kind, number }) => kind === "pay" && begun.has(number));
    options.onLife?.(life, figures());
  }
  return figures();
}
