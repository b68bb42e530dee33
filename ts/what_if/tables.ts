// The tables of a branch: their state at the start of the run, then changed by the reducers of the
// kept events in order.
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { fromPayloads, type PayloadConverter, toPayloads } from "../converter/payload.ts";
import type { ReducingStore } from "../engine/transactions.ts";
import type { Store } from "../engine/store.ts";
import type { TableMigration } from "../engine/tables/migrations.ts";
import { reduce, reducersOf, type ReducerTable } from "../engine/tables/reducers.ts";
import { EditError } from "./edits.ts";
import { inputKey } from "./recorded.ts";
import { transactOf } from "./transact_marker.ts";

/** The tables for reducers of a branch. */
export interface BranchTables {
  /** The reducers of the application: an object or a module. */
  readonly reducers: ReducerTable;
  /** Creates the tables in their state at the start of the run, including rows. */
  readonly migrations: readonly TableMigration[];
}

/** A store with transactions in which reducers can write. */
type StoreWithTables = Store & ReducingStore & {
  migrate(steps: readonly TableMigration[], nowMs: number): void;
};

/**
 * Opens a store in memory. The page has none, because each page with branches would have to load
 * SQLite.
 */
export type OpenStore = () => Promise<StoreWithTables>;

export const noTables: OpenStore = () =>
  Promise.reject(
    new EditError(
      "tables of a branch need SQLite in memory, which temporalex/what-if has in Node and Deno",
    ),
  );

/**
 * Returns a store with the tables. Its first transaction has the changes by reducers of the kept
 * events. `differ`: events whose reducer returned another result than recorded. Throws an EditError
 * for a missing reducer.
 */
export function makeTables(
  store: StoreWithTables,
  { reducers, migrations }: BranchTables,
  events: readonly HistoryEvent[],
  converter: PayloadConverter,
): { readonly store: Store; readonly differ: readonly number[] } {
  store.migrate(migrations, 0);
  store.begin();
  const known = reducersOf(reducers);
  const differ = events.flatMap((event) => {
    const call = transactOf(event);
    if (call === undefined) return [];
    const { reducer, args, end } = call;
    if (!known.has(reducer)) {
      throw new EditError(
        `event ${event.eventId} ran reducer "${reducer}", which is not among those given`,
      );
    }
    let gave: string | undefined;
    try {
      const value = store.savepoint(() =>
        reduce(known, reducer, store.tables, fromPayloads(converter, args?.payloads))
      );
      gave = value === undefined
        ? ""
        : inputKey(create(PayloadsSchema, { payloads: toPayloads(converter, [value]) }));
    } catch {
      // Errors are not compared: their messages may change.
    }
    const recorded = end.kind === "completed" ? inputKey(end.result) : undefined;
    return gave === recorded ? [] : [Number(event.eventId)];
  });
  return { store, differ };
}
