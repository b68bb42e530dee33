// Files next to the package's code are read from there. A missing file is reported as absent and
// does not throw.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadCore } from "../../../ts/core/mod.ts";
import { ownBytes } from "../../../ts/platform/own_bytes.ts";

for (const half of ["worker", "engine"] as const) {
  test(`${half}.wasm is there where the package was built, and the core loads with it or without`, async () => {
    const bytes = ownBytes(`core/${half}.wasm`);
    // Sources have the module as text only.
    if (import.meta.url.endsWith(".ts")) assert.equal(bytes, undefined);
    else assert.ok(WebAssembly.validate(bytes!));
    assert.equal(ownBytes("core/no_such_file.wasm"), undefined);
    assert.match((await loadCore(half)).info().sourceHash, /^[0-9a-f]+$/);
  });
}
