// SQL queries through the process that holds a store, for the command line: one method in addition
// to WorkflowService, with client and server side.
import { SQL_LIMITS, SqlLimitError } from "../../engine/sqlite/bounded_rows.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";
import type { Store } from "../../engine/store.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import type { ExtraMethod } from "../../server/extra_methods.ts";
import type { GrpcService } from "../../grpc/grpc_service.ts";
import { jsonMessage, readJsonMessage } from "../json_message.ts";
import { answerRows, type QueryAnswer, refusedAnswer, rowsAnswer } from "./query.ts";
import { queryFile } from "./query_file.ts";

const SERVICE = "temporalex.sql.v1.SqlService";
const METHOD = "Query";
/** Maximum concurrent queries; each is a process. */
const AT_ONCE = 4;
/** Time beyond the query's own limit, for transfer, copy and process start. */
const GRACE_MS = 15_000;

interface Request {
  readonly namespace: string;
  readonly sql: string;
  readonly ms: number;
}

/** `storeOf`: the store of a namespace; undefined for an unknown namespace. */
export function sqlMethod(storeOf: (namespace: string) => Store | undefined): ExtraMethod {
  let running = 0;
  return {
    service: SERVICE,
    method: METHOD,
    async unary(bytes, signal) {
      const { namespace, sql, ms } = readRequest(bytes);
      const { store, path } = fileOf(storeOf(namespace), namespace);
      if (running >= AT_ONCE) {
        throw new ServiceError(
          Code.RESOURCE_EXHAUSTED,
          `${AT_ONCE} queries are already running; retry when one has ended`,
        );
      }
      running++;
      try {
        return written(
          rowsAnswer(await queryFile(store, { path, sql, limits: { ...SQL_LIMITS, ms } }, signal)),
        );
      } catch (error) {
        signal.throwIfAborted();
        return written(refusedAnswer(error));
      } finally {
        running--;
      }
    },
  };
}

function fileOf(
  store: Store | undefined,
  namespace: string,
): { readonly store: Store; readonly path: string } {
  if (store === undefined) {
    throw new ServiceError(Code.NOT_FOUND, `namespace "${namespace}" does not exist`);
  }
  const { path } = store as { path?: unknown };
  if (typeof path === "string") return { store, path };
  throw new ServiceError(
    Code.FAILED_PRECONDITION,
    `namespace "${namespace}" is in memory and has no tables; use temporalex dev --db-filename to keep it in a file`,
  );
}

function readRequest(bytes: Uint8Array): Request {
  try {
    const found = readJsonMessage(bytes) as Partial<Request>;
    const { namespace, sql, ms } = found;
    if (typeof namespace === "string" && typeof sql === "string" && typeof ms === "number") {
      return { namespace, sql, ms };
    }
  } catch {
    // Reported below.
  }
  throw new ServiceError(
    Code.INVALID_ARGUMENT,
    "invalid query request: field 1 must be JSON with namespace, sql and ms",
  );
}

const written = (value: Request | QueryAnswer): Uint8Array => jsonMessage(value);

/**
 * Returns rows from a process that has the store. Throws like `runQuery`, and a ServiceError for
 * connection errors.
 */
export async function askForRows(
  service: GrpcService,
  request: Request,
  signal: AbortSignal,
): Promise<SqlRow[]> {
  let answer: Uint8Array;
  try {
    answer = await service.callOther(`/${SERVICE}/${METHOD}`, written(request), {
      signal,
      timeoutMs: request.ms + GRACE_MS,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError) || error.code !== Code.DEADLINE_EXCEEDED) throw error;
    throw new SqlLimitError(`the query was canceled: ${error.message}`, { cause: error });
  }
  return answerRows(readJsonMessage(answer) as QueryAnswer);
}
