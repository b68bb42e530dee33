// The messages that a workflow declares: its result of the query `__temporal_workflow_metadata`.
import { client } from "./state.ts";
import type { Watched } from "./watched_run.ts";

export type MessageKind = "signal" | "update" | "query";

export interface DeclaredMessage {
  readonly kind: MessageKind;
  readonly name: string;
  readonly description?: string;
}

interface Definition {
  readonly name: string;
  readonly description?: string;
}

interface Metadata {
  readonly definition?: {
    readonly signalDefinitions?: readonly Definition[];
    readonly updateDefinitions?: readonly Definition[];
    readonly queryDefinitions?: readonly Definition[];
  };
}

const METADATA_MS = 10_000;

/** Needs a worker for the run. Rejects like a query. */
export async function declaredMessages(
  { workflowId, runId }: Watched,
): Promise<readonly DeclaredMessage[]> {
  const handle = client!.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: METADATA_MS,
  });
  const { definition = {} } = await handle.query<Metadata>("__temporal_workflow_metadata");
  const of = (kind: MessageKind, list: readonly Definition[] = []): DeclaredMessage[] =>
    list.filter(({ name }) => name !== "" && !name.startsWith("__")).map((each) => ({
      ...each,
      kind,
    }));
  return [
    ...of("update", definition.updateDefinitions),
    ...of("signal", definition.signalDefinitions),
    ...of("query", definition.queryDefinitions),
  ];
}
