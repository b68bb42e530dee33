// For the corpus' own judge: `node run-official.mjs --adapter dist/tests/unit/compat/adapter.js`.
// COMPAT_CONTEXT=rewritten replays with the rewriting loader instead of AsyncLocalStorage.
import { type Mechanism, replay as replayWith, type Verdict } from "./support/replay.ts";

interface Request {
  workflowFile: string;
  interceptorFiles: string[];
  workflowId: string;
  /** The history as text, in the official SDK's JSON form. */
  historyJson: string;
}

export function replay(
  { workflowFile, interceptorFiles, workflowId, historyJson }: Request,
): Promise<Verdict> {
  if (interceptorFiles.length > 0) throw new Error("interceptors are not supported");
  const mechanism: Mechanism = process.env["COMPAT_CONTEXT"] === "rewritten"
    ? "rewritten"
    : "asyncLocalStorage";
  return replayWith(workflowFile, mechanism, workflowId, JSON.parse(historyJson));
}
