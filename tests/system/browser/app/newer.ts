// A worker that opens a store as a later version of this package would: with one more migration.
// Says "done" or what went wrong.
import { OpfsStore } from "../../../../ts/engine/sqlite/opfs/open.ts";
import { MIGRATIONS } from "../../../../ts/engine/sqlite/schema.ts";

const later = {
  version: 1000,
  name: "later",
  sql: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;",
};
const fence = { check() {}, held: () => true, release() {} };
globalThis.onmessage = async ({ data }) => {
  try {
    const opened = await OpfsStore.open(data, { fence, migrations: [...MIGRATIONS, later] });
    opened.store.close();
    globalThis.postMessage("done");
  } catch (e) {
    globalThis.postMessage(String(e));
  }
};
