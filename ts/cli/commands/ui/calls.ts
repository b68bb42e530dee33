// Calls of the page to the service: one POST for each, with request and response bytes. Limited to
// methods that the page uses, and to the namespace of the command.
import type { IncomingMessage, ServerResponse } from "node:http";
import { withPermissions } from "../../../gateway/permissions.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../../../service/raw.ts";
import { type DataRoute, sendBytes, sendJson } from "../../page/page_server.ts";

const READS: readonly MethodName[] = [
  "getSystemInfo",
  "describeNamespace",
  "listWorkflowExecutions",
  "countWorkflowExecutions",
  "describeWorkflowExecution",
  "getWorkflowExecutionHistory",
  "getWorkflowExecutionHistoryReverse",
  "describeTaskQueue",
  "listSchedules",
  "describeSchedule",
  "listScheduleMatchingTimes",
  "queryWorkflow",
  "pollWorkflowExecutionUpdate",
];
const WRITES: readonly MethodName[] = [
  "startWorkflowExecution",
  "signalWithStartWorkflowExecution",
  "signalWorkflowExecution",
  "updateWorkflowExecution",
  "requestCancelWorkflowExecution",
  "terminateWorkflowExecution",
  "resetWorkflowExecution",
  "pauseActivity",
  "unpauseActivity",
  "resetActivity",
  "createSchedule",
  "updateSchedule",
  "patchSchedule",
  "deleteSchedule",
];

/** Maximum size of a request; a server accepts 4 MiB. */
const REQUEST_BYTES = 8 * 1024 * 1024;
/** Maximum open calls of one page. */
const MOST_CALLS = 64;
const LONGEST_MS = 10 * 60_000;
const PATH = /^data\/call\/([A-Za-z]{1,60})$/;

export interface TimerOfPage {
  readonly workflowId: string;
  readonly runId: string;
  readonly name: string;
}

/** What a run shows of itself, from a store. */
export interface ShownOfRun {
  readonly phase: number | null;
  /** The published state as JSON; null: none. */
  readonly state: string | null;
}

export interface CallOptions {
  readonly namespaces: readonly string[];
  readonly readOnly: boolean;
  /** Reads what a run shows of itself; the service has no method for it. */
  readShown(namespace: string, runId: string): Promise<ShownOfRun>;
  /** Fires a timer of a workflow with manual timers; the service has no method for it. */
  fireTimer(timer: TimerOfPage): Promise<void>;
}

/** Returns the routes of calls. */
export function callRoutes(
  raw: RawService,
  { namespaces, readOnly, fireTimer, readShown }: CallOptions,
): (path: string) => DataRoute | undefined {
  const service = withPermissions(raw, { namespaces });
  let open = 0;
  const routes = new Map<string, DataRoute>();
  for (const method of [...READS, ...WRITES]) {
    routes.set(method, {
      method: "POST",
      maxBytes: REQUEST_BYTES,
      async handle(body, request, response) {
        if (readOnly && WRITES.includes(method)) {
          return sendError(
            response,
            denied(`${method} changes something, and this page was started with --read-only`),
          );
        }
        if (open >= MOST_CALLS) {
          return sendError(
            response,
            new ServiceError(Code.RESOURCE_EXHAUSTED, `${MOST_CALLS} calls are already open`),
          );
        }
        open++;
        try {
          await answer(service, method, body, request, response);
        } finally {
          open--;
        }
      },
    });
  }
  routes.set("fireTimer", {
    method: "POST",
    async handle(body, _request, response) {
      if (readOnly) {
        return sendError(
          response,
          denied(
            "a timer that fires changes something, and this page was started with --read-only",
          ),
        );
      }
      try {
        await fireTimer(timerOf(body));
        sendBytes(response, new Uint8Array(0));
      } catch (error) {
        sendError(response, error);
      }
    },
  });
  routes.set("readShown", {
    method: "POST",
    async handle(body, _request, response) {
      try {
        const { namespace, runId } = shownOf(body, namespaces);
        sendJson(response, await readShown(namespace, runId));
      } catch (error) {
        sendError(response, error);
      }
    },
  });
  return (path) => {
    const name = PATH.exec(path)?.[1];
    return name === undefined ? undefined : routes.get(name);
  };
}

function timerOf(body: Uint8Array): TimerOfPage {
  const invalid = () =>
    new ServiceError(
      Code.INVALID_ARGUMENT,
      "a timer is named by workflowId, runId and name, as JSON",
    );
  let timer: Partial<TimerOfPage> | null;
  try {
    timer = JSON.parse(new TextDecoder().decode(body)) as typeof timer;
  } catch {
    throw invalid();
  }
  const { workflowId, runId, name } = timer ?? {};
  if (typeof workflowId !== "string" || typeof runId !== "string" || typeof name !== "string") {
    throw invalid();
  }
  return { workflowId, runId, name };
}

const RUN_ID = /^[\w-]{1,200}$/;

function shownOf(
  body: Uint8Array,
  namespaces: readonly string[],
): { readonly namespace: string; readonly runId: string } {
  let given: { readonly namespace?: unknown; readonly runId?: unknown } | undefined;
  try {
    given = JSON.parse(new TextDecoder().decode(body)) as typeof given;
  } catch {
    // Reported below.
  }
  const namespace = given?.namespace;
  const runId = given?.runId;
  if (typeof namespace !== "string" || typeof runId !== "string" || !RUN_ID.test(runId)) {
    throw new ServiceError(
      Code.INVALID_ARGUMENT,
      "readShown needs namespace and runId, as JSON",
    );
  }
  if (!namespaces.includes(namespace)) {
    throw denied(`this page does not show the namespace ${JSON.stringify(namespace)}`);
  }
  return { namespace, runId };
}

const denied = (message: string): ServiceError =>
  new ServiceError(Code.PERMISSION_DENIED, message, "PermissionDenied");

async function answer(
  service: RawService,
  method: MethodName,
  body: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  // The page cancels a call, or is closed.
  response.on("close", () => gone.abort(new ServiceError(Code.CANCELLED, "the caller has gone")));
  const asked = Number(request.headers["x-timeout-ms"] ?? Number.NaN);
  const timeoutMs = asked > 0 ? Math.min(asked, LONGEST_MS) : LONGEST_MS;
  try {
    const answered = await service.call(method, body, { signal: gone.signal, timeoutMs });
    if (!gone.signal.aborted) sendBytes(response, answered);
  } catch (error) {
    if (!gone.signal.aborted) sendError(response, error);
  }
}

/** Service errors have status 200, because browsers log other statuses on the console. */
function sendError(response: ServerResponse, error: unknown): void {
  const { code, message, reason } = error instanceof ServiceError
    ? error
    : new ServiceError(Code.UNKNOWN, (error as Error).message);
  sendJson(response, { code, message, reason });
}
