// deno.json says the same as package.json: tasks, and the packages that names of the std stand for.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Manifest {
  readonly scripts: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
}
interface DenoConfig {
  readonly tasks: { readonly [name: string]: { readonly command: string } };
  readonly imports: { readonly [name: string]: string };
}
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const config = JSON.parse(readFileSync("deno.json", "utf8")) as DenoConfig;

test("deno task start, test and demo run what npm runs", () => {
  for (const name of ["start", "test", "demo"]) {
    assert.equal(config.tasks[name]?.command, manifest.scripts[name], name);
  }
});

test("what deno.json maps to a package is installed, at the version of package.json", () => {
  const mapped = Object.entries(config.imports).filter(([, target]) => target.startsWith("npm:"));
  assert.ok(mapped.length > 0);
  for (const [name, target] of mapped) {
    const [, packageName = "", version, file] = /^npm:([^@/]+)@([^/]+)\/(.*)$/.exec(target) ?? [];
    assert.equal(version, manifest.devDependencies[packageName], name);
    assert.ok(
      existsSync(`node_modules/${packageName}/${file}`),
      `${name}: ${packageName} has no ${file}`,
    );
  }
});
