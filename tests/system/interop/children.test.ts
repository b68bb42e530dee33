// Children, messages to other workflows, and upserts on a real server; with Temporal's own worker
// on either side; and every history of it is read elsewhere.
// takes: 40 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client, silentLogger, WorkflowNotFoundError } from "../../../ts/client/mod.ts";
import { EventTexts } from "../../../ts/cli/commands/workflow/event_texts.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker, type WorkerOptions } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import * as flows from "./flows/families.ts";
import { Collected, readElsewhere } from "./support/collected.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { noOfficial, officialProgram } from "./support/official.ts";

const flowModule = new URL("./flows/families.ts", import.meta.url);
let server: DevServer, service: GrpcService, client: Client, collected: Collected;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue: "families", logger: silentLogger });
  collected = new Collected(() => server.address, "children");
  const create = ["operator", "search-attribute", "create", "--address", server.address];
  await promisify(execFile)(temporalCli()!, [
    ...create,
    "--name",
    "Stage",
    "--type",
    "Keyword",
    "--name",
    "Score",
    "--type",
    "Int",
  ]);
});
after(async () => {
  service?.close();
  await server?.stop();
});

async function work<T>(body: () => Promise<T>, options: Partial<WorkerOptions> = {}): Promise<T> {
  const worker = await Worker.create({
    service,
    taskQueue: "families",
    workflows: flowModule,
    logger: silentLogger,
    ...options,
  });
  return await worker.runUntil(body);
}

/** Keeps the histories of all runs whose ids begin so. */
async function keepAll(prefix: string): Promise<void> {
  for await (
    const { workflowId, runId, type, status } of client.list(`WorkflowId STARTS_WITH "${prefix}"`)
  ) {
    if (status !== "RUNNING") {
      await collected.keep(
        `${workflowId}-${runId.slice(-4)}`,
        client.getHandle(type, workflowId, runId),
      );
    }
  }
}

/** The status of a workflow, once it is no longer running. */
const ended = (id: string) =>
  until(`${id} has ended`, async () => {
    const status = await client.getHandle("Patient", id).describe().then(
      ({ status }) => status,
      (error) => {
        // It has not been started yet.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      },
    );
    return status === "RUNNING" ? undefined : status;
  });

for (const cachedWorkflows of [100, 0]) {
  test(
    `every way in which a child can end; ${cachedWorkflows} runs cached`,
    { skip: noServer },
    async () => {
      await work(async () => {
        const taken = await client.start(flows.patient, {
          id: `outcomes-${cachedWorkflows}-taken`,
          args: [false],
        });
        const handle = await client.start(flows.outcomes, {
          id: `outcomes-${cachedWorkflows}`,
          args: [taken.workflowId],
        });
        const { values, failures } = await handle.result() as {
          values: unknown[];
          failures: unknown[][];
        };
        const { workflowId } = handle;
        assert.deepEqual(
          values,
          [1, 2].map((n) => ({ doubled: n * 2, parent: workflowId, root: workflowId })),
        );
        const [failed, late, retried, already, rejected, nowhere] = failures;
        assert.deepEqual(failed, [
          "ChildWorkflowFailure: Child Workflow execution failed",
          "ApplicationFailure: this fails (Kind)",
        ]);
        assert.deepEqual(late!.map((text) => String(text).split(":")[0]), [
          "ChildWorkflowFailure",
          "TimeoutFailure",
        ]);
        assert.equal(retried, 3);
        for (const error of [already, rejected]) {
          assert.match(String(error), /^WorkflowExecutionAlreadyStartedError: child workflow /);
        }
        assert.match(
          String(nowhere![0]),
          /^ChildWorkflowFailure: Child Workflow execution timed out/,
        );
        await taken.signal(flows.release, "now");
        await taken.result();
        await keepAll(`outcomes-${cachedWorkflows}`);
      }, { cachedWorkflows });
    },
  );
}

test("cancellation in each of the four types, of a child that obeys and of one that does not", {
  skip: noServer,
}, async () => {
  await work(async () => {
    const cancelled = [
      "ChildWorkflowFailure: Child Workflow execution cancelled",
      /^CancelledFailure: /,
    ];
    const table = [
      ["waitCancellationCompleted", false, cancelled, "CANCELED"],
      ["waitCancellationCompleted", true, ["swallowed"], "COMPLETED"],
      ["waitCancellationRequested", false, cancelled, "CANCELED"],
      ["waitCancellationRequested", true, ["swallowed"], "COMPLETED"],
      ["tryCancel", false, cancelled, "CANCELED"],
      ["tryCancel", true, cancelled, "COMPLETED"],
      ["abandon", false, cancelled, "RUNNING"],
    ] as const;
    await Promise.all(table.map(async ([type, swallows, expected, status]) => {
      const id = `cancelling-${type}-${swallows}`;
      const parent = await client.start(flows.cancelling, { id, args: [type, swallows] });
      if (status !== "RUNNING") assert.equal(await ended(`${id}-child`), status, id);
      await parent.signal(flows.release, "what it asked for has been sent");
      const seen = await parent.result();
      assert.equal(seen.length, expected.length, id);
      expected.forEach((text, i) =>
        typeof text === "string"
          ? assert.equal(seen[i], text, id)
          : assert.match(String(seen[i]), text, id)
      );
      if (status !== "RUNNING") return;
      const child = client.getHandle(flows.patient, `${id}-child`);
      assert.equal((await child.describe()).status, "RUNNING");
      await child.signal(flows.release, "by hand");
      assert.equal(await child.result(), "by hand");
    }));
    await keepAll("cancelling-");
  });
});

test(
  "a canceled parent cancels the child that it waits for and gets its outcome",
  { skip: noServer },
  async () => {
    await work(async () => {
      for (const swallows of [false, true]) {
        const id = `waiting-${swallows}`;
        const parent = await client.start(flows.waiting, { id, args: [swallows] });
        await until(
          "the child runs",
          () => client.getHandle("Patient", `${id}-child`).describe().then(() => true, () => false),
        );
        await parent.cancel("enough");
        if (swallows) assert.equal(await parent.result(), "swallowed");
        else {await assert.rejects(
            parent.result(),
            (error: Error) => error.cause instanceof Error && /^Cancelled/.test(error.cause.name),
          );}
        assert.equal(await ended(`${id}-child`), swallows ? "COMPLETED" : "CANCELED");
        const { events } = await client.getHandle("Patient", `${id}-child`).fetchHistory();
        const asked = events.find(({ attributes }) =>
          attributes.case === "workflowExecutionCancelRequestedEventAttributes"
        );
        assert.match((asked?.attributes.value as { cause: string }).cause, /enough/);
      }
      await keepAll("waiting-");
    });
  },
);

test("the parent close policy decides the fate of children", { skip: noServer }, async () => {
  await work(async () => {
    for (
      const [policy, status] of [["TERMINATE", "TERMINATED"], ["REQUEST_CANCEL", "CANCELED"], [
        "ABANDON",
        "RUNNING",
      ]] as const
    ) {
      const id = `closing-${policy}`;
      const runId = await client.execute(flows.closing, { id, args: [policy] });
      const child = client.getHandle(flows.patient, `${id}-child`);
      if (status !== "RUNNING") assert.equal(await ended(`${id}-child`), status);
      else {
        await child.signal(flows.release, "alone");
        assert.equal(await child.result(), "alone");
      }
      assert.equal((await child.describe()).runId, runId);
    }
    await keepAll("closing-");
  });
});

test("signals and cancel requests: to a child, to others, to a missing workflow", {
  skip: noServer,
}, async () => {
  await work(async () => {
    const [first, second] = await Promise.all(
      ["first", "second"].map((name) =>
        client.start(flows.patient, { id: `messenger-${name}`, args: [true] })
      ),
    );
    const seen = await client.execute(flows.messenger, {
      id: "messenger",
      args: [first!.workflowId, second!.workflowId],
    });
    assert.equal(await first!.result(), "by a neighbor");
    assert.equal(await second!.result(), "swallowed");
    const notFound = (
      what: string,
    ) => [`ApplicationFailure: Unable to ${what} (ExternalWorkflowExecutionNotFound)`];
    assert.deepEqual(seen, [
      "by its parent",
      notFound("signal external workflow because it was not found"),
      notFound("signal external workflow because it was not found"),
      notFound("cancel external workflow because not found"),
    ]);
    const texts = new EventTexts();
    const { events } = await client.getHandle("Messenger", "messenger").fetchHistory();
    const lines = events.map((event) => `${texts.name(event)}: ${texts.summary(event)}`).join("\n");
    const expected = [
      /^StartChildWorkflowExecutionInitiated: Patient\(false\), id \S+$/m,
      /^SignalExternalWorkflowExecutionInitiated: release\("by its parent"\) to \S+$/m,
      /^ChildWorkflowExecutionCompleted: Patient \S+ = "by its parent"$/m,
      /^ExternalWorkflowExecutionSignaled: release to messenger-first$/m,
      /^RequestCancelExternalWorkflowExecutionInitiated: messenger-second: .*a neighbor asks$/m,
      /^ExternalWorkflowExecutionCancelRequested: messenger-second$/m,
      /^SignalExternalWorkflowExecutionFailed: x to absent: EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND$/m,
      /^RequestCancelExternalWorkflowExecutionFailed: absent: EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND$/m,
    ];
    for (const line of expected) assert.match(lines, line);
    await keepAll("messenger");
  });
});

test(
  "upserted attributes are in descriptions and lists, removed ones are not; the next run has them",
  { skip: noServer },
  async () => {
    await work(async () => {
      const handle = await client.start(flows.marked, {
        id: "marked",
        args: [1],
        memo: { first: 1 },
      });
      const found = (query: string) =>
        until(query, async () => {
          for await (
            const run of client.list(
              `${query} AND WorkflowId = "marked" AND ExecutionStatus = "Running"`,
            )
          ) return run;
          return undefined;
        });
      const current = client.getHandle(flows.marked, "marked");
      for (const round of [1, 2]) {
        const listed = await found(`Stage = "round ${round}" AND Score = ${round}`);
        assert.equal(listed.typedSearchAttributes.get(flows.score), round);
        const described = await current.describe();
        assert.deepEqual(described.memo, {
          first: 1,
          note: { round },
          kept1: true,
          ...(round === 2 && { kept2: true }),
        });
        assert.equal(described.typedSearchAttributes.get(flows.stage), `round ${round}`);
        await current.signal(flows.release, "on");
        await found(`Stage = "round ${round}" AND Score IS NULL`);
        const { memo, typedSearchAttributes } = await current.describe();
        assert.deepEqual([typedSearchAttributes.has(flows.score), "note" in memo], [false, false]);
        await current.signal(flows.release, "on");
      }
      assert.deepEqual(await handle.result(), {
        memo: { first: 1, kept1: true, kept2: true },
        searchAttributes: { Stage: "round 2" },
      });
      await keepAll("marked");
    });
  },
);

const withOfficial = noServer || noOfficial;

test(
  "a child on a worker of the official SDK, and parents of that SDK with children on this worker",
  { skip: withOfficial },
  async () => {
    const program: ChildProcess = spawn("node", [
      officialProgram("family_worker.mjs"),
      server.address,
      "official",
    ], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const kill = () => void program.kill("SIGKILL");
    process.once("exit", kill);
    const exit = new Promise((resolve) => program.once("exit", resolve));
    try {
      await new Promise((resolve, reject) => {
        program.stdout!.once("data", resolve);
        program.once("exit", () => reject(new Error("the official worker ended")));
      });
      await work(async () => {
        const cross = (kind: string) =>
          client.execute(flows.crossing, {
            id: `crossing-${kind}`,
            args: ["officialChild", "official", [kind]],
          });
        assert.equal(await cross("well"), "well, released over the border");
        assert.deepEqual(await cross("fails"), [
          "ChildWorkflowFailure: Child Workflow execution failed",
          "ApplicationFailure: it was to fail (Wanted)",
        ]);
        const parent = await client.start("officialParent", {
          id: "official-parent",
          taskQueue: "official",
          args: ["families"],
        });
        assert.deepEqual(await parent.result(), [
          42,
          "officially",
          ["ChildWorkflowFailure", "Kind", "this fails"],
          ["ChildWorkflowFailure", true],
          // With WAIT_CANCELLATION_REQUESTED: as in this package.
          "swallowed",
        ]);
        await keepAll("crossing-");
        await collected.keep(
          "officially-cancelled",
          client.getHandle(flows.patient, "officially-cancelled"),
        );
      });
    } finally {
      process.off("exit", kill);
      program.kill("SIGTERM");
      await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 5000))]);
      kill();
    }
  },
);

readElsewhere(() => collected);
