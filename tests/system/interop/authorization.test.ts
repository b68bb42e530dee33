// An API key next to an `authorization` header in every spelling: the official connections send and
// reject what ours do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUTHORIZATIONS, sentAuthorizations } from "../../support/sent_authorization.ts";
import { noOfficial, official } from "./support/official.ts";

const expected = AUTHORIZATIONS.map(([, sent]) => sent);

test("the official Connection", { skip: noOfficial }, async () => {
  const { Connection } = official("@temporalio/client");
  assert.deepEqual(await sentAuthorizations((options) => Connection.lazy(options)), expected);
});

test("the official NativeConnection", { skip: noOfficial }, async () => {
  const { NativeConnection } = official("@temporalio/worker");
  assert.deepEqual(
    await sentAuthorizations((options) => NativeConnection.connect(options)),
    expected,
  );
});
