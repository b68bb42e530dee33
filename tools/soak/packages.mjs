// Real npm packages in workflow code: `node tools/soak/packages.mjs [name ...]`, after `npm run
// build`. Installs them in a separate folder (without their scripts), and for each compares what
// its functions give in Node with what they give in a realm: in native workflows and programs of
// `@temporalio/workflow`, from the sources and from a bundle. Exit code 1 when any differs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { bundleWorkflows, open, silentLogger } from "#dist/ts/mod.js";

/**
 * A probe per package: `x` is its namespace. The result is compared as JSON; "loads" if it differs
 * between runs, or needs more.
 */
const PACKAGES = {
  "@js-temporal/polyfill": "x.Temporal.Duration.from('PT90S').total('minutes')",
  "ajv": "new x.default({ code: { optimize: false } }).constructor.name",
  "async-mutex": "new x.Mutex().isLocked()",
  "big.js": "new x.default('0.1').plus('0.2').toString()",
  "bignumber.js": "new x.default('0.1').plus('0.2').toString()",
  "date-fns": "x.addDays(new Date(0), 3).toISOString()",
  "dayjs": "x.default(0).add(3, 'day').toISOString()",
  "debug": "typeof x.default",
  "decimal.js": "new x.Decimal('0.1').plus('0.2').toString()",
  "deepmerge": "x.default({ a: [1] }, { a: [2] })",
  "effect": "x.pipe([1, 2, 3], x.Array.map((n) => n * 2))",
  "eventemitter3": "new x.default().on('a', () => {}).listenerCount('a')",
  "fast-deep-equal": "x.default({ a: 1 }, { a: 1 })",
  "fp-ts": "x.option.some(3)",
  "immer": "x.produce({ a: 1 }, (draft) => { draft.a = 2; })",
  "immutable": "x.Map({ a: 1 }).set('b', 2).toJS()",
  "io-ts": "x.string.is('a')",
  "iter-tools": "[...x.take(2, [1, 2, 3])]",
  "js-yaml": "x.load('a: [1, 2]')",
  "jsonata": "typeof x.default('$sum(a)')",
  "lodash": "x.default.groupBy([1, 2, 3], (n) => n % 2)",
  "lodash-es": "x.groupBy([1, 2, 3], (n) => n % 2)",
  "long": "x.default.fromString('9007199254740993').add(1).toString()",
  "luxon": "x.DateTime.fromMillis(0, { zone: 'utc' }).plus({ days: 3 }).toISO()",
  "moment": "x.default.utc(0).add(3, 'days').toISOString()",
  "ms": "x.default('3 days')",
  "nanoid": "x.nanoid(12).length",
  "p-limit": "x.default(2).activeCount",
  "qs": "x.default.parse('a[b]=1')",
  "ramda": "x.map((n) => n + 1, [1, 2])",
  "rxjs":
    "(() => { const seen = []; x.of(1, 2).pipe(x.map((n) => n * 2)).subscribe((n) => seen.push(n)); return seen; })()",
  "semver": "x.default.satisfies('1.2.3', '^1.0.0')",
  "superjson": "x.default.stringify({ at: new Date(0), set: new Set([1]) })",
  "superstruct": "x.is('a', x.string())",
  "ts-pattern": "x.match(3).with(3, () => 'three').otherwise(() => 'other')",
  "tslib": "x.__rest({ a: 1, b: 2 }, ['a'])",
  "ulid": "x.ulid(0).length",
  "uuid": "[x.v5('a', x.v5.URL), x.v4().length]",
  "valibot": "x.parse(x.object({ a: x.number() }), { a: 1 })",
  "xstate": "x.createMachine({ initial: 'a', states: { a: {} } }).config.initial",
  "yaml": "x.parse('a: [1, 2]')",
  "yup": "x.string().isValidSync('a')",
  "zod": "schema.parse({ a: 1 })",
};
/** Code at the top level of the module: the first schema of zod sets what all of them share. */
const ABOVE = { zod: "const schema = x.object({ a: x.number() });" };
/** Packages whose random numbers are not there in the official sandbox either (no `crypto`). */
const NATIVE_ALONE = new Set(["nanoid", "ulid", "uuid"]);

if (process.argv.includes("--help")) {
  console.log(
    `usage: node tools/soak/packages.mjs [name ...]

Installs npm packages in a temporary folder and calls each in Node and in workflow code. Both must
return the same values. Needs dist/ (npm run build).

name  package to compare; default: all packages that the tool lists

Example: node tools/soak/packages.mjs zod lodash
Exit code: 0 all packages match; 1 a package differs or cannot be installed.`,
  );
  process.exit(0);
}
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PACKAGES);
const folder = mkdtempSync(join(tmpdir(), "temporalex-packages-"));
let failed = 0;
try {
  writeFileSync(join(folder, "package.json"), '{ "name": "tried", "type": "module" }');
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", ...names];
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
  for (const name of names) {
    const question = PACKAGES[name] ?? "Object.keys(x).length";
    const inNode = join(folder, "in_node.mjs");
    writeFileSync(
      inNode,
      `import * as x from "${name}";\n${
        ABOVE[name] ?? ""
      }\nconsole.log(JSON.stringify(${question}));`,
    );
    const expected = execFileSync(process.execPath, [inNode], { encoding: "utf8", cwd: folder })
      .trim();
    const lines = [];
    for (const kind of NATIVE_ALONE.has(name) ? ["native"] : ["native", "temporal"]) {
      const body = `JSON.stringify(${question})`;
      const path = join(folder, `${kind}.mjs`);
      writeFileSync(
        path,
        `import * as x from "${name}";\n${ABOVE[name] ?? ""}\n` +
          (kind === "native"
            ? `import { workflow } from "temporalex/workflow";\nexport const w = workflow("w", async () => ${body});`
            : `import { sleep } from "@temporalio/workflow";\nexport async function w() { await sleep(1); return ${body}; }`),
      );
      for (const from of ["sources", "bundle"]) {
        const answer = await answerOf(path, from).catch((e) => `threw ${e.message}`);
        if (answer !== expected) {
          lines.push(`  ${kind}, ${from}: ${answer}\n    instead of ${expected}`);
        }
      }
    }
    if (lines.length > 0) failed++;
    console.log([`${lines.length > 0 ? "DIFFERS" : "same   "} ${name}`, ...lines].join("\n"));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${names.length} packages, ${failed} differ`);
process.exitCode = failed > 0 ? 1 : 0;

async function answerOf(path, from) {
  let workflows = path;
  if (from === "bundle") {
    workflows = join(folder, "bundle.js");
    writeFileSync(workflows, (await bundleWorkflows({ workflows: pathToFileURL(path) })).code);
  }
  const app = await open({ workflows, logger: silentLogger });
  try {
    return await Promise.race([
      app.client.execute("w", { id: "w-1", args: [] }),
      new Promise((_, reject) =>
        setTimeout(() => reject(new Error("no answer within 20 s")), 20_000).unref()
      ),
    ]);
  } finally {
    await app.close();
  }
}
