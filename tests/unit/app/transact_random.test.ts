// Random programs with reducers on the embedded engine (P3): what the tables hold is what the
// markers of the history say, in their order, and the history replays.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createWorkerRealm, type Database, silentLogger } from "../../../ts/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { interpreter } from "../../cases/random_interpreter.ts";
import { programWithReducers } from "../../cases/random_programs.ts";

const migrations = [{
  name: "001",
  sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, label TEXT NOT NULL) STRICT",
}];

/**
 * Writes first, and then throws for a third of the labels that are waited for: what those wrote
 * must not stay.
 */
function note(database: Database, label: string, isAwaited: boolean): string {
  database.run("INSERT INTO notes (label) VALUES (?)", label);
  if (isAwaited && label.length % 3 === 0) throw new RangeError(`not ${label}`);
  return `kept ${label}`;
}

const LIFE = [["signal", "a"], ["signal", "b"], ["signal", "c"], ["update", "u"], ["update", "v"], [
  "signal",
  "stop",
]] as const;

test("P3: the writes of reducers in random programs agree with the markers of the history, and the history replays", async () => {
  const realm = await createWorkerRealm({
    workflows: new URL("../../cases/random_interpreter.ts", import.meta.url),
  });
  let [written, thrown] = [0, 0];
  try {
    await fc.assert(
      fc.asyncProperty(
        programWithReducers,
        fc.array(fc.constantFrom(...LIFE), { maxLength: 12 }),
        async (steps, happenings) => {
          const env = await TestEnvironment.create({
            reducers: { note },
            migrations,
            logger: silentLogger,
          });
          const work = {
            activities: { work: (label: string) => `did ${label}` },
            workflows: { interpreter },
          };
          try {
            await env.runWorker(work, async () => {
              const handle = await env.client.start(interpreter, { id: "wf", args: [steps] });
              const last = Array.from({ length: 8 }, () => LIFE).flat();
              for (const [n, [kind, name]] of [...happenings, ...last].entries()) {
                const sent = kind === "signal"
                  ? handle.signal(name, n)
                  : handle.startUpdate(name, { args: [n], waitFor: "accepted" }).then(() => {});
                if (await sent.then(() => false, () => n > happenings.length)) break;
                await env.advance(1);
              }
              await handle.terminate("enough").catch(() => {});
            });
            const notes = env.engine.tables.all<{ label: string }>(
              "SELECT label FROM notes ORDER BY id",
            ).map(({ label }) => label);
            const marked: string[] = [];
            for await (const { workflowId, runId } of env.client.list()) {
              const handle = env.client.getHandle(undefined, workflowId, runId);
              const { events } = await handle.fetchHistory();
              const of: string[] = [];
              for (const { attributes } of events) {
                if (
                  attributes.case !== "markerRecordedEventAttributes" ||
                  attributes.value.markerName !== "Transact"
                ) continue;
                if (attributes.value.failure !== undefined) thrown++;
                else {of.push(
                    JSON.parse(
                      new TextDecoder().decode(
                        attributes.value.details["arguments"]!.payloads[0]!.data,
                      ),
                    ) as string,
                  );}
              }
              // The list begins with the newest run.
              marked.unshift(...of);
              const verdict = await realm.replay("wf", await handle.historyBytes());
              assert.equal(verdict.verdict, "ok", verdict.error?.message);
            }
            written += notes.length;
            assert.deepEqual(notes, marked);
          } finally {
            await env.dispose();
          }
        },
      ),
      { numRuns: 25, seed: 20261123 },
    );
  } finally {
    await realm.dispose();
  }
  assert.ok(written > 20 && thrown > 5, `${written} written, ${thrown} thrown`);
});
