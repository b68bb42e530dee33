// Programs of temporalio/samples-typescript (MIT), unmodified: their workflow modules run on the
// embedded engine with their own activities; a client of this package does what theirs does, and
// prints what it printed with the official SDK and server (baseline.json). They are read from a
// folder next to the checkout; if it is missing, the tests skip by name.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "sucrase";
import { activityInfo, CancelledFailure, heartbeat, sleep } from "../../../ts/activity/mod.ts";
import type { WorkflowFailedError } from "../../../ts/client/mod.ts";
import { fileSources } from "../../../ts/platform/source_files.ts";
import { TestEnvironment, type TestWorkerOptions } from "../../../ts/testing/mod.ts";

const found = (() => {
  let here = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(here, "package.json"))) here = dirname(here);
  const root = join(here, "../shared/samples");
  return existsSync(join(root, "baseline.json")) ? root : undefined;
})();
const skip = found === undefined
  ? "the samples ../shared/samples are not next to this checkout"
  : false;
const root = found ?? "";

// deno-lint-ignore no-explicit-any
type Loose = any;

/** What the samples' activities import of `@temporalio/activity`. */
const ACTIVITY = {
  activityInfo: () => {
    const { workflowId, runId, heartbeatDetails } = activityInfo() as Loose;
    return { workflowExecution: { workflowId, runId }, heartbeatDetails };
  },
  heartbeat,
  sleep: (ms: number) => sleep(ms),
  CancelledFailure,
  log: { info() {}, warn() {}, error() {}, debug() {} },
};

/** A module of a sample that runs outside of workflows, as its worker would load it. */
function hostModule(path: string): Loose {
  const { code } = transform(readFileSync(path, "utf8"), { transforms: ["typescript", "imports"] });
  const exports = {};
  const require = (name: string) => {
    if (name === "@temporalio/activity") return ACTIVITY;
    // What activities and workflows share are names of messages.
    if (name === "@temporalio/workflow") {
      return {
        defineSignal: (name: string) => ({ name }),
        defineQuery: (name: string) => ({ name }),
      };
    }
    const file = ["", ".ts", "/index.ts"].map((end) => resolve(dirname(path), name) + end).find((
      file,
    ) => /\.ts$/.test(file) && existsSync(file));
    if (file === undefined) throw new Error(`${path} requires ${name}`);
    return hostModule(file);
  };
  new Function("exports", "require", code)(exports, require);
  return exports;
}

const activitiesOf = (sample: string): Loose => hostModule(join(root, sample, "src/activities.ts"));

/** What a sample's clients printed, one after the other. */
function baseline(sample: string): string {
  const { runs } = JSON.parse(readFileSync(join(root, "baseline.json"), "utf8"))[sample];
  return runs.map(({ out }: { out: string }) => out).join("");
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface Sample {
  readonly env: TestEnvironment;
  print(...values: unknown[]): void;
}

/** Runs a sample; what its client prints must be what is recorded. */
function sample(
  name: string,
  client: (sample: Sample) => Promise<void>,
  options: (
    env: TestEnvironment,
  ) => Partial<TestWorkerOptions> | Promise<Partial<TestWorkerOptions>> = () => ({
    activities: activitiesOf(name),
  }),
  shown: (text: string) => string = (text) => text,
): void {
  test(`a sample of the official SDK runs unmodified: ${name}`, { skip }, async () => {
    const env = await TestEnvironment.create({ logger: silent });
    let out = "";
    const print = (...values: unknown[]) => out += `${values.join(" ")}\n`;
    try {
      const workflows = pathToFileURL(join(root, name, "src/workflows.ts"));
      await env.runWorker({ workflows, ...await options(env) }, () => client({ env, print }));
    } finally {
      await env.dispose();
    }
    assert.equal(shown(out), shown(baseline(name)));
  });
}

const none = (): Partial<TestWorkerOptions> => ({});
/** Ids that a sample makes up. */
const anyId = (text: string) => text.replace(/[\w-]*<(?:nanoid|uuid)>/g, "<id>");

sample(
  "hello-world",
  async ({ env, print }) => {
    const handle = await env.client.start("example", { id: "workflow-1", args: ["Temporal"] });
    print("Started workflow <id>");
    print(await handle.result());
  },
  undefined,
  anyId,
);

sample("activities-cancellation-heartbeating", async ({ env, print }) => {
  const handle = await env.client.start("runCancellableActivity", {
    id: "cancellation-heartbeating-0",
    args: [],
  });
  await env.advance("5s");
  await handle.cancel();
  print("Cancelled workflow successfully");
  const error = await handle.result().then(() => undefined, (error: WorkflowFailedError) => error);
  if (error?.cause instanceof CancelledFailure) {
    print("handle.result() threw because Workflow was cancelled");
  }
});

sample("child-workflows", async ({ env, print }) => {
  print(
    await env.client.execute("parentWorkflow", {
      id: "parent-sample-0",
      args: ["Alice", "Bob", "Charlie"],
    }),
  );
}, none);

sample("continue-as-new", async ({ env, print }) => {
  print(String(await env.client.execute("loopingWorkflow", { id: "loop-0", args: [] })));
}, none);

sample("dsl-interpreter", async ({ env, print }) => {
  const act = (name: string, args: string[], result: string) => ({
    activity: { name, arguments: args, result },
  });
  const elements = [
    act("activity1", ["arg1"], "result1"),
    act("activity2", ["result1"], "result2"),
    act("activity3", ["arg2", "result2"], "result3"),
  ];
  const dsl = { variables: { arg1: "value1", arg2: "value2" }, root: { sequence: { elements } } };
  print(String(await env.client.execute("DSLInterpreter", { id: "my-dsl-id", args: [dsl] })));
});

sample("early-return", async ({ env, print }) => {
  const { workflow, update } = await env.client.startUpdateWithStart("transactionWorkflow", {
    ...{ id: "transaction-my-transaction-id", args: [], idConflictPolicy: "FAIL" as const },
    ...{ update: "get-transaction-confirmation", updateArgs: [], waitFor: "accepted" as const },
  });
  print(`early transaction confirmation: ${JSON.stringify(await update.result())}`);
  print(`final transaction report: ${JSON.stringify(await workflow.result())}`);
}, none);

sample("message-passing/introduction", async ({ env, print }) => {
  const handle = await env.client.start("greetingWorkflow", {
    id: "messages-introduction-1",
    args: [],
  });
  print(
    `supported languages: ${await handle.query("getLanguages", { includeUnsupported: false })}`,
  );
  let previous = await handle.update("setLanguage", "CHINESE");
  print(`language changed: ${previous} -> ${await handle.query("getLanguage")}`);
  previous =
    await (await handle.startUpdate("setLanguage", { args: ["ENGLISH"], waitFor: "accepted" }))
      .result();
  print(`language changed: ${previous} -> ${await handle.query("getLanguage")}`);
  previous = await handle.update("setLanguageUsingActivity", "ARABIC");
  print(`language changed: ${previous} -> ${await handle.query("getLanguage")}`);
  await handle.signal("approve", { name: "" });
  print(await handle.result());
}, () => {
  // The package async-mutex is not installed here: the part of it that the sample uses.
  const files = fileSources();
  const mutex = "file:///async-mutex.js";
  const text =
    "export class Mutex { #last = Promise.resolve(); runExclusive(fn) { return this.#last = this.#last.then(fn); } }";
  return {
    sources: {
      read: (url) => url === mutex ? text : files.read(url),
      isFile: (url) => url === mutex || files.isFile(url),
      real: (url) => url === mutex ? url : files.real(url),
      map: (specifier, parent) =>
        specifier === "async-mutex" ? mutex : files.map(specifier, parent),
    },
    activities: {
      callGreetingService: (language: string) => ({ ARABIC: "مرحبا بالعالم" })[language],
    },
  };
});

sample("mutex", async ({ env, print }) => {
  print("Starting test workflow with id <id> connecting to lock workflow resource-1");
  await env.client.execute("oneAtATimeWorkflow", {
    id: "test-1",
    args: ["resource-1", 5000, 7500],
  });
  print("Test workflow finished after <time> ms");
}, (env) => {
  // The sample's activities are given the official client: the call of it that they make.
  const client = {
    workflow: {
      signalWithStart: (type: string, { taskQueue, workflowId, signal, signalArgs }: Loose) =>
        env.client.signalWithStart(type, {
          id: workflowId,
          taskQueue,
          signal: signal.name,
          signalArgs,
          args: [],
        }),
    },
  };
  return { activities: activitiesOf("mutex").createActivities(client) };
}, (text) => anyId(text).replace(/after .* ms/, "after <time> ms"));

sample("saga", async ({ env, print }) => {
  const address = { address1: "123 Temporal Street", postalCode: "98006" };
  const bankDetails = { accountNumber: "n", routingNumber: "1234555", accountType: "Checking" };
  const params = {
    accountId: "a",
    address,
    bankDetails,
    bankId: "Foo Bar Savings and Loan",
    clientEmail: "bart@simpson.io",
  };
  const error: Loose = await env.client.execute("openAccount", { id: "saga-a", args: [params] })
    .then(
      () => undefined,
      (error) => error,
    );
  const { cause } = error;
  print(
    `account failed to open ${error.name} ${cause.name}: ${cause.message} ${cause.activityType} ${cause.activityId}`,
  );
  print(`${cause.retryState} ${cause.cause.type}: ${cause.cause.message}`);
}, async () => {
  const { createActivities } = activitiesOf("saga");
  return {
    activities: createActivities(
      await hostModule(join(root, "saga/src/clients/index.ts")).createClients(),
    ),
  };
}, (text) => {
  // The official client prints the whole error; what it says.
  const field = (name: string) => new RegExp(`^    ${name}: '(.*)'`, "m").exec(text)?.[1];
  if (field("activityType") === undefined) return text;
  const cause = /cause: (\w+): (.*)\n/.exec(text)!;
  return `account failed to open WorkflowFailedError ActivityFailure: Activity task failed ${
    field("activityType")
  } ${field("activityId")}\n${field("retryState")} ${cause[1]}: ${cause[2]}\n`;
});

sample("signals-queries", async ({ env, print }) => {
  const handle = await env.client.start("unblockOrCancel", { id: "unblock-or-cancel-0", args: [] });
  print("Workflow 'unblock-or-cancel-0' started, now you can signal, query, or cancel it");
  print("blocked?", await handle.query("isBlocked"));
  await handle.signal("unblock");
  print("unblockSignal sent");
  print("blocked?", await handle.query("isBlocked"));
}, none);

sample("timer-progress", async ({ env, print }) => {
  const handle = await env.client.start("progress", { id: "progress-0", args: [] });
  await env.advance("1500ms");
  print(await handle.query("getProgress"));
  await handle.result();
  print("complete");
}, none);

sample(
  "encryption",
  async ({ env, print }) => {
    print("Started workflow <id>");
    print(
      await env.client.execute("example", {
        id: "my-business-id",
        args: ["Alice: Private message for Bob."],
      }),
    );
  },
  none,
  (text) => anyId(text).replace(/^Decrypting .*\n/m, ""),
);
