// Calls of workers in other processes. What their workflows show of runs comes in the request,
// which a flag in the polled task requests (messages/shown_run.ts). An engine in memory has no
// tables for it.
import { askingForShown, shownOf, withoutShown } from "../messages/shown_run.ts";
import type { CallOptions, MethodName } from "../service/raw.ts";
import type { EmbeddedEngine } from "./embedded_engine.ts";

export async function callFromOutside(
  engine: EmbeddedEngine,
  method: MethodName,
  request: Uint8Array,
  options: CallOptions = {},
): Promise<Uint8Array> {
  if (method !== "pollWorkflowTaskQueue" && method !== "respondWorkflowTaskCompleted") {
    return await engine.call(method, request, options);
  }
  if (typeof (engine.store as { path?: unknown }).path !== "string") {
    return await engine.call(method, request, options);
  }
  if (method === "pollWorkflowTaskQueue") {
    return askingForShown(await engine.call(method, request, options));
  }
  const shown = shownOf(request);
  return await engine.call(
    method,
    withoutShown(request),
    shown === undefined ? options : { ...options, shown },
  );
}
