// runtime: node
// takes: 20 s
// The types of `temporalex/compat/*` compared with the declarations of the official packages: each
// export, member, option and enum is equal, fits, or has a reason
// (tools/compat_types/reasons.json). What a new release adds or changes is reported by name.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { noOfficial } from "./support/official.ts";

interface Difference {
  readonly where: string;
  readonly relation: string;
  readonly before: string;
  readonly after: string;
}
interface Tool {
  compareWithOfficial(): {
    name: string;
    compared: number;
    differences: Difference[];
  }[];
  explain(
    differences: readonly Difference[],
    reasons?: readonly object[],
  ): { unexplained: Difference[]; unused: object[] };
  compareReleases(
    next: string,
  ): {
    added: { where: string; type: string }[];
    removed: { where: string }[];
    changed: Difference[];
  };
}
const INSTALLED = resolve("tests/system/interop/node_modules");
const { compareWithOfficial, explain, compareReleases } = await import(
  pathToFileURL(resolve("tools/compat_types.mjs")).href
) as Tool;

test(
  "each member of the official types is equal, assignable, or differs for a stated reason",
  { skip: noOfficial },
  () => {
    const packages = compareWithOfficial();
    assert.deepEqual(packages.map(({ name }) => name), [
      "activity",
      "client",
      "common",
      "nexus",
      "testing",
      "worker",
      "workflow",
    ]);
    const compared = packages.reduce((sum, { compared }) => sum + compared, 0);
    assert.ok(compared > 2500, `${compared} members compared`);
    const { unexplained, unused } = explain(
      packages.flatMap(({ differences }) => differences),
    );
    assert.deepEqual(
      unexplained,
      [],
      "state the reason in tools/compat_types/reasons.json, or change the type",
    );
    assert.deepEqual(unused, [], "reasons that no difference needs");
  },
);

test("a difference without a reason is reported, and so is a reason without a difference", () => {
  const difference = {
    where: "client.Client.start",
    relation: "missing",
    before: "() => void",
    after: "",
  };
  const reasons = [{
    where: "client\\.Client\\.start",
    relation: "wider",
    reason: "another relation",
  }];
  assert.deepEqual(explain([difference], reasons), {
    explained: [{ ...difference, reason: undefined }],
    unexplained: [{ ...difference, reason: undefined }],
    unused: reasons,
  });
});

/**
 * A folder of packages in which `edited` are copies that may be changed; the others are the
 * installed ones.
 */
function release(folder: string, edited: readonly string[]): string {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@temporalio"), { recursive: true });
  const link = (name: string) =>
    symlinkSync(
      realpathSync(join(INSTALLED, name)),
      join(modules, name),
      "junction",
    );
  for (const name of readdirSync(INSTALLED)) {
    if (!name.startsWith(".") && name !== "@temporalio") link(name);
  }
  for (const name of readdirSync(join(INSTALLED, "@temporalio"))) {
    if (!edited.includes(name)) link(`@temporalio/${name}`);
    else {cpSync(
        join(INSTALLED, "@temporalio", name),
        join(modules, "@temporalio", name),
        { recursive: true },
      );}
  }
  return modules;
}

/** Replaces a text that is in the file. */
function edit(file: string, from: RegExp, to: string): void {
  assert.ok(existsSync(file), file);
  const text = readFileSync(file, "utf8");
  assert.match(text, from, file);
  writeFileSync(file, text.replace(from, to));
}

test(
  "a release that adds three options and changes one is reported by their names",
  { skip: noOfficial },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-types-"));
    try {
      const modules = release(folder, ["client", "worker", "workflow"]);
      // (The compiler takes two packages of one name and version for the same.)
      for (const name of ["client", "worker", "workflow"]) {
        edit(
          join(modules, "@temporalio", name, "package.json"),
          /"version": "[^"]*"/,
          '"version": "1.99.0"',
        );
      }
      const lib = (name: string, file: string) => join(modules, "@temporalio", name, "lib", file);
      edit(
        lib("worker", "worker-options.d.ts"),
        /(export interface WorkerOptions \{)/,
        "$1\n    colorOfLogs?: string;\n",
      );
      edit(
        lib("client", "workflow-options.d.ts"),
        /(export interface WorkflowSignalWithStartOptionsWithArgs<[^{]*\{)/,
        "$1\n    sendTwice?: boolean;\n",
      );
      edit(
        lib("workflow", "interfaces.d.ts"),
        /(export interface ContinueAsNewOptions \{)/,
        "$1\n    keepTimers?: boolean;\n",
      );
      edit(
        lib("worker", "worker-options.d.ts"),
        /maxCachedWorkflows\?: number;/,
        "maxCachedWorkflows?: string;",
      );
      const { added, removed, changed } = compareReleases(modules);
      assert.deepEqual(added.map(({ where }) => where).sort(), [
        "client.WorkflowSignalWithStartOptionsWithArgs.sendTwice",
        ...["Compiled", "Replay", ""].map((kind) => `worker.${kind}WorkerOptions.colorOfLogs`)
          .sort(),
        "workflow.ContinueAsNewOptions.keepTimers",
      ]);
      assert.deepEqual(removed, []);
      const where = changed.map((change) => change.where);
      assert.ok(
        where.includes("worker.WorkerOptions.maxCachedWorkflows"),
        where.join(", "),
      );
      // Types that are made of the changed one differ with it; nothing else does.
      assert.deepEqual(
        where.filter((place) => !place.startsWith("worker.")),
        [],
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
