// `temporalex store purge`.
import { existsSync, statSync } from "node:fs";
import { parseQuery } from "../../../engine/visibility/parse.ts";
import type { Condition } from "../../../engine/visibility/condition.ts";
import type { SqliteStore } from "../../../engine/mod.ts";
import { StoreLockedError } from "../../../engine/store_errors.ts";
import { whenFree } from "../../../engine/commit_retries.ts";
import { openStore } from "../../../engine/short_lived_open.ts";
import { StoreReader } from "../../../engine/maintenance/mod.ts";
import { StoreService } from "../../../app/store_service.ts";
import { Code, ServiceError } from "../../../service/raw.ts";
import { typedService } from "../../../service/typed.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { storePath } from "../../service/open_service.ts";
import type { PurgeCall } from "./options.ts";
import { bytesText, counted } from "./sizes.ts";

const SLICE = 200;
/** Later than any close time. */
const ANY_TIME = 8e15;

export async function purgeCommand(call: PurgeCall): Promise<number> {
  const { options, print } = call;
  if (options.olderThan === undefined && options.query === undefined) {
    throw new UsageError(
      "say which closed runs: --older-than 30d, --query, or both; see temporalex store purge --help",
    );
  }
  const closedBefore = options.olderThan === undefined ? ANY_TIME : Date.now() - options.olderThan;
  const where = condition(options.query);
  const path = storePath(call);
  if (!existsSync(path)) {
    throw new CommandError(`the store ${path} does not exist; name one with --store`);
  }
  return options.dryRun
    ? await dryRun(call, path, closedBefore, where)
    : await purge(call, path, closedBefore, where, print);
}

function condition(query: string | undefined): Condition | undefined {
  if (query === undefined) return undefined;
  try {
    return parseQuery(query).where;
  } catch (e) {
    throw new UsageError(`--query: ${(e as Error).message}`);
  }
}

function heldBy(path: string, { holder }: StoreLockedError): CommandError {
  const who = holder === undefined ? "another process" : `process ${holder.pid}`;
  return new CommandError(
    `${path} is open in ${who}, which does not let others remove runs; end that first, or let it remove closed runs by itself: ` +
      "temporalex worker --retention 30d, or engine.purge() in your application",
  );
}

/**
 * Removes the runs one by one through the process that has the store open. The file does not
 * shrink.
 */
async function purgeHeld(
  { options, print, signal }: PurgeCall,
  path: string,
  closedBefore: number,
  locked: StoreLockedError,
) {
  const raw = new StoreService({ path });
  try {
    if (!raw.held) throw heldBy(path, locked);
    const service = typedService(raw);
    const before = new Date(Math.min(closedBefore, 8.64e15)).toISOString().replace(
      /^\+\d+/,
      "9999",
    );
    const query = `CloseTime < '${before}'${
      options.query === undefined ? "" : ` AND (${options.query})`
    }`;
    let runs = 0;
    for (;;) {
      const { executions } = await service.listWorkflowExecutions({ query, pageSize: SLICE }, {
        signal,
      });
      for (const { execution } of executions) {
        // Removed runs stay removed; the next purge continues.
        signal.throwIfAborted();
        await service.deleteWorkflowExecution({ workflowExecution: execution! }, { signal });
        runs++;
      }
      print.progress(`${counted(runs, "run")} removed`);
      if (executions.length === 0) break;
    }
    print.progress("");
    const left = Number((await service.countWorkflowExecutions({}, { signal })).count);
    print.result(
      { store: path, runs, left, freedBytes: 0, bytes: statSync(path).size, held: true },
      () =>
        `${counted(runs, "run")} removed by the process that has the store open, ${
          counted(left, "run")
        } left\n`,
    );
    return Exit.ok;
  } catch (e) {
    if (e instanceof ServiceError && e.code === Code.UNIMPLEMENTED) throw heldBy(path, locked);
    throw e;
  } finally {
    await raw.close();
  }
}

async function dryRun(
  { print }: PurgeCall,
  path: string,
  closedBefore: number,
  where: Condition | undefined,
): Promise<number> {
  const reader = StoreReader.open(path);
  try {
    const { runs, events, historyBytes } = reader.purgeable({
      closedBefore,
      ...(where !== undefined && { where }),
    });
    const result = {
      store: path,
      dryRun: true,
      runs,
      events,
      historyBytes,
      left: reader.count() - runs,
    };
    print.result(
      result,
      () =>
        `${counted(runs, "run")} with ${counted(events, "event")} (${
          bytesText(historyBytes)
        }) would be removed, ${result.left} would stay\n`,
    );
    return Exit.ok;
  } finally {
    reader.close();
  }
}

async function purge(
  call: PurgeCall,
  path: string,
  closedBefore: number,
  where: Condition | undefined,
  { progress }: Pick<PurgeCall["print"], "progress">,
): Promise<number> {
  const { options, print, signal } = call;
  let store: SqliteStore;
  try {
    store = await openStore(path);
  } catch (e) {
    if (e instanceof StoreLockedError) return await purgeHeld(call, path, closedBefore, e);
    throw e;
  }
  const size = () => statSync(path).size;
  try {
    let runs = 0;
    for (;;) {
      // Removed runs stay removed; the next purge continues.
      signal.throwIfAborted();
      const slice = { closedBefore, limit: SLICE, ...(where !== undefined && { where }) };
      const removed = await whenFree(() => store.purge(slice).length);
      runs += removed;
      progress.call(print, `${counted(runs, "run")} removed`);
      if (removed < SLICE) break;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    let freed = 0;
    if (runs > 0 && !options.keepSpace) {
      progress.call(print, `${counted(runs, "run")} removed; giving the space back ...`);
      freed = store.shrink();
    }
    progress.call(print, "");
    const result = { store: path, runs, left: store.count(), freedBytes: freed, bytes: size() };
    print.result(
      result,
      () =>
        `${counted(runs, "run")} removed, ${counted(result.left, "run")} left; ${
          bytesText(freed)
        } given back, the file has ${bytesText(result.bytes)}\n`,
    );
    return Exit.ok;
  } finally {
    store.close();
  }
}
