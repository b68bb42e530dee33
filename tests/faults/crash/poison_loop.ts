// The crash loop with poison: innocent workflows, activities that throw what cannot be read, and
// workflows on which V8 ends the process, on one store. Processes are killed from outside and die
// by themselves, again and again. Then the last one finishes: the innocent complete, the poison
// ones are held, and nothing that was acknowledged is lost.
import { kill, startModule } from "../../unit/engine/support/child.ts";

/** What happens in a round. */
export interface PoisonRound {
  /** The type of a poison workflow to start; "-": none. */
  readonly kind: string;
  /**
   * The process is killed after so many acknowledged starts, or after this time; with neither it
   * dies of a workflow.
   */
  readonly kill?: { readonly starts: number } | { readonly ms: number };
}

export interface PoisonLoopOptions {
  readonly path: string;
  /** The rounds, or how many random ones. */
  readonly rounds: number | readonly PoisonRound[];
  /** Random numbers in [0, 1). */
  readonly random?: () => number;
  readonly onRound?: (
    round: number,
    figures: { readonly ended: string; readonly acknowledged: number },
  ) => void;
}

export interface PoisonJudgement {
  readonly problems: readonly string[];
  /** Innocent workflows whose start was acknowledged. */
  readonly innocent: number;
  readonly poisoned: number;
  readonly held: number;
  /** Processes that were killed, and that died of a workflow. */
  readonly killed: number;
  readonly died: number;
}

const child = new URL(
  import.meta.url.endsWith(".js") ? "./poison_child.js" : "./poison_child.ts",
  import.meta.url,
);
const KINDS = ["TooLong", "TooLarge"];
/**
 * Deaths that the last process may still need: each poison workflow that is open has some ahead.
 */
const MAX_LAST = 12;
const MAX_LIFE_MS = 60_000;

export async function poisonLoop(options: PoisonLoopOptions): Promise<PoisonJudgement> {
  const { path, rounds, random = Math.random } = options;
  const innocent = new Set<string>();
  const poisoned = new Set<string>();
  const held = new Set<string>();
  const problems: string[] = [];
  let killed = 0, died = 0, poisons = 0;
  const randomRound = (): PoisonRound => {
    const open = [...poisoned].filter((id) => !held.has(id)).length;
    return {
      kind: open < 2 && random() < 0.4 ? KINDS[poisons++ % KINDS.length]! : "-",
      // Some kills hit the start, when suspected runs are tried; most leave time for a death from
      // inside.
      kill: { ms: random() * (random() < 0.3 ? 300 : 3000) },
    };
  };
  const planned = typeof rounds === "number" ? undefined : rounds;
  const count = planned?.length ?? rounds as number;

  const heard = (line: string) => {
    const [word = "", ...rest] = line.split(" ");
    const what = rest.join(" ");
    if (word === "started") innocent.add(what);
    else if (word === "poison") poisoned.add(what);
    else if (word === "held") {
      held.add(what);
      if (!what.startsWith("poison ")) problems.push(`an innocent run was held: ${what}`);
    }
  };

  for (let round = 1; round <= count && problems.length === 0; round++) {
    const { kind, kill: killing } = planned?.[round - 1] ?? randomRound();
    const process = startModule(child, [path, String(round), "run", kind]);
    const end = () => void process.process.kill("SIGKILL");
    const limit = setTimeout(() => void kill(process), MAX_LIFE_MS);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let starts = 0;
    for await (const line of process.lines) {
      heard(line);
      if (killing === undefined) continue;
      if ("ms" in killing && line === "open") timer = setTimeout(end, killing.ms);
      if ("starts" in killing && line.startsWith("started ") && ++starts === killing.starts) end();
    }
    clearTimeout(timer);
    clearTimeout(limit);
    await process.exited;
    const ended = process.process.signalCode === "SIGKILL" ? "killed" : "died";
    if (ended === "killed") killed++;
    else died++;
    if (ended === "died" && [...poisoned].every((id) => held.has(id))) {
      problems.push(
        `round ${round} ended by itself, and no poison was open: ${process.errors().slice(-2000)}`,
      );
    }
    options.onRound?.(round, { ended, acknowledged: innocent.size });
  }

  const results = new Map<string, string>();
  const described = new Map<string, string>();
  let finished = false;
  for (let last = 1; last <= MAX_LAST && !finished && problems.length === 0; last++) {
    const process = startModule(child, [path, `last ${last}`, "finish", "-"]);
    const limit = setTimeout(() => void kill(process), 3 * MAX_LIFE_MS);
    for await (const line of process.lines) {
      heard(line);
      const [word, status = "", ...rest] = line.split(" ");
      if (word === "result") results.set(rest.slice(1).join(" "), `${status} ${rest[0]}`);
      else if (word === "described") {
        described.set(rest.join(" "), status);
        held.add(rest.join(" "));
      }
      finished ||= line === "finished";
    }
    clearTimeout(limit);
    await process.exited;
    if (!finished) died++;
  }
  if (problems.length === 0) {
    if (!finished) problems.push("the last processes did not finish");
    for (const id of innocent) {
      const n = Number(id.split(" ").at(-1));
      const result = results.get(id) ?? "lost";
      if (result !== `COMPLETED ${3 * n + 1}`) {
        problems.push(`innocent "${id}": ${result}, not COMPLETED ${3 * n + 1}`);
      }
    }
    for (const id of poisoned) {
      if (described.get(id) !== "PAUSED") {
        problems.push(`"${id}" is ${described.get(id) ?? "not held"}`);
      }
    }
    for (const id of described.keys()) {
      if (!id.startsWith("poison ")) problems.push(`an innocent run is held: ${id}`);
    }
  }
  return {
    problems,
    innocent: innocent.size,
    poisoned: poisoned.size,
    held: held.size,
    killed,
    died,
  };
}
