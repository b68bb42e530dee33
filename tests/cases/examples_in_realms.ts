// The seven examples in worker realms: the realm loads their TypeScript itself, in Node, Deno and
// Chromium, and the completions of every task (commands and messages) are byte for byte those of
// the same scenario in this thread, whose digests examples.ts holds; so are the commands of the
// replay (P3).
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import * as orderActs from "../../examples/order_processing/activities.ts";
import {
  type Failure,
  FailureSchema,
} from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  RejectionSchema,
  ResponseSchema,
} from "../../ts/messages/generated/temporal/api/update/v1/message_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { createWorkerRealm, type WorkerRealm } from "../../ts/realm/mod.ts";
import type { TaskOutcome } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { elsewhere, type RunnerParts, settleActivity } from "./driver.ts";
import { MiniServer } from "./mini_server.ts";
import { SharedRealm } from "./shared_realm.ts";
import { scenarios } from "./examples.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const EXAMPLES = [
  ...[
    "onboarding",
    "counter",
    "shopping_cart",
    "batch_process",
    "inventory",
    "order_processing",
    "event_collector",
  ],
].map((name) => `examples/${name}/workflow.ts`);

/**
 * Set by the Chromium runner, which has no files: module texts, and the bundled entry of a realm.
 */
const browser = globalThis as unknown as {
  __caseSources?: { [path: string]: string };
  __caseRealmEntry?: string;
};

/** Events of the run of the current case. */
let history: (runId: string) => HistoryEvent[] | Promise<HistoryEvent[]>;

const examples = new SharedRealm(() =>
  createWorkerRealm({
    workflows: EXAMPLES,
    ...(browser.__caseSources !== undefined &&
      { sources: browser.__caseSources, entry: browser.__caseRealmEntry! }),
    runOptions: {
      namespace: "default",
      identity: "test",
      sdkVersion: "0.0.0-test",
      stickyQueue: "sticky",
    },
    fetchHistory: async (_workflowId, runId) => {
      const events = await history(runId);
      return {
        history: toBinary(HistorySchema, create(HistorySchema, { events })),
        nextPageToken: new Uint8Array(0),
      };
    },
  })
);

/**
 * Commands and messages of a task's completion, with stack traces reduced to type and message:
 * those differ between realms.
 */
function essence(outcome: TaskOutcome): unknown {
  if (outcome.response?.$case !== "completed") return outcome.response?.$case ?? "nothing";
  const { commands, messages } = fromBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    outcome.response.value,
  );
  for (const { body } of messages) {
    const schema = [RejectionSchema, ResponseSchema].find((s) =>
      body?.typeUrl.endsWith(`/${s.typeName}`)
    );
    if (schema === undefined) continue;
    const message = fromBinary(schema, body!.value);
    stripStacks(message);
    body!.value = toBinary(schema, message as never);
  }
  stripStacks(commands);
  return toBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    create(RespondWorkflowTaskCompletedRequestSchema, { commands, messages }),
  );
}

function stripStacks(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if ((value as Message).$typeName === FailureSchema.typeName) (value as Failure).stackTrace = "";
  for (const part of Object.values(value)) stripStacks(part);
}

async function inRealm(name: string, realm: WorkerRealm): Promise<void> {
  const here = await scenarios[name]!();
  let parts: RunnerParts;
  history = (runId) => parts.history(runId);
  elsewhere.make = async (definitions) =>
    parts = {
      logs: [],
      recorders: new Map(),
      definitions,
      history: () => [],
      runner: {
        runTask: (task) => realm.runTask(task),
        replay: (id, history, options) => realm.replay(id, history, options),
        evict: (runId) => realm.evict(runId),
        dispose: () => {},
        cachedRunIds: [],
      },
    };
  let runId: string | undefined;
  try {
    const there = await scenarios[name]!();
    ({ runId } = there.server);
    deepEqual(
      there.outcomes.map(essence),
      here.outcomes.map(essence),
      "completions in a worker realm",
    );
    const replayed = await there.replay({ record: true });
    equal(replayed.verdict, "ok", replayed.error?.message);
    const inline = await here.replay({ record: true });
    const commands = (v: typeof inline) =>
      v.recorded!.map((a) => a.commands.map(({ site: _, ...command }) => command));
    deepEqual(commands(replayed), commands(inline), "commands of the replay");
  } finally {
    delete elsewhere.make;
    if (runId !== undefined) realm.evict(runId);
  }
}

// OrderProcessing reads its numbers from the realm's own sources, which this thread cannot set: its
// live run is held against its replay.
async function orderInRealm(realm: WorkerRealm): Promise<void> {
  const server = new MiniServer("OrderProcessing", { args: [{ customerId: "ada" }] });
  history = () => server.events;
  const task = async () =>
    server.report(await realm.runTask(readWorkflowTask(server.openTask({ sticky: true }))));
  await task();
  await settleActivity(server, "1", orderActs as never);
  await task();
  const result = server.closed!.result as { orderNumber: number; startedAt: string };
  equal(typeof result.orderNumber, "number");
  const replayed = await realm.replay(server.workflowId, server.history());
  equal(replayed.verdict, "ok", replayed.error?.message);
  realm.evict(server.runId);
}

export const cases: Case[] = Object.keys(scenarios).map((name) => {
  const use = examples.user();
  return {
    name: `example ${name} in a worker realm`,
    run: () =>
      use((realm) => name === "OrderProcessing" ? orderInRealm(realm) : inRealm(name, realm)),
  };
});
