// An API key next to an `authorization` header: connections reject or send what those of the
// official SDK do (tests/system/interop compares), and connections of "temporalex/temporal" reject
// both together in every spelling.
// runtime: node
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../../../ts/compat/client/mod.ts";
import { NativeConnection } from "../../../ts/compat/worker/mod.ts";
import { Connection as ProductConnection } from "../../../ts/grpc/connection.ts";
import { AUTHORIZATIONS, sentAuthorizations } from "../../support/sent_authorization.ts";

const expected = AUTHORIZATIONS.map(([, sent]) => sent);

test("Connection.lazy, Connection.connect and NativeConnection send the header, or the key without a header", async () => {
  assert.deepEqual(await sentAuthorizations((options) => Connection.lazy(options)), expected);
  assert.deepEqual(await sentAuthorizations((options) => Connection.connect(options)), expected);
  assert.deepEqual(
    await sentAuthorizations((options) => NativeConnection.connect(options)),
    expected,
  );
});

test("a connection of this package rejects both", () => {
  for (const name of ["Authorization", "authorization", "AUTHORIZATION"]) {
    assert.throws(
      () => ProductConnection.lazy({ apiKey: "key", metadata: { [name]: "Basic x" } }),
      (error) => error instanceof TypeError && /apiKey.*authorization/.test(error.message),
    );
  }
});
