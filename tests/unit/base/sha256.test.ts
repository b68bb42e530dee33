// The synchronous SHA-256 against the platform's.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sha256Hex } from "../../../ts/base/sha256.ts";

test("digests of inputs around the block length equal those of the platform", () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 31 + length);
    assert.equal(
      sha256Hex(bytes),
      createHash("sha256").update(bytes).digest("hex"),
      `${length} bytes`,
    );
  }
});
