// Which runs `temporalex replay` replays: options that cannot be used together, and samples.
import test, { after } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./support/run.ts";
import { Sample } from "../../../ts/cli/commands/replay/sources/sample.ts";

test("contradicting options are rejected before anything is loaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-choice-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, "workflows.ts"),
    'import { workflow } from "temporalex/workflow";\nexport const nap = workflow("Nap", async () => {});\n',
  );
  for (
    const [args, message] of [
      [["--jobs", "0", "x.json"], /--jobs must be a whole number from 1 to 64, not 0/],
      [["--store", "a.sqlite", "x.json"], /files and --store cannot be used together/],
      [
        ["--store", "a.sqlite", "--from-cluster", "x"],
        /--store and --from-cluster cannot be used together/,
      ],
      [
        ["--address", "localhost:1", "x.json"],
        /which runs of the cluster\? Name them with --from-cluster/,
      ],
      [["--sample", "3", "x.json"], /--sample is for --from-cluster and --store/],
      [
        ["--sample", "1.5", "--store", "a.sqlite"],
        /--sample must be a whole number of at least 1, not 1\.5/,
      ],
      [
        ["--open", "--from-cluster", "x"],
        /--open is for --store; add ExecutionStatus = "Running" to the query/,
      ],
      [["--open", "x.json"], /--open is for --store$/m],
      [["--html-values", "x.json"], /--html-values is for --html/],
      [["--html-key", "mail", "x.json"], /--html-key is for --html/],
      [
        ["--html", "x.html", "--html-values", "--html-numbers", "x.json"],
        /--html-numbers and --html-values cannot be used together/,
      ],
      [
        ["--html", "x.html", "--html-match", "(", "--workflows", "workflows.ts", "x.json"],
        /--html-match \(: /,
      ],
      [
        ["--workflows", "workflows.ts", "--store", "nowhere.sqlite"],
        /the store .*nowhere\.sqlite does not exist/,
      ],
    ] as const
  ) {
    const result = await run(["replay", ...args], { cwd: folder });
    assert.equal(result.code, 2, args.join(" "));
    assert.match(result.err, message);
    assert.equal(result.out, "");
  }
});

test("a sample has the same runs in any input order, other runs with another seed, and all runs of a small group", () => {
  const ids = Array.from({ length: 200 }, (_, i) => `run-${i}`);
  const sample = (of: readonly string[], seed = "") => {
    const made = new Sample<string>(10, seed);
    for (const id of of) made.add(id === "run-7" ? "rare" : "common", id, id);
    return made.chosen().toSorted();
  };
  const first = sample(ids);
  assert.equal(first.length, 11);
  assert.ok(first.includes("run-7"));
  assert.deepEqual(sample(ids.toReversed()), first);
  assert.notDeepEqual(sample(ids, "other"), first);
});
