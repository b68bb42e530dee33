// The crash loop: a process works on a store and is killed with SIGKILL at a random moment, again
// and again on one growing file; after each kill the file is judged; at the end a last process
// finishes everything.
import { kill, startModule } from "../../unit/engine/support/child.ts";
import type { DriverName, Synchronous } from "../../../ts/engine/mod.ts";
import { type Judgement, Oracle } from "./oracle.ts";

export interface LoopOptions {
  path: string;
  rounds: number;
  driver?: DriverName;
  synchronous?: Synchronous;
  clients?: number;
  /**
   * The longest time between the opening, or the first acknowledged call, and the kill.
   * Milliseconds.
   */
  killWithinMs?: number;
  /** Random numbers in [0, 1). */
  random?: () => number;
  onRound?: (round: number, judgement: Judgement) => void;
}

const child = new URL(
  import.meta.url.endsWith(".js") ? "./child.js" : "./child.ts",
  import.meta.url,
);

/** Runs the loop and returns the last verdict. Ends early at the first problem. */
export async function crashLoop(options: LoopOptions): Promise<Judgement> {
  const {
    path,
    rounds,
    driver,
    synchronous = "FULL",
    clients = 4,
    killWithinMs = 500,
    random = Math.random,
  } = options;
  const oracle = new Oracle();
  const store = driver === undefined ? {} : { driver };
  const run = (round: number, mode: "run" | "finish") =>
    startModule(child, [path, String(round), driver ?? "-", synchronous, String(clients), mode]);
  for (let round = 1; round <= rounds; round++) {
    const process = run(round, "run");
    let timer: ReturnType<typeof setTimeout> | undefined;
    // One kill in five hits the recovery of what was open, the others the work. In the first round
    // nothing is open.
    const from = random() < 0.2 && round > 1 ? "open" : "ack";
    for await (const line of process.lines) {
      oracle.heard(line);
      if (timer === undefined && line.startsWith(from)) {
        timer = setTimeout(() => process.process.kill("SIGKILL"), random() * killWithinMs);
      }
    }
    clearTimeout(timer);
    await process.exited;
    if (process.process.signalCode !== "SIGKILL") {
      throw new Error(`round ${round} ended by itself: ${process.errors()}`);
    }
    const judgement = await oracle.judge(path, store);
    options.onRound?.(round, judgement);
    if (judgement.problems.length > 0) return judgement;
  }
  const last = run(rounds + 1, "finish");
  const limit = setTimeout(() => void kill(last), 120_000);
  let finished = false;
  for await (const line of last.lines) {
    oracle.heard(line);
    finished ||= line === "finished";
  }
  clearTimeout(limit);
  await last.exited;
  const judgement = await oracle.judge(path, store);
  const problems = [...judgement.problems];
  if (!finished) problems.push(`the last process did not finish: ${last.errors()}`);
  if (judgement.open > 0) problems.push(`${judgement.open} runs never ended`);
  return { ...judgement, problems };
}
