// An entry that serves native workflows, in a realm whose host posts modules of programs of
// `@temporalio/workflow`: one realm runs both kinds, and an entry that cannot be served is reported
// by name.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { harness } from "./realm_support.ts";

let folder = "";
before(() => folder = realpathSync(mkdtempSync(join(tmpdir(), "temporalex-dialects-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A module of this package, as the entry imports it. */
const deno = "Deno" in globalThis;
const own = (room: string) =>
  pathToFileURL(join(process.cwd(), deno ? "" : "dist", "ts", room, deno ? "mod.ts" : "mod.js"))
    .href;

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const NATIVE = () =>
  `import { sleep, workflow } from "${own("workflow")}";
export const w = workflow("Native", async (name) => { await sleep("1s"); return "native " + name; });
export async function helper() { return 1; }
`;
const TEMPORAL = `import { sleep, workflowInfo } from "@temporalio/workflow";
let calls = 0;
export async function temporal(name) { calls++; await sleep("1 second"); return workflowInfo().workflowType + " " + name + " " + calls; }
`;
const POSTED =
  `import { workflow } from "temporalex/workflow"; export const p = workflow("Posted", async () => "posted");`;

/** An entry that serves the native module, loaded before the guard or behind it. */
function entry(name: string, form: "eager" | "lazy"): URL {
  write("native.mjs", NATIVE());
  const [top, served] = form === "eager"
    ? [`import * as workflows from "./native.mjs";`, "workflows"]
    : ["", `() => import("./native.mjs")`];
  return pathToFileURL(
    write(name, `import { serveRealm } from "${own("realm")}";\n${top}\nserveRealm(${served});\n`),
  );
}

for (const form of ["eager", "lazy"] as const) {
  test(`native workflows of the entry (${form}) and posted ones of both dialects work in one realm`, async () => {
    const sources = { "temporal.js": TEMPORAL, "posted.js": POSTED };
    const h = await harness({
      entry: entry(`${form}.mjs`, form),
      workflows: ["temporal.js", "posted.js"],
      sources,
    });
    try {
      assert.deepEqual([...h.realm.workflowTypes].sort(), ["Native", "Posted", "temporal"]);
      assert.equal(await h.start("Native", { args: ["a"] }).auto(), "native a");
      // Modules of these programs are each run's own.
      for (const name of ["b", "c"]) {
        assert.equal(await h.start("temporal", { args: [name] }).auto(), `temporal ${name} 1`);
      }
      assert.equal(await h.start("Posted").auto(), "posted");
      const helper = h.start("helper");
      await helper.task();
      assert.match(
        helper.failure,
        /workflow type "helper" is not known .*"Native".*"temporal".*export a function of that name: programs of "@temporalio\/workflow" .*`sources`/,
      );
    } finally {
      await h.realm.dispose();
    }
  });
}

test("an entry whose bundler loads the workflows later: the error states to import them at its top", async () => {
  write("native.mjs", NATIVE());
  const late = `globalThis.TURBOPACK_NEXT_CHUNK_URLS = [];
import { serveRealm } from "${own("realm")}";
serveRealm(() => {
  TURBOPACK_NEXT_CHUNK_URLS.push("chunk.js");
  return import("./native.mjs");
});
`;
  await assert.rejects(
    harness({ entry: pathToFileURL(write("late.mjs", late)) }),
    /TURBOPACK_NEXT_CHUNK_URLS\.push .* import the workflows at the top of the realm's entry, and pass them as serveRealm\(workflows\)/,
  );
});

test("starting a plain function next to an entry's native workflows fails by name; a duplicate name is reported at once", async () => {
  const h = await harness({ entry: entry("alone.mjs", "lazy") });
  try {
    const helper = h.start("helper");
    await helper.task();
    assert.match(
      helper.failure,
      /"helper" is not known to this worker; it has "Native"\. The workflow modules export a function/,
    );
    const other = h.start("w");
    await other.task();
    assert.match(other.failure, /"w" is not known to this worker; it has "Native"$/);
  } finally {
    await h.realm.dispose();
  }
  for (
    const [text, message] of [
      [
        `import { sleep } from "@temporalio/workflow"; export async function Native() { await sleep(1); }`,
        /two workflows are named "Native": export \w+, export Native of \S*other\.js/,
      ],
      [POSTED.replace("Posted", "Native"), /two workflows are named "Native"/],
    ] as const
  ) {
    const options = {
      entry: entry("twice.mjs", "lazy"),
      workflows: ["other.js"],
      sources: { "other.js": text },
    };
    await assert.rejects(harness(options), message);
  }
});

test("posted modules use the converter of the entry unless they have one", async () => {
  write(
    "converter.mjs",
    `import { defaultPayloadConverter as plain } from "${own("converter")}";
const encoding = (payload) => new TextDecoder().decode(payload.metadata.encoding);
export const marked = {
  toPayload: (value) => ({ ...plain.toPayload("marked " + value) }),
  fromPayload: (payload) => encoding(payload) === "" ? undefined : plain.fromPayload(payload),
};
`,
  );
  const path = write(
    "with_converter.mjs",
    `import { serveRealm } from "${own("realm")}";
import { marked } from "./converter.mjs";
serveRealm(() => import("./native.mjs"), { payloadConverter: marked });
`,
  );
  write("native.mjs", NATIVE());
  const h = await harness({
    entry: pathToFileURL(path),
    workflows: ["posted.js"],
    sources: { "posted.js": POSTED },
  });
  try {
    assert.equal(await h.start("Posted").auto(), "marked posted");
  } finally {
    await h.realm.dispose();
  }
});
