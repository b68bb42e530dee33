// Child workflows (docs/dev/semantics/scopes.md#children-of-a-run): start, result, failures, and
// their position in history.
import {
  ApplicationFailure,
  type ChildWorkflowFailure,
  type ChildWorkflowHandle,
  executeChild,
  noreply,
  on,
  parallel,
  receive,
  reply,
  signal,
  sleep,
  spawn,
  spawnAsync,
  startChild,
  stop,
  update,
  workflow,
  WorkflowExecutionAlreadyStartedError,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

const ship = workflow(
  "Ship",
  (parcels: number): Promise<string> => Promise.resolve(`shipped ${parcels}`),
);
const go = signal<[number]>("go");
const end = signal("end");
const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;
const chain = (e: unknown): string[] =>
  e instanceof Error ? [describeError(e), ...chain(e.cause)] : [];
/** A task in which the child with this id starts. */
async function started(d: Drive, id: string): Promise<void> {
  d.server.others.start(id);
  await d.task();
}

export const cases: Case[] = [
  {
    name:
      "executeChild starts a child, waits and returns the result; the options are in the command",
    async run() {
      const w = workflow("W", () =>
        executeChild(ship, {
          ...{
            id: "s-1",
            args: [3],
            taskQueue: "other",
            idReusePolicy: "REJECT_DUPLICATE",
            parentClosePolicy: "ABANDON",
          },
          ...{
            executionTimeout: "3s",
            runTimeout: "2s",
            taskTimeout: "1s",
            cronSchedule: "* * * * *",
          },
          ...{
            retry: { maximumAttempts: 2 },
            memo: { a: 1 },
            searchAttributes: { Customer: "ada" },
            summary: "hi",
            details: "all",
            priority: { priorityKey: 2, fairnessKey: "shop", fairnessWeight: 0.5 },
          },
        }));
      const d = await drive(w, {
        headers: { tenant: { metadata: {}, data: new Uint8Array([7]) } },
      });
      await d.task();
      deepEqual(d.commands(), ["START_CHILD_WORKFLOW 1"]);
      const child = d.server.others.children.get("s-1")!;
      deepEqual([child.type, child.args], ["Ship", [3]]);
      deepEqual([...child.headers["tenant"]!.data], [7]);
      // deno-lint-ignore no-explicit-any
      const command = child.command as any;
      deepEqual(
        [
          command.taskQueue.name,
          command.workflowIdReusePolicy,
          command.parentClosePolicy,
          command.cronSchedule,
        ],
        ["other", 3, 2, "* * * * *"],
      );
      const times = ["workflowExecutionTimeout", "workflowRunTimeout", "workflowTaskTimeout"];
      deepEqual(times.map((field) => Number(command[field].seconds)), [3, 2, 1]);
      equal(command.retryPolicy.maximumAttempts, 2);
      deepEqual(Object.keys(command.memo.fields), ["a"]);
      const { priorityKey, fairnessKey, fairnessWeight } = command.priority;
      deepEqual([priorityKey, fairnessKey, fairnessWeight], [2, "shop", 0.5]);
      deepEqual(Object.keys(command.searchAttributes.indexedFields), ["Customer"]);
      d.server.others.start("s-1");
      d.server.others.complete("s-1", "done");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name: "default ids are distinct UUIDs from the run's generator and equal on replay",
    async run() {
      const w = workflow("W", async () => {
        const [a, b] = await parallel([() => spawn(ship, 1), () => spawn("Elsewhere", "x", 2)]);
        return [a, b];
      });
      const d = await drive(w);
      await d.task();
      const ids = [...d.server.others.children.keys()];
      equal(new Set(ids).size, 2);
      for (const id of ids) {
        match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
      deepEqual(d.server.others.children.get(ids[1]!)!.args, ["x", 2]);
      d.server.others.start(ids[1]!);
      d.server.others.start(ids[0]!);
      d.server.others.complete(ids[1]!, 2);
      d.server.others.complete(ids[0]!);
      await d.task();
      deepEqual(await d.finish(), [{ ok: true }, { ok: true, value: 2 }]);
    },
  },
  {
    name:
      "a child that fails, is terminated or times out rejects with ChildWorkflowFailure and its cause",
    async run() {
      const w = workflow("W", async () => {
        const seen: unknown[] = [];
        for (const id of ["a", "b", "c", "d"]) {
          const error = await executeChild(ship, { id, args: [1] }).catch((e) =>
            e
          ) as ChildWorkflowFailure;
          seen.push([
            ...chain(error),
            error.workflowId,
            error.workflowType,
            error.runId,
            error.retryState ?? "",
          ]);
        }
        return seen;
      });
      const d = await drive(w);
      await d.task();
      const { others } = d.server;
      const ends = [
        () => others.fail("a", new ApplicationFailure("no stock", { type: "Stock" })),
        () => others.terminated("b"),
        () => others.timedOut("c"),
        () => others.cancelled("d"),
      ];
      for (const [i, childEnds] of ends.entries()) {
        await started(d, "abcd"[i]!);
        childEnds();
        await d.task();
      }
      const of = (id: string, ...texts: string[]) => [...texts, id, "Ship", `run of ${id}`];
      const seen = await d.finish() as string[][];
      deepEqual(seen[0], [
        ...of(
          "a",
          "ChildWorkflowFailure: Child Workflow execution failed",
          "ApplicationFailure: no stock",
        ),
        "RETRY_POLICY_NOT_SET",
      ]);
      match(
        seen[1]!.join(),
        /^ChildWorkflowFailure: Child Workflow execution terminated,TerminatedFailure: .*b,Ship,run of b/,
      );
      match(
        seen[2]!.join(),
        /^ChildWorkflowFailure: Child Workflow execution timed out,TimeoutFailure: .*c,Ship,run of c,TIMEOUT/,
      );
      match(
        seen[3]!.join(),
        /^ChildWorkflowFailure: Child Workflow execution cancelled,CancelledFailure: .*d,Ship,run of d/,
      );
    },
  },
  {
    name:
      "an id in use: WorkflowExecutionAlreadyStartedError; uncaught it fails the workflow, not the task",
    async run() {
      const w = workflow("W", async () => {
        const first = await executeChild(ship, { id: "x", args: [1] }).catch((e) => e);
        const second = await startChild(ship, { id: "y", args: [1] }).catch((e) => e);
        ok(
          first instanceof WorkflowExecutionAlreadyStartedError &&
            second instanceof WorkflowExecutionAlreadyStartedError,
        );
        deepEqual([first.workflowId, second.workflowId, second.workflowType], ["x", "y", "Ship"]);
        await spawn(ship, 1);
      });
      const d = await drive(w);
      await d.task();
      d.server.others.failStart("x");
      await d.task();
      d.server.others.failStart("y");
      await d.task();
      d.server.others.failStart([...d.server.others.children.keys()][0]!);
      await d.task();
      equal(d.server.closed?.kind, "failed");
      const info = d.server.closed?.failure?.failureInfo;
      ok(
        info?.case === "applicationFailureInfo" &&
          info.value.type === "WorkflowExecutionAlreadyStartedError",
      );
      await d.checkReplay();
    },
  },
  {
    name: "a child that cannot be started rejects with the service's cause, which is not retryable",
    async run() {
      const w = workflow("W", async () => {
        const failures: unknown[] = [];
        for (const id of ["a", "b", "c"]) {
          const e = await startChild(ship, { id, args: [1] }).catch((e) => e);
          ok(e instanceof ApplicationFailure);
          failures.push([e.type, e.nonRetryable, e.message.replace(/^.*\) /, "")]);
        }
        return failures;
      });
      const d = await drive(w);
      for (const [id, cause] of [["a", 2], ["b", 3], ["c", 77]] as const) {
        await d.task();
        d.server.others.failStart(id, cause);
      }
      await d.task();
      const said = (type: string) => [type, true, `could not be started: ${type}`];
      deepEqual(await d.finish(), [
        said("NAMESPACE_NOT_FOUND"),
        said("INVALID_VERSIONING_OVERRIDE"),
        said("START_CHILD_WORKFLOW_FAILED_77"),
      ]);
    },
  },
  {
    name:
      "the result of a child without a return value is undefined, early and late, also without a payload",
    async run() {
      const w = workflow("W", async () => {
        const handle = await startChild(ship, { id: "s", args: [1] });
        const seen = [await handle.result() === undefined];
        await sleep(5);
        return [...seen, await handle.result() === undefined];
      });
      for (const end of ["completeEmpty", "complete"] as const) {
        const d = await drive(w);
        await d.task();
        await started(d, "s");
        d.server.others[end]("s");
        await d.task();
        d.server.fireTimer("1");
        await d.task();
        deepEqual(await d.finish(), [true, true], end);
      }
    },
  },
  {
    name:
      "startChild returns a handle when the child has started; result() can be called repeatedly, early and late",
    async run() {
      const w = workflow("W", async () => {
        const handle = await startChild(ship, { id: "s", args: [1] });
        const early = handle.result();
        const facts = [handle.workflowId, handle.firstExecutionRunId];
        const [a, b] = await Promise.all([early, handle.result()]);
        await sleep(5);
        return [...facts, a, b, await handle.result()];
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      deepEqual(d.allCommands(), ["START_CHILD_WORKFLOW 1"]);
      d.server.others.complete("s", { n: 1 });
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), ["s", "run of s", { n: 1 }, { n: 1 }, { n: 1 }]);
    },
  },
  {
    name: "a result or failure of a child without a waiter is kept",
    async run() {
      const w = workflow("W", async () => {
        const good = await startChild(ship, { id: "good", args: [1] });
        const bad = await startChild(ship, { id: "bad", args: [1] });
        await sleep(5);
        return [
          await good.result(),
          await bad.result().catch(describeError),
          await bad.result().catch(describeError),
        ];
      });
      const d = await drive(w);
      await d.task();
      await started(d, "good");
      await started(d, "bad");
      d.server.others.complete("good", ["kept"]);
      d.server.others.fail("bad", new ApplicationFailure("no"));
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      const failed = "ChildWorkflowFailure: Child Workflow execution failed";
      deepEqual(await d.finish(), [["kept"], failed, failed]);
    },
  },
  {
    name: "handle.signal: a signal to a child of this run, whatever namespace and run",
    async run() {
      const w = workflow("W", async () => {
        const handle = await startChild(ship, { id: "s", args: [1] });
        await handle.signal(go, 5);
        return await handle.signal("by name", "x").catch((
          e,
        ) => [describeError(e), (e as ApplicationFailure).type]);
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      const [first] = d.server.others.messages;
      deepEqual([first!.workflowId, first!.runId, first!.childOnly, first!.text, first!.args], [
        "s",
        "",
        true,
        "go",
        [5],
      ]);
      d.server.others.delivered();
      await d.task();
      d.server.others.notFound();
      await d.task();
      const [text, type] = await d.finish() as string[];
      match(
        text!,
        /^ApplicationFailure: Unable to signal external workflow because it was not found/,
      );
      match(type!, /^ExternalWorkflowExecutionNotFound$/);
    },
  },
  {
    name: "children in handlers, async handlers and branches; messages are handled meanwhile",
    async run() {
      const ask = update<[number], string>("ask");
      const w = workflow("W", () =>
        receive([] as string[], [
          on(go, async ([n], s) =>
            noreply([...s, await executeChild(ship, { id: `h${n}`, args: [n] })])),
          on(ask, ([n], s) =>
            spawnAsync(() => executeChild(ship, { id: `a${n}`, args: [n] }), s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const asked = d.server.update("u", "ask", 1);
      await d.task();
      d.server.signal("go", 2);
      await d.task();
      deepEqual([...d.server.others.children.keys()].sort(), ["a1", "h2"]);
      d.server.others.start("a1");
      d.server.others.complete("a1", "asynchronous");
      await d.task();
      equal(asked.result, "asynchronous");
      d.server.signal("end");
      d.server.others.start("h2");
      d.server.others.complete("h2", "handled");
      await d.task();
      deepEqual(await d.finish(), ["handled"]);
    },
  },
  {
    name: "child calls in validators and queries are rejected",
    async run() {
      const ask = update("ask");
      const w = workflow("W", () =>
        receive(0, [
          on(ask, (_, s) => reply(undefined, s), {
            validate: () => void spawn(ship, 1),
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const asked = d.server.update("u", "ask");
      await d.task();
      match(asked.failure!.message, /spawn was called in a validator/);
    },
  },
  {
    name: "invalid options throw with their name and do not start a child",
    async run() {
      const w = workflow("W", async () => {
        const attempts: (() => Promise<unknown>)[] = [
          () => executeChild(ship, { id: "", args: [1] }),
          () => executeChild(ship, { args: [1], parentClosePolicy: "KILL" as "ABANDON" }),
          () => executeChild(ship, { args: [1], cancellationType: "maybe" as "abandon" }),
          () => executeChild(ship, { args: [1], idReusePolicy: "toString" as "ALLOW_DUPLICATE" }),
          () => executeChild(ship, { args: [1], workflowId: "x" } as { args: [number] }),
          () => executeChild(ship, { args: 1 as unknown as [number] }),
          () => executeChild(ship, { args: [1], runTimeout: 0 }),
          () => executeChild(ship, { args: [1], retry: { maximumAttempts: -1 } }),
          () => executeChild(undefined as unknown as typeof ship, { args: [1] }),
          () => executeChild("X", { args: [1n] }),
          () => executeChild("X", null as never),
          () => executeChild("X", [1] as never),
          () => executeChild("X", { taskQueue: 5 as never }),
          () => executeChild("X", { cronSchedule: 5 as never }),
          () => executeChild("X", { summary: {} as never }),
          () => executeChild("X", { memo: "note" as never }),
          () => executeChild("X", { searchAttributes: 5 as never }),
          () => executeChild("X", { retry: 3 as never }),
          () => executeChild("X", { retry: { nonRetryableErrorTypes: "Declined" as never } }),
          () => executeChild("X", { retry: { maximumAttempts: 1e12 } }),
          () => executeChild("X", { retry: { maximumInterval: "500ms" } }),
        ];
        const seen: string[] = [];
        for (const attempt of attempts) {
          try {
            await attempt();
            seen.push("nothing was thrown");
          } catch (e) {
            seen.push(describeError(e));
          }
        }
        return await Promise.resolve(seen);
      });
      const d = await drive(w);
      await d.task();
      const seen = await d.finish() as string[];
      deepEqual(seen.map((text) => text.split(":")[0]), [
        ...["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"],
        ...["RangeError", "RangeError", "TypeError", "PayloadConverterError"],
        ...[...new Array(9).fill("TypeError"), "RangeError", "RangeError"],
      ]);
      match(
        seen[1]!,
        /parentClosePolicy must be one of TERMINATE, ABANDON, REQUEST_CANCEL, not "KILL"/,
      );
      match(seen[4]!, /no option "workflowId"/);
      match(seen[8]!, /check that the module exports this name/);
      match(seen[10]!, /options must be an object, not null/);
      match(seen[12]!, /executeChild: taskQueue must be a string, not number/);
      match(seen[18]!, /nonRetryableErrorTypes must be an array of names, not "Declined"/);
      match(
        seen[20]!,
        /maximumInterval \(500 ms\) must not be less than the initial interval \(1000 ms\)/,
      );
    },
  },
  {
    name:
      "a child result that cannot be decoded fails the task; when it can be decoded the run continues",
    async run() {
      let handle: ChildWorkflowHandle | undefined;
      const w = workflow("W", async () => {
        handle = await startChild("Ship", { id: "s" });
        return await handle.result();
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      d.server.others.complete("s", "x");
      const event = d.server.events.at(-1)!.attributes;
      ok(event.case === "childWorkflowExecutionCompletedEventAttributes");
      const payload = event.value.result!.payloads[0]!;
      payload.metadata["encoding"] = new TextEncoder().encode("binary/secret");
      await d.task();
      match(d.server.taskFailure!.failure.message, /binary\/secret/);
      payload.metadata["encoding"] = new TextEncoder().encode("json/plain");
      await d.task();
      equal(await d.finish(), "x");
    },
  },
  {
    name: "a type or id that differs from history is a divergence with the line of the start",
    async run() {
      let id = "s";
      let type = "Ship";
      const w = workflow("W", () => executeChild(type, { id }));
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      d.server.others.complete("s", 1);
      await d.task();
      await d.finish();
      id = "t";
      const other = await d.replay();
      equal(other.verdict, "nondeterminism");
      match(
        other.error!.message,
        /Child workflow id of scheduled event 's' does not match child workflow id of command 't'/,
      );
      match(other.error!.location, /[jt]s:\d+:\d+/);
      [id, type] = ["s", "Shop"];
      match(
        (await d.replay()).error!.message,
        /Child workflow type of scheduled event 'Ship' does not match .* 'Shop'/,
      );
      [id, type] = ["s", "Ship"];
      equal((await d.replay()).verdict, "ok");
    },
  },
];
