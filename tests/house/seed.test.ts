// runtime: node
// Random choices in tests can be repeated: their seed comes from tests/support/seed.ts, and a
// failure names it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { testSeed, withSeed } from "../support/seed.ts";

const { walk } = await import(pathToFileURL(resolve("tools/lib/test_files.mjs")).href) as {
  walk: (folder: string) => string[];
};

function withEnvironment<T>(value: string | undefined, body: () => T): T {
  const before = process.env["TEST_SEED"];
  const set = (text: string | undefined) => {
    if (text === undefined) delete process.env["TEST_SEED"];
    else process.env["TEST_SEED"] = text;
  };
  set(value);
  try {
    return body();
  } finally {
    set(before);
  }
}

test("TEST_SEED sets the seed, and without it seeds differ", () => {
  assert.equal(withEnvironment("77", testSeed), 77);
  const seeds = withEnvironment(undefined, () => new Set(Array.from({ length: 20 }, testSeed)));
  assert.ok(seeds.size > 1);
  for (const seed of seeds) assert.equal(withEnvironment(String(seed), testSeed), seed);
  for (const text of ["0", "1.5", "-1", "seed", "2147483648"]) {
    assert.throws(
      () => withEnvironment(text, testSeed),
      /^RangeError: TEST_SEED must be an integer from 1 to 2147483647, not /,
    );
  }
});

test("whatever a test fails with, the error names the seed and has the first error as its cause", async () => {
  const cause = new Error("the child did not start");
  const body = () => Promise.reject(cause);
  await withEnvironment(
    "5",
    () =>
      assert.rejects(withSeed(body), {
        message: "failed with TEST_SEED=5: the child did not start",
        cause,
      }),
  );
  await withEnvironment("6", () => withSeed((seed) => Promise.resolve(assert.equal(seed, 6))));
});

test("randomized tests use a fixed seed or TEST_SEED", () => {
  const found: string[] = [];
  for (const file of walk("tests").filter((file) => file.endsWith(".ts"))) {
    const text = readFileSync(file, "utf8");
    if (/\bfc\.assert\(/.test(text) && !/\bseed: /.test(text)) {
      found.push(`${file}: fc.assert without a seed`);
    }
    if (/\bseed = .*Math\.random/.test(text)) {
      found.push(`${file}: a seed that TEST_SEED does not set`);
    }
  }
  assert.deepEqual(found, []);
});
