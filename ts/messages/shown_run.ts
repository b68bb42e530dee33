// What a run shows, from a worker in another process to the engine that stores it. The engine marks
// its workflow tasks, and a worker that finds the mark appends the field to the completion. Both
// fields are outside of Temporal's API, so other programs skip them.
import { concat, Fields, Message, readBytes, tagWithLength } from "./wire.ts";

/** What a completed workflow task shows. `state` is JSON; `null`: none; absent: unchanged. */
export interface ShownRun {
  readonly runId: string;
  readonly phase: number;
  readonly state?: string | null;
}

/** Far above Temporal's field numbers, and outside those reserved by protobuf. */
const SHOWN = tagWithLength(50_117);

/** Appended to a workflow task: the service stores what runs show. */
const ASKS: Uint8Array = new Message().bytes(SHOWN, new Uint8Array(0)).finish();

/** The tag of the mark. */
export const ASKS_FOR_SHOWN = SHOWN;

/** Returns a PollWorkflowTaskQueueResponse with the mark; an empty one is unchanged. */
export const askingForShown = (task: Uint8Array): Uint8Array =>
  task.length === 0 ? task : concat([task, ASKS]);

/** Returns the field that is appended to a RespondWorkflowTaskCompletedRequest. */
export const shownField = (shown: ShownRun): Uint8Array =>
  new Message().bytes(SHOWN, new TextEncoder().encode(JSON.stringify(shown))).finish();

/** Reads the field of a RespondWorkflowTaskCompletedRequest; undefined if absent or invalid. */
export function shownOf(request: Uint8Array): ShownRun | undefined {
  const bytes = readBytes(request, SHOWN);
  if (bytes === undefined) return undefined;
  try {
    const { runId, phase, state } = JSON.parse(new TextDecoder().decode(bytes)) as Partial<
      ShownRun
    >;
    if (typeof runId !== "string" || !Number.isSafeInteger(phase) || phase! < 0) return undefined;
    if (typeof state !== "string") {
      return { runId, phase: phase!, ...(state === null && { state }) };
    }
    JSON.parse(state);
    return { runId, phase: phase!, state };
  } catch {
    return undefined;
  }
}

/** Returns the request without the field. */
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
