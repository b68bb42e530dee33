// SQLite's file header, byte by byte: what is taken for a store, and what is refused before SQLite
// sees it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHeader, HEADER_BYTES } from "../../../ts/engine/sqlite/header.ts";
import { APPLICATION_ID, schemaVersion } from "../../../ts/engine/sqlite/schema.ts";

const PAGE = 4096;
function header(
  {
    magic = "SQLite format 3\0",
    application = APPLICATION_ID,
    version = schemaVersion(),
    page = PAGE,
    pages = 10,
  } = {},
) {
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes.set(new TextEncoder().encode(magic));
  const view = new DataView(bytes.buffer);
  view.setUint16(16, page);
  view.setUint32(28, pages);
  view.setUint32(60, version);
  view.setUint32(68, application);
  return bytes;
}
const whole = { path: "a.db", header: header(), size: 10 * PAGE, wal: -1, journal: -1 };
const name = (file: Partial<typeof whole>): string => {
  try {
    checkHeader({ ...whole, ...file });
    return "taken";
  } catch (e) {
    return (e as Error).name;
  }
};

test("a store is accepted; a file of another program or of a newer version is rejected", () => {
  assert.equal(name({}), "taken");
  assert.equal(name({ header: header({ magic: "SQLite format 4\0" }) }), "NotAStoreError");
  assert.equal(name({ header: header({ application: 1 }) }), "NotAStoreError");
  assert.equal(name({ header: header({ version: schemaVersion() + 1 }) }), "StoreVersionError");
  assert.equal(name({ header: header({ version: 0 }) }), "taken");
});

test("a file shorter than its header states is damaged, unless a log contains the rest", () => {
  assert.equal(name({ size: 10 * PAGE - 1 }), "StoreCorruptError");
  assert.equal(name({ size: 10 * PAGE - 1, wal: 0 }), "StoreCorruptError");
  assert.equal(name({ size: 10 * PAGE - 1, wal: 1 }), "taken");
  // The largest size of a page does not fit its field.
  assert.equal(name({ header: header({ page: 1, pages: 2 }), size: 2 * 65536 }), "taken");
  assert.equal(
    name({ header: header({ page: 1, pages: 2 }), size: 2 * 65536 - 1 }),
    "StoreCorruptError",
  );
});

test("an interrupted creation that its journal rolls back is not reported as damage", () => {
  const nothing = new Uint8Array(HEADER_BYTES);
  for (
    const [journal, wanted] of [[-1, "NotAStoreError"], [0, "NotAStoreError"], [
      1,
      "taken",
    ]] as const
  ) {
    assert.equal(name({ header: nothing, journal }), wanted, `journal of ${journal} bytes`);
    assert.equal(
      name({ header: header({ application: 0 }), size: PAGE, journal }),
      wanted,
      `journal of ${journal} bytes`,
    );
  }
  assert.equal(name({ size: PAGE, journal: 1 }), "taken");
});
