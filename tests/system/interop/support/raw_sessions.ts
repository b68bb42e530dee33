// Raw gRPC sessions: the same calls on Temporal's development server and on `temporalex dev`, their
// responses, codes and messages compared field by field. Ids are numbered in the order of their
// appearance; times, sizes and tokens are left out.
import assert from "node:assert/strict";
import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { CommandSchema } from "../../../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { type RawService, ServiceError } from "../../../../ts/service/raw.ts";

type Methods = typeof WorkflowService.method;
export type RawCommand = MessageInitShape<typeof CommandSchema>;

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Request ids that a server makes up. */
const OWN_ID = /^(emptyUuid|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** The engine's own words after a cause. */
const OWN_TEXT = /(BadRequestCancel(?:Activity|NexusOperation)Attributes): [^"]*/g;
/** Fields that differ with the time and the place of a run. */
const LEFT_OUT = new Set([
  ...[
    "eventTime",
    "taskId",
    "version",
    "taskToken",
    "historySizeBytes",
    "stateTransitionCount",
  ],
  ...[
    "startTime",
    "executionTime",
    "originalStartTime",
    "closeTime",
    "scheduledTime",
  ],
  ...[
    "startedTime",
    "registrationTime",
    "currentAttemptScheduledTime",
    "updateTime",
  ],
  ...["originalScheduledTime", "executionDuration", "lastResetTime"],
  // Without a timeout the server has the first moment of the year 1.
  "runExpirationTime",
]);
/** Fields of versions after the development server's, or of clusters only. */
const NEWER = new Set([
  "firstExecutionRunId",
  "pollerGroupId",
  "pollerGroupInfos",
]);

/** Makes the documents of one server comparable with those of another. */
class Normalizer {
  readonly #ids = new Map<string, string>();

  apply(value: unknown): unknown {
    const json = JSON.stringify(value, (key, each) => {
      if (
        LEFT_OUT.has(key) || NEWER.has(key) ||
        (key === "requestId" && OWN_ID.test(each))
      ) return;
      return each;
    });
    const text = json.replace(OWN_TEXT, "$1");
    return JSON.parse(text.replace(UUID, (id) => {
      const known = this.#ids.get(id) ?? `<id ${this.#ids.size + 1}>`;
      this.#ids.set(id, known);
      return known;
    }));
  }
}

/** The calls of one session to one server. */
export class RawSession {
  /** Responses and errors that are compared. */
  readonly steps: unknown[] = [];
  readonly #service: RawService;
  readonly #normalizer = new Normalizer();

  constructor(service: RawService) {
    this.#service = service;
  }

  /** Makes a call that is not compared. */
  async call<M extends keyof Methods>(
    method: M,
    request: MessageInitShape<Methods[M]["input"]>,
    // deno-lint-ignore no-explicit-any
  ): Promise<any> {
    const { input, output } = WorkflowService.method[method] as {
      input: DescMessage;
      output: DescMessage;
    };
    const bytes = toBinary(
      input,
      create(input, { namespace: "default", ...request }),
    );
    return fromBinary(output, await this.#service.call(method, bytes));
  }

  /** Makes a call and records its response or error. `view` selects the part that is compared. */
  async step<M extends keyof Methods>(
    method: M,
    request: MessageInitShape<Methods[M]["input"]>,
    // deno-lint-ignore no-explicit-any
    view: (response: any) => unknown = (response) => response,
    // deno-lint-ignore no-explicit-any
  ): Promise<any> {
    try {
      const response = await this.call(method, request);
      const { output } = WorkflowService.method[method] as {
        output: DescMessage;
      };
      const json = toJson(output, response, { registry: createRegistry() });
      this.record({ method, response: view(json) });
      return response;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.record({ method, code: error.code, message: error.message });
      return undefined;
    }
  }

  record(value: unknown): void {
    this.steps.push(this.#normalizer.apply(value));
  }

  start(
    workflowId: string,
    more: object = {},
    view?: (response: unknown) => unknown,
  ) {
    return this.step("startWorkflowExecution", {
      workflowId,
      workflowType: { name: "W" },
      taskQueue: { name: workflowId },
      requestId: "start",
      identity: "client",
      ...more,
    }, view);
  }

  /** Polls a workflow task of the workflow, whose queue has its name. */
  async poll(workflowId: string) {
    const request = { taskQueue: { name: workflowId }, identity: "worker" };
    const task = await this.call("pollWorkflowTaskQueue", request);
    assert.notEqual(task.taskToken.length, 0, "no workflow task");
    return task;
  }

  /** Completes a task and records the response. */
  complete(
    task: { taskToken: Uint8Array },
    commands: readonly RawCommand[] = [],
    more = {},
  ) {
    return this.step("respondWorkflowTaskCompleted", {
      taskToken: task.taskToken,
      identity: "worker",
      commands: [...commands],
      ...more,
    });
  }

  /** Polls a task, completes it, and records the response. */
  async task(workflowId: string, commands: readonly RawCommand[] = []) {
    return this.complete(await this.poll(workflowId), commands);
  }

  history(workflowId: string, runId = "") {
    return this.step("getWorkflowExecutionHistory", {
      execution: { workflowId, runId },
    });
  }

  describe(workflowId: string, ...fields: string[]) {
    return this.step(
      "describeWorkflowExecution",
      { execution: { workflowId } },
      (json) => Object.fromEntries(fields.map((field) => [field, json[field]])),
    );
  }

  terminate(workflowId: string) {
    return this.call("terminateWorkflowExecution", {
      workflowExecution: { workflowId },
    });
  }
}

/** Runs the session on all servers; the first is the judge. `reasons` change its known differences. */
export async function compareSessions(
  services: readonly RawService[],
  body: (session: RawSession) => Promise<void>,
  agree: (steps: unknown) => unknown = (steps) => steps,
): Promise<void> {
  const [theirs, ...others] = await Promise.all(
    services.map(async (service) => {
      const session = new RawSession(service);
      await body(session);
      return session.steps;
    }),
  );
  for (const ours of others) assert.deepEqual(agree(ours), agree(theirs));
}
