// What a run shows of itself, on its way from a worker of another process to the engine that keeps it: the engine marks the workflow tasks that
// it hands out, and a worker that finds the mark puts what the run shows behind the fields of the task's completion. Both are fields that
// Temporal's API does not have, so who does not know them passes over them.
import { concat, Fields, Message, readBytes, tagWithLength } from "./wire.ts";

/** What a completed workflow task shows of its run. `state` is JSON; `null` where it is none, absent where it is as it was. */
export interface ShownRun {
  readonly runId: string;
  readonly phase: number;
  readonly state?: string | null;
}

/** Far from Temporal's numbers, which are small, and behind those that protobuf keeps for itself. */
const SHOWN = tagWithLength(50_117);

/** Behind the fields of a workflow task: the service keeps what runs show. */
const ASKS: Uint8Array = new Message().bytes(SHOWN, new Uint8Array(0)).finish();

/** The mark of a task, as a tag. */
export const ASKS_FOR_SHOWN = SHOWN;

/** A PollWorkflowTaskQueueResponse with the mark; an empty one is no task. */
export const askingForShown = (task: Uint8Array): Uint8Array => task.length === 0 ? task : concat([task, ASKS]);

/** Appended to a RespondWorkflowTaskCompletedRequest. */
export const shownField = (shown: ShownRun): Uint8Array =>
  new Message().bytes(SHOWN, new TextEncoder().encode(JSON.stringify(shown))).finish();

/** What a RespondWorkflowTaskCompletedRequest shows; undefined where it shows nothing, or nothing that can be read. */
export function shownOf(request: Uint8Array): ShownRun | undefined {
  const bytes = readBytes(request, SHOWN);
  if (bytes === undefined) return undefined;
  try {
    const { runId, phase, state } = JSON.parse(new TextDecoder().decode(bytes)) as Partial<ShownRun>;
    if (typeof runId !== "string" || !Number.isSafeInteger(phase) || phase! < 0) return undefined;
    if (typeof state !== "string") return { runId, phase: phase!, ...(state === null && { state }) };
    JSON.parse(state);
    return { runId, phase: phase!, state };
  } catch {
    return undefined;
  }
}

/** The same request without it. */
export function withoutShown(request: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const at = new Fields(request); at.next();) {
    if (at.tag !== SHOWN) continue;
    kept.push(request.subarray(from, at.start));
    from = at.end;
  }
  return from === 0 ? request : concat([...kept, request.subarray(from)]);
}
