// Idempotency keys of completed procedures. A key is part of the identity in the event that completes
// the procedure, so it is recorded in the same commit, on every service.
import { procedureOf } from "../converter/procedure_names.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { askUntil, CALL_TIMEOUT_MS, type CallSettings } from "./calls.ts";
import { type ClientContext, deadlineOf, nameError } from "./context.ts";
import type { WorkflowDescription } from "./descriptions.ts";
import { WorkflowNotFoundError } from "./errors.ts";
import { readEvents } from "./history.ts";

/** Servers reject identities above 1,000 characters. */
const MAX_KEY_LENGTH = 500;
const KEY_MARK = " key:";

/** Returns an identity with the key. Throws a TypeError for an invalid key. */
export function identityWithKey(identity: string, key: string): string {
  return identity + keySuffix(key);
}

/** Encoded, so that no key ends with the mark and another key. */
function keySuffix(key: unknown): string {
  if (typeof key !== "string" || key === "") {
    throw new TypeError(
      `idempotencyKey is ${JSON.stringify(key) ?? typeof key}; expected a non-empty string`,
    );
  }
  const encoded = encodeWellFormed(key);
  if (encoded.length > MAX_KEY_LENGTH) {
    throw new TypeError(
      `idempotencyKey has ${encoded.length} characters in URI encoding, at most ${MAX_KEY_LENGTH}`,
    );
  }
  return KEY_MARK + encoded;
}

function encodeWellFormed(key: string): string {
  try {
    return encodeURIComponent(key);
  } catch {
    throw new TypeError(`idempotencyKey is ${JSON.stringify(key)}, which has a lone surrogate`);
  }
}

/** What one run's history states about a key. */
interface SearchedRun {
  readonly id: string | undefined;
  /** Event ids and ids of procedures without a recorded end. */
  readonly open: ReadonlyMap<bigint, string>;
  readonly previousRunId: string;
}

/** Finds the procedure that was completed with a key, in a run and those that it continues. */
export class CompletedWithKey {
  readonly #context: ClientContext;
  readonly #describe: () => Promise<WorkflowDescription>;
  readonly #suffix: string;
  readonly #settings: CallSettings;
  readonly #isOnlyRun: boolean;

  constructor(
    context: ClientContext,
    describe: () => Promise<WorkflowDescription>,
    key: string,
    settings: CallSettings,
    isOnlyRun: boolean,
  ) {
    this.#context = context;
    this.#describe = describe;
    this.#suffix = keySuffix(key);
    this.#settings = settings;
    this.#isOnlyRun = isOnlyRun;
  }

  /**
   * Returns the description of the run, and the procedure's id. The description is older than the
   * histories: a procedure that follows the completed one is not in it, or the completion is found.
   */
  async find(): Promise<{ readonly run: WorkflowDescription; readonly id: string | undefined }> {
    const deadline = deadlineOf(this.#context, this.#settings, CALL_TIMEOUT_MS);
    return await askUntil(deadline, async () => {
      const run = await this.#describe();
      const { workflowId, runId } = run;
      const first = await this.#search(workflowId, runId);
      if (first.id !== undefined) return { run, id: first.id };
      if (!isBuffered(run, first)) {
        return { run, id: await this.#inPreviousRuns(workflowId, first.previousRunId) };
      }
      if (deadline.passed) {
        const message = "a workflow task is still running, and the completed procedure is unknown";
        const error = new ServiceError(Code.DEADLINE_EXCEEDED, message);
        throw nameError(this.#context, error, {
          what: "the search for the idempotency key",
          ...{ workflowId, runId },
        });
      }
      return undefined;
    });
  }

  async #inPreviousRuns(workflowId: string, runId: string): Promise<string | undefined> {
    if (this.#isOnlyRun) return undefined;
    for (let next = runId; next !== "";) {
      try {
        const { id, previousRunId } = await this.#search(workflowId, next);
        if (id !== undefined) return id;
        next = previousRunId;
      } catch (error) {
        // Removed after its retention.
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    }
    return undefined;
  }

  async #search(workflowId: string, runId: string): Promise<SearchedRun> {
    const open = new Map<bigint, string>();
    let previousRunId = "";
    for await (const event of readEvents(this.#context, workflowId, runId, this.#settings)) {
      const { attributes } = event;
      if (attributes.case === "workflowExecutionStartedEventAttributes") {
        previousRunId = attributes.value.continuedExecutionRunId;
      } else if (attributes.case === "activityTaskScheduledEventAttributes") {
        const { activityType, activityId } = attributes.value;
        if (procedureOf(activityType?.name ?? "") !== undefined) {
          open.set(event.eventId, activityId);
        }
      } else {
        const ended = endOf(event);
        const id = ended && open.get(ended.scheduledEventId);
        if (id === undefined) continue;
        if (ended!.identity.endsWith(this.#suffix)) return { id, open, previousRunId };
        open.delete(ended!.scheduledEventId);
      }
    }
    return { id: undefined, open, previousRunId };
  }
}

/** A procedure has ended and its event is not in history: the running workflow task comes first. */
const isBuffered = (run: WorkflowDescription, { open }: SearchedRun): boolean =>
  [...open].some(([eventId, id]) =>
    eventId <= run.historyLength && !run.pendingProcedures.some((one) => one.id === id)
  ) && run.status === "RUNNING";

function endOf(
  { attributes }: HistoryEvent,
): { readonly scheduledEventId: bigint; readonly identity: string } | undefined {
  switch (attributes.case) {
    case "activityTaskCompletedEventAttributes":
    case "activityTaskFailedEventAttributes":
    case "activityTaskCanceledEventAttributes":
      return attributes.value;
    case "activityTaskTimedOutEventAttributes":
      return { scheduledEventId: attributes.value.scheduledEventId, identity: "" };
    default:
      return undefined;
  }
}
