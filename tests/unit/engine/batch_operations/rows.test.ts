// The rows of batch operations in a store, and what a store that is only read shows of them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { openFile } from "../../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { ReadOnlyService } from "../../../../ts/engine/read_only_service.ts";
import {
  DescribeBatchOperationRequestSchema,
  DescribeBatchOperationResponseSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { inFolder, sqliteDrivers, storeKinds } from "../support/stores.ts";
import { BatchEngine } from "./support.ts";

for (const kind of storeKinds) {
  test(`${kind.name}: a request is written again`, { skip: kind.skip }, () =>
    inFolder((folder) => {
      const store = kind.open(join(folder, "a.sqlite"));
      for (const byte of [1, 2]) {
        const row = { jobId: "job", state: `${byte}`, request: new Uint8Array([byte]) };
        store.commit([], undefined, undefined, new Map([["job", row]]));
      }
      const [row, ...others] = store.batches!();
      assert.deepEqual([row!.state, [...row!.request], others], ["2", [2], []]);
      store.close();
    }));
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: each removal closes its statement`, { skip }, () =>
    inFolder((folder) => {
      const file = openFile(join(folder, "a.sqlite"), { driver }, MIGRATIONS);
      const { database } = file;
      const prepare = database.prepare.bind(database);
      let open = 0;
      database.prepare = (sql) => {
        const statement = prepare(sql);
        const close = statement.close?.bind(statement);
        open++;
        statement.close = () => {
          open--;
          close?.();
        };
        return statement;
      };
      const store = SqliteStore.over(file);
      const before = open;
      const where = { kind: "compare", field: "WorkflowType", op: "=", value: "W" } as const;
      for (let n = 0; n < 3; n++) store.purge({ closedBefore: 1, where });
      assert.equal(open, before);
      store.close();
    }));
}

const [sqlite] = storeKinds.filter(({ driver, skip }) => driver !== undefined && skip === false);

test(
  "a store that is only read describes its operations",
  { skip: sqlite === undefined },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "a.sqlite");
      const store = sqlite!.open(path);
      await BatchEngine.during(store, async (opened) => {
        await opened.startWorkflows(["w0"]);
        await opened.startBatch({
          visibilityQuery: "WorkflowType = 'W'",
          terminationOperation: {},
        });
        assert.deepEqual(await opened.ended(), [1, 1, 0]);
      });
      const service = await ReadOnlyService.open(store);
      const request = create(DescribeBatchOperationRequestSchema, {
        namespace: "default",
        jobId: "job",
      });
      const response = await service.call(
        "describeBatchOperation",
        toBinary(DescribeBatchOperationRequestSchema, request),
      );
      const described = fromBinary(DescribeBatchOperationResponseSchema, response);
      assert.equal(described.completeOperationCount, 1n);
      await service.close();
    }),
);
