// Runs programs on the embedded engine in virtual time: started, sent random signals and updates,
// perhaps canceled; returns the histories. The official replayer accepts this engine's histories
// (tests/system/interop/same_history).
import { TestEnvironment } from "#dist/ts/testing/mod.js";
import { silentLogger } from "#dist/ts/base/logger.js";

const LIFE_MS = 20_000;

/** Activities by name: they return what they were given, those named after a refusal fail. */
export const activitiesNamed = (names) =>
  Object.fromEntries(names.map((name) => [name, (value) => {
    if (/refuse|throw|fail|error/i.test(name)) throw new Error(`${name} fails`);
    return Promise.resolve(value ?? name);
  }]));

/**
 * @param {{ workflows: string, types: { type: string, args: unknown[] }[], activities: string[], signals: string[], updates: string[] }} what
 * @returns {Promise<{ type: string, workflowId: string, history: object }[]>} of those that were started
 */
export async function record({ workflows, types, activities, signals, updates }, random) {
  const env = await TestEnvironment.create({ logger: silentLogger, startTime: 1_750_000_000_000 });
  const recorded = [];
  try {
    const worker = await env.createWorker({
      workflows,
      activities: activitiesNamed(activities),
    });
    await worker.runUntil(async () => {
      for (const { type, args } of types) {
        const workflowId = `soak-${type}`;
        const handle = await env.client.start(type, { id: workflowId, args });
        const left = setTimeout(() => {}, LIFE_MS);
        const began = Date.now();
        for (let step = 0; step < 3 + random.below(4); step++) {
          if (Date.now() - began > LIFE_MS) break;
          await env.advance(random.of([0, 5, 50, 1000, 4000]));
          const quiet = () => {};
          for (let n = random.below(3); n > 0; n--) {
            if (signals.length > 0 && (updates.length === 0 || random.chance(0.6))) {
              await handle.signal(random.of(signals), 1).catch(quiet);
            } else if (updates.length > 0) handle.update(random.of(updates), 1).catch(quiet);
          }
        }
        await env.advance("1h");
        if (random.chance(0.5)) {
          await handle.cancel().catch(() => {});
          await env.advance("1h");
        }
        clearTimeout(left);
        const first = JSON.parse(
          await env.client.getHandle(undefined, workflowId, handle.runId).historyJson(),
        );
        await handle.terminate("recorded").catch(() => {});
        recorded.push({ type, workflowId, history: first });
      }
    });
  } finally {
    await env.dispose();
  }
  return recorded;
}
