// runtime: node
// The cluster bench works: a short run of it measures every worker that is installed. What it
// measures is judged by people.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { noServer } from "./support/dev_server.ts";
import { noOfficial } from "./support/official.ts";

const workers = [
  "node",
  ...(existsSync("node_modules/deno/bin.cjs") ? ["deno"] : []),
  ...(noOfficial === false ? ["official"] : []),
];

test("the cluster bench measures every worker", { skip: noServer }, () => {
  const argv = [`--workers=${workers}`, "--only=hello,signals,updates,start", "--json"];
  const short = [
    "--repeats=1",
    "--seconds=1",
    "--in-flight=4",
    "--messages=4",
    "--idle=100",
    "--starts=1",
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    "dist/bench/cluster.js",
    ...argv,
    ...short,
  ], {
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.equal(status, 0, stderr);
  const { rows } = JSON.parse(stdout) as {
    rows: { measure: string; values: { [worker: string]: { median: number } } }[];
  };
  for (
    const measure of ["hello: workflows/s", "update round trip: p50 ms", "start to first task: ms"]
  ) {
    const row = rows.find((r) => r.measure === measure);
    assert.ok(row, `${measure} is missing in ${stdout}`);
    for (const worker of workers) {
      assert.ok((row.values[worker]?.median ?? 0) > 0, `${measure} of ${worker} in ${stdout}`);
    }
  }
});
