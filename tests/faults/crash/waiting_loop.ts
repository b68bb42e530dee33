// Kills processes all of whose runs wait in a local activity. No run may be suspected for it, and
// other runs need not wait.
import { kill, startModule } from "../../unit/engine/support/child.ts";

export interface WaitingLoopOptions {
  readonly path: string;
  readonly kills: number;
  readonly runs: number;
  readonly onLife?: (life: number, figures: WaitingLife) => void;
}

export interface WaitingLife {
  /** Time from the call of an unrelated workflow to its result, while the others wait. */
  readonly fastMs: number;
  readonly held: number;
}

const child = new URL(
  import.meta.url.endsWith(".js") ? "./waiting_child.js" : "./waiting_child.ts",
  import.meta.url,
);
const MAX_LIFE_MS = 60_000;

/** The first life is one without a kill before it. Throws where a process ends by itself. */
export async function waitingLoop(
  { path, kills, runs, onLife }: WaitingLoopOptions,
): Promise<WaitingLife[]> {
  const lives: WaitingLife[] = [];
  for (let life = 0; life <= kills; life++) {
    const process = startModule(child, [path, String(runs)]);
    const limit = setTimeout(() => void kill(process), MAX_LIFE_MS);
    let waiting = 0, fastMs: number | undefined, held: number | undefined;
    for await (const line of process.lines) {
      const [word, value] = line.split(" ");
      if (word === "waits") waiting = Number(value);
      if (word === "fast") fastMs = Number(value);
      if (word === "held") held = Number(value);
      if (held !== undefined && waiting === runs) process.process.kill("SIGKILL");
    }
    clearTimeout(limit);
    await process.exited;
    if (fastMs === undefined || held === undefined || waiting < runs) {
      throw new Error(
        `life ${life}: ${waiting} of ${runs} runs wait, fast: ${fastMs}, held: ${held}. ${process.errors()}`,
      );
    }
    lives.push({ fastMs, held });
    onLife?.(life, { fastMs, held });
  }
  return lives;
}
