// Measures replays in a realm: each history several times, the first of them apart (it warms the
// machine up). Runs in every runtime.
import type { Realm } from "../../ts/realm/realm.ts";
import { type Spread, spread } from "./measure.ts";

export interface History {
  readonly name: string;
  /** Bytes of temporal.api.history.v1.History. */
  readonly bytes: Uint8Array;
}

export interface ReplayFigures {
  readonly history: string;
  readonly events: number;
  readonly activations: number;
  readonly firstMs: number;
  readonly eventsPerSecond: Spread;
  readonly activationsPerSecond: Spread;
  /**
   * Of processor time of the whole process: steadier than the clock where others use the machine.
   */
  readonly eventsPerCpuSecond?: Spread;
}

/** `cpuMs`: processor time that the process has used, if the runtime reports it. */
export async function measureReplays(
  realm: Realm,
  histories: readonly History[],
  repeats: number,
  cpuMs?: () => number,
): Promise<ReplayFigures[]> {
  const once = async ({ name, bytes }: History) => {
    const cpuStart = cpuMs?.() ?? 0;
    const start = performance.now();
    const verdict = await realm.replay(name, bytes);
    const ms = performance.now() - start;
    const cpu = (cpuMs?.() ?? 0) - cpuStart;
    if (verdict.verdict !== "ok") {
      throw new Error(`the replay of ${name} failed: ${verdict.error?.message}`);
    }
    return { ms, cpu, events: verdict.events, activations: verdict.activations };
  };
  const firsts: Awaited<ReturnType<typeof once>>[] = [];
  for (const history of histories) firsts.push(await once(history));
  const samples: { ms: number; cpu: number }[][] = histories.map(() => []);
  // Round by round over all histories, so that what else the machine does meets all of them alike.
  for (let i = 0; i < repeats; i++) {
    for (const [h, history] of histories.entries()) samples[h]!.push(await once(history));
  }
  return histories.map(({ name }, h) => {
    const { events, activations, ms } = firsts[h]!;
    const rate = (n: number, of: "ms" | "cpu" = "ms") =>
      spread(samples[h]!.map((sample) => n / sample[of] * 1000));
    return {
      history: name,
      events,
      activations,
      firstMs: Math.round(ms),
      eventsPerSecond: rate(events),
      activationsPerSecond: rate(activations),
      ...(cpuMs !== undefined && { eventsPerCpuSecond: rate(events, "cpu") }),
    };
  });
}

/** Events per second over all histories together, of each one's worst, middle and best replay. */
export function overall(
  figures: readonly ReplayFigures[],
  of: "eventsPerSecond" | "eventsPerCpuSecond" = "eventsPerSecond",
): Spread {
  const total = (pick: keyof Spread) => {
    const events = figures.reduce((sum, f) => sum + f.events, 0);
    const seconds = figures.reduce(
      (sum, f) => sum + f.events / (f[of] ?? f.eventsPerSecond)[pick],
      0,
    );
    return Math.round(events / seconds);
  };
  return { min: total("min"), median: total("median"), max: total("max") };
}
