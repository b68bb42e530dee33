// The task loop: the sticky cache, history pages, unknown types, divergences with the user's line,
// replays.
import {
  activities,
  noreply,
  on,
  publishState,
  receive,
  signal,
  sleep,
  stop,
  workflow,
} from "../../ts/workflow/mod.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { RespondWorkflowTaskFailedRequestSchema } from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { liveHandles } from "../../ts/core/handle.ts";
import { nativeProgram } from "../../ts/executor/run/native_program.ts";
import { CorePanicError } from "../../ts/core/errors.ts";
import type { TaskRunner } from "../../ts/executor/tasks/task_runner.ts";
import { deepEqual, equal, match, ok, rejects, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { Drive, drive, makeRunner } from "./driver.ts";
import { MiniServer } from "./mini_server.ts";
import { headWith } from "../support/realms.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");
const id = (n: number) => `${String(n).padStart(8, "0")}-2222-4333-8444-555555555555`;

const steps = workflow("Steps", async (n: number) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += await acts.work(i);
  return sum;
});

export const cases: Case[] = [
  {
    name:
      "runs beyond the cache's size leave memory, least recently used first, and are replayed from pages when they come back",
    async run() {
      const parts = await makeRunner([steps], { cacheSize: 2 });
      const drives: Drive[] = [];
      for (let i = 0; i < 3; i++) {
        const d = await drive(steps, { runner: parts, runId: id(i), args: [2] });
        const { cache } = await d.task();
        deepEqual(cache, { hit: false, displaced: i === 2 ? 1 : 0 });
        drives.push(d);
      }
      deepEqual(parts.runner.cachedRunIds, [id(1), id(2)]);
      for (const d of drives) {
        d.server.completeActivity("1", 5);
        // Partial for all of them; the first has to ask for its history, and each one that does
        // drives the next one out.
        const { cache } = await d.task();
        deepEqual(cache, { hit: false, displaced: 1 });
        equal(d.server.taskFailure, undefined);
      }
      for (const d of drives) {
        d.server.completeActivity("2", 6);
        await d.task();
        equal(await d.finish(), 11);
      }
      deepEqual(parts.runner.cachedRunIds, []);
    },
  },
  {
    name: "a task that comes after the end of its realm is rejected with the reason",
    async run() {
      const parts = await makeRunner([steps], {});
      const d = await drive(steps, { runner: parts, runId: id(1), args: [1] });
      await d.task();
      d.server.completeActivity("1", 5);
      parts.runner.dispose();
      await rejects(d.task(), /the task runner is disposed/);
    },
  },
  {
    name: "history comes in pages of any size",
    async run() {
      for (const size of [1, 2, 3, 7, 100]) {
        const d = await drive(steps, { args: [3], pageSize: size });
        for (let i = 1; i <= 3; i++) {
          await d.task();
          d.parts.runner.evict(d.server.runId);
          d.server.completeActivity(String(i), i);
        }
        await d.task();
        equal(await d.finish(), 6, `pages of ${size}`);
      }
    },
  },
  {
    name:
      "a history that cannot be fetched fails the task with the reason; another run continues meanwhile",
    async run() {
      const parts = await makeRunner([steps], { cacheSize: 10 });
      const lost = await drive(steps, { runner: parts, runId: id(1), args: [1] });
      const other = await drive(steps, { runner: parts, runId: id(2), args: [1] });
      await lost.task();
      await other.task();
      parts.runner.evict(id(1));
      let answer!: () => void;
      const asked = new Promise<void>((resolve) => (answer = resolve));
      parts.history = async () => {
        await asked;
        throw new Error("the network is down");
      };
      lost.server.completeActivity("1", 1);
      other.server.completeActivity("1", 1);
      const failing = lost.task();
      await other.task(); // not held up by the fetch
      equal(other.server.closed?.result, 1);
      answer();
      await failing;
      equal(lost.server.taskFailure?.failure.message, "the network is down");
      deepEqual(parts.runner.cachedRunIds, []);
    },
  },
  {
    name:
      "tasks of one run are taken one after the other, of different runs in the order of their coming",
    async run() {
      const parts = await makeRunner([steps], { cacheSize: 10 });
      const drives = await Promise.all(
        [1, 2, 3, 4].map((n) => drive(steps, { runner: parts, runId: id(n), args: [1] })),
      );
      await Promise.all(drives.map((d) => d.task()));
      deepEqual(parts.runner.cachedRunIds, [1, 2, 3, 4].map(id));
    },
  },
  {
    name: "an unknown workflow type fails the task and lists the known ones",
    async run() {
      const parts = await makeRunner([steps]);
      const d = await drive(workflow("Unknown", async () => 1), { runner: parts });
      await d.task();
      equal(
        d.server.taskFailure?.failure.message,
        'workflow type "Unknown" is not known to this worker; it has "Steps"',
      );
      const verdict = await d.replay();
      deepEqual([verdict.verdict, verdict.workflowType], ["failed", "Unknown"]);
      match(verdict.error!.message, /is not known to this worker/);
    },
  },
  {
    name: "a divergence fails the task as nondeterminism and names the user's line",
    async run() {
      let changed = false;
      const w = workflow("W", async () => {
        if (changed) await acts.work(1);
        else await sleep(1);
        await sleep(2);
      });
      const d = await drive(w, { cached: false });
      await d.task();
      d.server.fireTimer("1");
      changed = true;
      await d.task();
      const { cause, failure } = d.server.taskFailure!;
      equal(cause, 24);
      match(
        failure.message,
        /^\[TMPRL1100\] Nondeterminism error: Activity machine does not handle this event: HistoryEvent\(id: 5, TimerStarted\) \(at .*[jt]s:\d+:\d+/,
      );
      changed = false;
      await d.task();
      equal(d.server.taskFailure, undefined);
    },
  },
  {
    name: "a replay that diverges gives event, expected, actual and the user's line",
    async run() {
      let changed = false;
      const w = workflow("W", async () => {
        await sleep(1);
        if (changed) await sleep(7);
        else await acts.work(1);
      });
      const d = await drive(w);
      await d.auto({ work: () => 1 });
      changed = true;
      const verdict = await d.replay();
      equal(verdict.verdict, "nondeterminism");
      const error = verdict.error!;
      match(error.location, /[jt]s:\d+:\d+/);
      ok(
        error.eventId > 0 && error.expected !== "" && error.actual !== "",
        `${error.eventId} ${error.expected} ${error.actual}`,
      );
      equal((await d.replay({ callSites: "never" })).error!.location, "");
    },
  },
  {
    name: "a replay that fails in workflow code gives the thrown error and its line",
    async run() {
      let broken = false;
      const w = workflow("W", async () => {
        await sleep(1);
        if (broken) throw new TypeError("a bug");
      });
      const d = await drive(w);
      await d.auto();
      broken = true;
      const verdict = await d.replay();
      deepEqual([verdict.verdict, verdict.error!.message, (verdict.error!.thrown as Error).name], [
        "failed",
        "a bug",
        "TypeError",
      ]);
      match(verdict.error!.location, /[jt]s:\d+:\d+/);
    },
  },
  {
    name: "a replay with strict fails for a command that history does not hold; otherwise it warns",
    async run() {
      let atOnce = false;
      const w = workflow("W", async () => {
        if (atOnce) await Promise.all([acts.work(1), acts.work(2)]);
        else {
          await acts.work(1);
          await acts.work(2);
        }
      });
      const d = await drive(w);
      await d.auto({ work: (x: number) => x });
      atOnce = true;
      const lenient = await d.replay();
      equal(lenient.verdict, "ok", lenient.error?.message);
      match(lenient.warnings[0]!.message, /Extra command/);
      const strict = await d.replay({ strict: true });
      equal(strict.verdict, "nondeterminism");
      match(strict.error!.message, /Extra command/);
      match(strict.error!.location, /[jt]s:\d+:\d+/);
    },
  },
  {
    name: "bytes that are not a history, and histories cut anywhere, give verdicts and no crash",
    async run() {
      const w = workflow(
        "W",
        () =>
          receive(0, [
            on(go, async ([n], s) => (await acts.work(n), noreply(s + n))),
            on(end, (_, s) => stop(s)),
          ]),
      );
      const d = await drive(w);
      d.server.signal("go", 1);
      await d.task();
      d.server.completeActivity("1");
      d.server.signal("end");
      await d.task();
      await d.finish();
      const { runner } = d.parts;
      for (let n = 1; n <= d.server.events.length; n++) {
        const verdict = await runner.replay("wf", d.server.history(n));
        ok(
          ["ok", "failed"].includes(verdict.verdict),
          `${n} events: ${verdict.verdict} ${verdict.error?.message}`,
        );
      }
      for (
        const bytes of [
          new Uint8Array(0),
          new Uint8Array([1, 2, 3]),
          new Uint8Array([10, 200, 1]),
          d.server.history().subarray(0, 41),
        ]
      ) {
        const verdict = await runner.replay("wf", bytes);
        equal(verdict.verdict, "failed");
        ok(verdict.error!.message !== "");
        equal(verdict.recorded, undefined);
        deepEqual(
          (await runner.replay("wf", bytes, { record: true })).recorded,
          [],
          "nothing was run",
        );
      }
      for (const head of [headWith(), headWith({ query: "__stack_trace" })]) {
        await rejects(runner.runTask({ head, bytes: new Uint8Array([1, 2, 3]) }), /\w/);
      }
    },
  },
  {
    name: "no handle of the core is left when all runs are gone",
    async run() {
      const before = liveHandles();
      const d = await drive(steps, { args: [2] });
      await d.auto({ work: (x: number) => x });
      const failing = await drive(workflow("F", async () => {
        await null;
        throw new TypeError("a bug");
      }));
      await failing.task();
      failing.parts.runner.dispose();
      ok(liveHandles() <= before, `${liveHandles()} handles, ${before} before`);
    },
  },
  {
    name: "queries do not disturb a cached run, and queries of an evicted run are run by replay",
    async run() {
      const w = workflow("W", {
        queries: { value: (p: number) => p },
        run: async () => {
          publishState(1);
          await sleep(1);
          publishState(2);
          await sleep(2);
        },
      });
      const d = await drive(w);
      await d.task();
      equal((await d.query("value")).value, 1);
      d.server.fireTimer("1");
      await d.task();
      equal((await d.query("value")).value, 2);
      d.parts.runner.evict(d.server.runId);
      equal((await d.query("value")).value, 2);
      d.server.fireTimer("2");
      await d.task();
      await d.finish();
    },
  },
  {
    name: "a task and a query of one run that come together run one after the other",
    async run() {
      const w = workflow("W", {
        queries: { value: (p: number) => p },
        run: async () => {
          for (let i = 0;; i++) {
            publishState(i);
            await sleep(1);
          }
        },
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      const asked = d.server.queryTask("value", [], true);
      const bytes = d.server.openTask({ sticky: true });
      const { runner } = d.parts;
      const [query, task] = await Promise.all([
        runner.runTask(readWorkflowTask(asked)),
        runner.runTask(readWorkflowTask(bytes)),
      ]);
      deepEqual([query.response?.$case, task.response?.$case], ["queryCompleted", "completed"]);
      d.server.report(query);
      equal(d.server.queryAnswers["query"]!.value, 0, "the query came first");
      deepEqual([query.cache, task.cache], [{ hit: true, displaced: 0 }, {
        hit: true,
        displaced: 0,
      }]);
      ok(task.runStartMs > 0);
    },
  },
  {
    name: "a query that a task has overtaken still runs, and the cached run stays",
    async run() {
      const w = workflow("W", {
        queries: { value: (p: number) => p },
        run: async () => {
          for (let i = 0;; i++) {
            publishState(i);
            await sleep(1);
          }
        },
      });
      const d = await drive(w);
      await d.task();
      const asked = d.server.queryTask("value", [], true);
      for (const timer of ["1", "2"]) {
        d.server.fireTimer(timer);
        await d.task();
      }
      d.server.report(await d.parts.runner.runTask(readWorkflowTask(asked)));
      const { ok: succeeded, value, message } = d.server.queryAnswers["query"]!;
      equal(succeeded, true, message);
      ok(value === 0 || value === 2, `what is recorded, then or now: ${value}`);
      deepEqual(d.parts.runner.cachedRunIds, [d.server.runId]);
      d.server.fireTimer("3");
      await d.task();
      equal((await d.query("value")).value, 3);
    },
  },
  {
    name: "a query waits for the realm's open task, never for another run's activity",
    async run() {
      const parts = await makeRunner([steps]);
      const busy = await drive(steps, { runner: parts, runId: id(1), args: [1] });
      const asked = await drive(steps, { runner: parts, runId: id(2), args: [1] });
      await busy.task();
      await asked.task();
      match((await asked.query("nope")).message, /Unknown query/);
      equal(busy.server.activities.size, 1);
    },
  },
  {
    name: "a run that is evicted while its task is open leaves when the task is done",
    async run() {
      const d = await drive(steps, { args: [2] });
      const running = d.task();
      d.parts.runner.evict(d.server.runId);
      await running;
      deepEqual(d.parts.runner.cachedRunIds, []);
      d.server.completeActivity("1", 1);
      await d.task();
      deepEqual(d.parts.runner.cachedRunIds, [d.server.runId]);
    },
  },
  {
    name: "taskReported: nothing for runs that left; a report that cannot be read drops the run",
    async run() {
      const d = await drive(steps, { args: [1] });
      const runner = d.parts.runner as TaskRunner;
      runner.taskReported("absent", new Uint8Array(0));
      await d.task();
      runner.taskReported(d.server.runId, new Uint8Array(0));
      deepEqual(runner.cachedRunIds, [d.server.runId]);
      throws(() => runner.taskReported(d.server.runId, new Uint8Array([255])), /./);
      deepEqual(runner.cachedRunIds, []);
    },
  },
  {
    name:
      "a panic of the core fails the task of that run with a generated response, and no other run",
    async run() {
      let broken = "";
      const parts = await makeRunner([steps], {
        core: (core) => ({
          ...core,
          createRun: (options) => {
            const run = core.createRun(options);
            const next = run.next.bind(run);
            run.next = () => {
              if (broken === "yes") throw new CorePanicError("out of order");
              return next();
            };
            return run;
          },
        }),
      });
      const d = await drive(steps, { runner: parts, runId: id(1), args: [1] });
      const other = await drive(steps, { runner: parts, runId: id(2), args: [1] });
      await other.task();
      broken = "yes";
      const outcome = await d.task();
      deepEqual([outcome.response?.$case, outcome.evict], ["failed", true]);
      const refused = fromBinary(
        RespondWorkflowTaskFailedRequestSchema,
        outcome.response!.value as Uint8Array,
      );
      match(new TextDecoder().decode(refused.taskToken), /^token-\d+$/);
      deepEqual([refused.namespace, refused.identity], ["default", "test"]);
      match(
        d.server.taskFailure!.failure.message,
        /^internal error in the core; the current run was evicted: out of order/,
      );
      broken = "";
      deepEqual(parts.runner.cachedRunIds, [id(2)]);
      other.server.completeActivity("1", 1);
      await other.task();
      equal(await other.finish(), 1);
    },
  },
  {
    name: "what a query handler leaves behind does not fail the run",
    async run() {
      const w = workflow("W", {
        queries: {
          careless: () => {
            void Promise.reject(new TypeError("not handled"));
            return 1;
          },
        },
        run: () => sleep(1),
      });
      const d = await drive(w);
      await d.task();
      equal((await d.query("careless")).value, 1);
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.taskFailure, undefined);
    },
  },
  {
    name: "programs other than native ones may be run: the task loop knows only the seam",
    async run() {
      const program = nativeProgram(steps);
      const parts = await makeRunner([], {
        programs: (type) => (type === "Steps" ? program : undefined),
      });
      const d = new Drive(steps, new MiniServer("Steps", { args: [1] }), parts, true);
      equal(await d.auto({ work: () => 3 }), 3);
    },
  },
];
