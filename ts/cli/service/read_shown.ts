// Reads what a run shows of itself (awaits passed, published state) from the store of a command's
// options, or through a server that supports SQL.
import { askForRows } from "../../app/sql/sql_method.ts";
import { queryStore } from "../../app/sql/store_query.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import type { Call } from "../frame/command.ts";
import { meansCluster, openCluster } from "./cluster.ts";
import { storePath } from "./open_service.ts";
import type { SERVICE_OPTIONS } from "./options.ts";

type ShownCall = Call<Omit<typeof SERVICE_OPTIONS, "codec" | "identity" | "timeout">>;

const LIMIT_MS = 30_000;

export interface ShownState {
  /** Number of awaits that the code has passed. */
  readonly phase: number | null;
  /** The published state as JSON. */
  readonly state: string | null;
}

/**
 * `runId` must consist of letters, digits and "-". Rejects with a ServiceError: UNIMPLEMENTED from a
 * server without SQL.
 */
export async function readShownState(
  call: ShownCall,
  { namespace, runId }: { readonly namespace: string; readonly runId: string },
): Promise<ShownState> {
  const sql = `SELECT phase, state FROM workflow WHERE run_id = '${runId}'`;
  const [row] = meansCluster(call.options)
    ? await askServer(call, namespace, sql)
    : await queryStore(storePath(call), sql, LIMIT_MS, call.signal);
  if (row === undefined) {
    throw new ServiceError(Code.NOT_FOUND, `run ${runId} is not in namespace ${namespace}`);
  }
  const { phase, state } = row;
  return {
    phase: typeof phase === "number" ? phase : null,
    state: typeof state === "string" ? state : null,
  };
}

async function askServer(
  call: ShownCall,
  namespace: string,
  sql: string,
): Promise<readonly SqlRow[]> {
  const { service, close } = await openCluster(call);
  try {
    return await askForRows(service, { namespace, sql, ms: LIMIT_MS }, call.signal);
  } finally {
    await close();
  }
}
