// New workflow code for a running worker: compatible code goes live without losing an open run,
// incompatible code is rejected by run, event and line, and runs that progress during the check are
// not lost.
// takes: 8 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { activityInfo } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { WorkflowLoadError } from "../../../ts/realm/mod.ts";
import {
  type ReplacementProgress,
  type Worker,
  WorkflowReplacementError,
} from "../../../ts/worker/mod.ts";
import { onBothStores, type Setting } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { scriptedRealm } from "../../support/realms.ts";

const HEAD =
  `import { activities, noreply, on, receive, signal, sleep, stop, workflow } from "temporalex/workflow";
const acts = activities({ startToClose: "10s" });
const go = signal("go");
const add = signal("add");
`;
/** Waits for \`go\` behind some steps. */
const waits = (steps: string, ending: string) =>
  `${HEAD}
export const waits = workflow("Waits", async (name) => {
  ${steps}
  const sum = await receive(0, [
    on(add, ([n], sum) => noreply(sum + n)),
    on(go, (_, sum) => stop(sum)),
  ]);
  ${ending}
});
`;
const FIRST = waits(`await acts.step("a");`, `return name + " " + sum + " old";`);
const COMPATIBLE = waits(
  `await acts.step("a");`,
  `await acts.step("b");\n  return name + " " + sum + " new";`,
);
const INCOMPATIBLE = waits(`await sleep("1m");\n  await acts.step("a");`, `return "never";`);

async function withModule(
  source: string,
  body: (path: string, write: (source: string) => void) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-replace-"));
  const path = join(folder, "workflows.ts");
  const write = (text: string) => writeFileSync(path, text);
  write(source);
  try {
    await body(path, write);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts runs that have done their first step and wait for a signal. */
async function waiting(t: Setting, count: number, steps: Map<string, number>) {
  const handles = await Promise.all(
    Array.from(
      { length: count },
      (_, i) => t.client.start("Waits", { id: `w${i}`, args: [`w${i}`] }),
    ),
  );
  await until("all runs have done their first step", () => (steps.get("a") ?? 0) >= count);
  return handles;
}

/** Counts steps by name; the run that is terminated may have come to its first one or not. */
function counting() {
  const steps = new Map<string, number>();
  const step = (name: string) => {
    if (activityInfo().workflowId !== "gone") steps.set(name, (steps.get(name) ?? 0) + 1);
  };
  const activities = { step };
  return { steps, activities };
}

onBothStores(
  "compatible code goes live: every open run continues with it, no message is lost, no task fails",
  (t) =>
    withModule(FIRST, async (path, write) => {
      const { steps, activities } = counting();
      const failed: string[] = [];
      const events = {
        workflowTaskFailed: ({ message }: { message: string }) => void failed.push(message),
      };
      await t.work({ workflows: path, activities, events }, async (worker) => {
        const handles = await waiting(t, 30, steps);
        const cancelled = await t.client.start("Waits", { id: "gone", args: ["gone"] });
        await cancelled.terminate("not open any more");
        write(COMPATIBLE);
        const progress: ReplacementProgress[] = [];
        // Runs move while they are being checked.
        let replaced = false;
        let sent = 0;
        const signals = (async () => {
          for (let i = 0; !replaced || sent < 30; i = (i + 1) % 30, sent++) {
            await handles[i]!.signal("add", 1);
          }
        })();
        const result = await worker.replaceWorkflows(undefined, {
          onProgress: (p) => void progress.push(p),
        });
        replaced = true;
        await signals;
        assert.ok(result.checkedRuns >= 30, `${result.checkedRuns} checked`);
        assert.deepEqual(result.workflowTypes, ["Waits"]);
        assert.deepEqual(result.broken, []);
        assert.equal(progress[0]!.phase, "load");
        assert.equal(progress.at(-1)!.phase, "switch");
        assert.ok(
          progress.some(({ phase, checked, total }) =>
            phase === "check" && checked === total && total >= 30
          ),
        );

        await Promise.all(handles.map((handle) => handle.signal("go")));
        const results = await Promise.all(handles.map((handle) => handle.result())) as string[];
        const sums = results.map((text, i) => {
          assert.match(text, new RegExp(`^w${i} \\d+ new$`));
          return Number(text.split(" ")[1]);
        });
        assert.equal(sums.reduce((a, b) => a + b), sent, "every signal was counted once");
        assert.equal(steps.get("a"), 30, "no first step was repeated");
        assert.equal(steps.get("b"), 30);
        assert.deepEqual(failed, []);
        const { events: history } = await handles[0]!.fetchHistory();
        assert.ok(
          history.every(({ attributes }) => !/TaskFailed|TaskTimedOut/.test(attributes.case ?? "")),
        );
      });
    }),
);

onBothStores(
  "incompatible code is rejected with run, event and line; the old code stays; a corrected edit is loaded",
  (t) =>
    withModule(FIRST, async (path, write) => {
      const { steps, activities } = counting();
      await t.work({ workflows: path, activities }, async (worker) => {
        const [handle] = await waiting(t, 1, steps);
        write(INCOMPATIBLE);
        const error = await worker.replaceWorkflows().then(() => undefined, (e) =>
          e) as WorkflowReplacementError;
        assert.ok(error instanceof WorkflowReplacementError, String(error));
        assert.equal(error.problems.length, 1);
        const problem = error.problems[0]!;
        assert.equal(problem.workflowId, "w0");
        assert.equal(problem.runId, (await handle!.describe()).runId);
        assert.equal(problem.workflowType, "Waits");
        assert.equal(problem.verdict, "nondeterminism");
        assert.equal(problem.eventId, 5);
        const line = INCOMPATIBLE.split("\n").findIndex((text) =>
          text.includes("sleep(") &&
          text.includes("await")
        ) + 1;
        assert.match(problem.location, new RegExp(`workflows\\.ts:${line}:`));
        assert.match(error.message, /Waits "w0" \(run [0-9a-f-]+\), event 5/);
        assert.match(error.message, new RegExp(`workflows\\.ts:${line}:\\d+`));

        write("export const broken = ;");
        await assert.rejects(
          worker.replaceWorkflows(),
          (e) =>
            e instanceof WorkflowLoadError && /workflows\.ts:1:/.test(e.message),
        );
        write(`import "node:fs";\n${FIRST}`);
        await assert.rejects(
          worker.replaceWorkflows(),
          (e) => e instanceof WorkflowLoadError && /workflows\.ts:1: .*node:fs/.test(e.message),
        );
        write(FIRST.replaceAll("Waits", "Renamed"));
        await assert.rejects(worker.replaceWorkflows(), (e) =>
          e instanceof WorkflowReplacementError && /Waits/.test(e.message) &&
          /Export a workflow type until/.test(e.message));
        write(waits("undefined.foo();", "return name;"));
        await assert.rejects(worker.replaceWorkflows(), (e) =>
          e instanceof WorkflowReplacementError && e.problems[0]!.verdict === "failed" &&
          /Fix the code at these lines/.test(e.message) && !/patched/.test(e.message));

        await handle!.signal("add", 4);
        write(COMPATIBLE);
        await worker.replaceWorkflows();
        await handle!.signal("go");
        assert.equal(await handle!.result(), "w0 4 new");
      });
    }),
);

onBothStores(
  "a run that the old code cannot replay either does not block a replacement, and the new code may fix it",
  (t) =>
    withModule(FIRST, async (path, write) => {
      const { steps, activities } = counting();
      const handles = await t.work({ workflows: path, activities }, () => waiting(t, 3, steps));
      write(INCOMPATIBLE);
      await t.work({ workflows: path, activities }, async (worker) => {
        write(INCOMPATIBLE.replace("never", "never ever"));
        const { broken } = await worker.replaceWorkflows();
        const found = broken.map(({ workflowId, eventId }) => [workflowId, eventId]).sort();
        assert.deepEqual(found, [["w0", 5], ["w1", 5], ["w2", 5]], "each of them, once");
        write(COMPATIBLE);
        assert.deepEqual((await worker.replaceWorkflows()).broken, []);
        await handles[0]!.signal("go");
        assert.equal(await handles[0]!.result(), "w0 0 new");
      });
    }),
);

const CHANGED = waits(
  `await acts.step("b");`,
  `return name + " " + sum + " changed";`,
);

onBothStores(
  "changed values of open runs are listed, rejected, or left out by a rule",
  (t) =>
    withModule(FIRST, async (path, write) => {
      const { steps, activities } = counting();
      await t.work({ workflows: path, activities }, async (worker) => {
        const handles = await waiting(t, 3, steps);
        write(CHANGED);
        await assert.rejects(
          worker.replaceWorkflows(undefined, { values: "error" }),
          (error: WorkflowReplacementError) => {
            assert.equal(error.name, "WorkflowReplacementError");
            assert.match(
              error.message,
              /^the new workflow code changes values of 3 open runs; the old code stays in use:\n/,
            );
            assert.match(
              error.message,
              /Waits "w0" \(run [0-9a-f-]+\), event 5 at .*:7:14\):\n {4}changed value \(event 5, /,
            );
            assert.match(error.message, /The code now has input "b"; the history has "a"\./);
            assert.deepEqual(error.problems.map(({ verdict }) => verdict), [
              "changed",
              "changed",
              "changed",
            ]);
            return true;
          },
        );
        await assert.rejects(
          worker.replaceWorkflows(undefined, { values: "all" as never }),
          /^TypeError: values is "all"; expected "warn" or "error"$/,
        );
        const ignoring = { level: "error", ignore: [{ path: "input[0]" }] } as const;
        assert.deepEqual(
          (await worker.replaceWorkflows(undefined, { values: ignoring })).changed,
          [],
        );
        // The code of the last replacement is in use: its activity has the changed value as well.
        assert.deepEqual((await worker.replaceWorkflows()).changed, []);
        const { changed, checkedRuns } = await worker.replaceWorkflows(undefined, {
          values: "warn",
        });
        assert.ok(checkedRuns >= 3);
        assert.deepEqual(changed.map(({ workflowId }) => workflowId).sort(), ["w0", "w1", "w2"]);
        assert.deepEqual(
          changed[0]!.changedValues[0]!.differences.map(({ path, history, code }) =>
            `${path}: ${history} -> ${code}`
          ),
          ['input[0]: "a" -> "b"'],
        );
        await handles[0]!.signal("go");
        assert.equal(await handles[0]!.result(), "w0 0 changed");
      });
    }),
);

onBothStores(
  "one replacement runs at a time; a shutdown or an abort signal ends it without hanging",
  (t) =>
    withModule(FIRST, async (path, write) => {
      const { steps, activities } = counting();
      let looked: Promise<void> | undefined;
      const look = async (worker: Worker) => {
        await waiting(t, 20, steps);
        write(COMPATIBLE);
        const stop = new AbortController();
        const first = worker.replaceWorkflows(undefined, {
          signal: stop.signal,
          onProgress: ({ phase, checked }) =>
            phase === "check" && checked === 3 && stop.abort(new Error("enough")),
        });
        await assert.rejects(
          worker.replaceWorkflows(),
          /another replacement of the workflows is in progress/,
        );
        await assert.rejects(first, /enough/);
        let shutdown: Promise<void> | undefined;
        const second = worker.replaceWorkflows(undefined, {
          onProgress: ({ phase }) => phase === "check" && (shutdown ??= worker.shutdown()),
        });
        await assert.rejects(second, /shutting down/);
        await shutdown;
        await assert.rejects(worker.replaceWorkflows(), /worker is stopped/);
      };
      await assert.rejects(
        t.work({ workflows: path, activities }, (worker) => looked = look(worker)),
        /was shut down before/,
      );
      // The end of the worker is reported before its last calls have completed.
      await looked;
    }),
);

onBothStores("workers that cannot replace workflows reject with the reason", async (t) => {
  await t.work(
    { activities: { a: () => 1 } },
    (worker) => assert.rejects(worker.replaceWorkflows(), /has no workflows/),
  );
  await withModule(
    FIRST,
    (path) =>
      t.work(
        { workflows: path },
        (worker) =>
          assert.rejects(worker.replaceActivities({ activities: {} }), /has no activities/),
      ),
  );
  const realm = scriptedRealm();
  await t.work(
    { realm },
    (worker) => assert.rejects(worker.replaceWorkflows(), /uses a realm from its options/),
  );
});

onBothStores(
  "replaced activities: later attempts use the new ones",
  (t) =>
    withModule(FIRST, async (path) => {
      const seen: string[] = [];
      const activities = { step: (name: string) => void seen.push(`old ${name}`) };
      await t.work({ workflows: path, activities, logger: silentLogger }, async (worker) => {
        await t.client.start("Waits", { id: "1", args: ["1"] });
        await until("the first step", () => seen.length === 1);
        await worker.replaceActivities({
          activities: { step: (name: string) => void seen.push(`new ${name}`) },
        });
        await t.client.start("Waits", { id: "2", args: ["2"] });
        await until("the second step", () => seen.length === 2);
        assert.deepEqual(seen, ["old a", "new a"]);
        await assert.rejects(
          worker.replaceActivities({ activities: [{ step: () => 1 }, { step: () => 2 }] }),
          /two activities are named "step"/,
        );
        assert.deepEqual(await worker.replaceActivities({}), ["step"]);
        await t.client.start("Waits", { id: "3", args: ["3"] });
        await until("the third step", () => seen.length === 3);
        assert.equal(seen[2], "new a", "what is left out stays as it was replaced last");
      });
    }),
);
