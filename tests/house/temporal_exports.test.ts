// runtime: node
// Every export of the official packages exists or has a reason (tools/temporal-exports). The names
// are compared with the installed packages.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface Names {
  readonly values: readonly string[];
  readonly types: readonly string[];
}
interface Package extends Names {
  readonly package: string;
  readonly version: string;
  readonly module: string;
  readonly absent: { readonly [name: string]: string };
}
interface Tool {
  readPackages(): Package[];
  officialNames(modules: string, name: string): (Names & { version: string }) | undefined;
  ourNames(
    data: Package,
  ): { readonly values: ReadonlySet<string>; readonly types: ReadonlySet<string> };
  unexplained(data: Package): string[];
  withNeededReasons(data: Package): Package;
  pageText(packages: readonly Package[]): string;
  readonly page: string;
}
const { readPackages, officialNames, ourNames, unexplained, withNeededReasons, pageText, page } =
  await import(
    pathToFileURL(resolve("tools/temporal_exports.mjs")).href
  ) as Tool;
const INSTALLED = resolve("tests/system/interop/node_modules");

test("docs/temporal-exports.md is current, and no export that exists has a reason", () => {
  const packages = readPackages();
  assert.deepEqual(
    packages.map(withNeededReasons),
    packages,
    "run node tools/temporal_exports.mjs --write",
  );
  assert.equal(
    readFileSync(page, "utf8"),
    pageText(packages),
    "run node tools/temporal_exports.mjs --write",
  );
});

for (const data of readPackages()) {
  const { package: name, values, types, absent } = data;

  test(`${name}: each export exists or has a reason`, () => {
    assert.deepEqual(unexplained(data), []);
    for (const [absentName, reason] of Object.entries(absent)) {
      assert.ok(
        values.includes(absentName) || types.includes(absentName),
        `${absentName} is not an export of ${name}`,
      );
      assert.match(reason, /\S/, `${absentName} has no reason`);
    }
  });

  test(`${name}: the exports of the sources equal those of the module`, async () => {
    const built = resolve("dist", data.module.replace(/\.ts$/, ".js"));
    if (!existsSync(built)) return;
    const module = await import(pathToFileURL(built).href) as object;
    assert.deepEqual([...ourNames(data).values].sort(), Object.keys(module).sort());
  });

  const official = officialNames(INSTALLED, name);
  test(`${name}: the names are the official package's`, {
    skip: official === undefined && "it is not installed",
  }, () => {
    assert.deepEqual({ version: data.version, values, types }, official);
    if (name === "@temporalio/worker") return; // loads a native module
    const runtime = Object.keys(createRequire(join(INSTALLED, "x.js"))(name) as object);
    assert.deepEqual(runtime.filter((exported) => !values.includes(exported)), []);
  });
}
