#!/usr/bin/env node
// Compares the types of `temporalex/compat/*` with the declarations of the official packages,
// member by member, and two releases of the official packages with each other.
// docs/dev/temporal-releases.md says what to do with the result.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { TypeComparer } from "./compat_types/compare.mjs";
import { root } from "./lib/steps.mjs";
import { readPackages } from "./temporal_exports.mjs";

/** @typedef {import("./compat_types/compare.mjs").Difference} Difference */

const INSTALLED = join(root, "tests/system/interop/node_modules");
const HELP = `usage: node tools/compat_types.mjs [--modules FOLDER] [--json]
       node tools/compat_types.mjs --diff VERSION | --diff-modules FOLDER [--json]

Compares the types of temporalex/compat/* with those of the official packages in FOLDER (default: tests/system/interop/node_modules): each export,
member, option and enum. Exit code 1: a difference has no reason in tools/compat_types/reasons.json, or a reason has no difference.

--diff VERSION       install that release of the official packages into a temporary folder and list what it adds, removes and changes
                     against the installed one. Exit code 0 in any case.
--diff-modules       the same with packages that are installed already, in FOLDER (a node_modules folder).`;

/** The module of declarations of a package; undefined where it is not installed. */
function declarationsOf(modules, name) {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) return undefined;
  return join(
    modules,
    name,
    JSON.parse(readFileSync(manifest, "utf8")).types ?? "./lib/index.d.ts",
  );
}

const shortName = (name) => name.replace("@temporalio/", "");

const COMPILER_OPTIONS = {
  baseUrl: root,
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
  paths: { temporalex: ["./ts/mod.ts"], "temporalex/*": ["./ts/*/mod.ts"] },
};

/**
 * TypeScript's API, from the packages of tests/system/interop; undefined where they are not
 * installed.
 */
export function compiler() {
  if (!existsSync(join(INSTALLED, "typescript"))) return undefined;
  return createRequire(join(INSTALLED, "x.js"))("typescript");
}

/** For pairs of modules: `[name, before, after]`. */
function comparerFor(pairs) {
  const ts = compiler();
  if (ts === undefined) {
    throw new Error("TypeScript is not installed: npm ci --prefix tests/system/interop");
  }
  return new TypeComparer(
    ts,
    pairs.flatMap(([, before, after]) => [before, after]),
    COMPILER_OPTIONS,
  );
}

/** What is known to be absent, by `package.Export` (tools/temporal-exports). */
const absentExports = () =>
  new Set(
    readPackages().flatMap((data) =>
      Object.keys(data.absent).map((name) => `${shortName(data.package)}.${name}`)
    ),
  );

/** Compares our types with the official ones in `modules`. */
export function compareWithOfficial(modules = INSTALLED) {
  const pairs = readPackages().flatMap((data) => {
    const declarations = declarationsOf(modules, data.package);
    return declarations === undefined
      ? []
      : [[shortName(data.package), declarations, join(root, data.module)]];
  });
  const absent = absentExports();
  const comparer = comparerFor(pairs);
  return pairs.map(([name, before, after]) => {
    const { compared, differences } = comparer.compare(name, before, after);
    return {
      name,
      compared,
      differences: differences.filter((d) => d.relation !== "absent" || !absent.has(d.where)),
    };
  });
}

/** @returns {{ where: string, relation?: string, reason: string }[]} */
export const readReasons = () =>
  JSON.parse(readFileSync(new URL("./compat_types/reasons.json", import.meta.url), "utf8"));

/** The differences with their reasons; the reasons that no difference needs. */
export function explain(/** @type {Difference[]} */ differences, reasons = readReasons()) {
  const patterns = reasons.map(({ where, relation = ".*", reason }) => ({
    place: new RegExp(`^(?:${where})$`),
    relation: new RegExp(`^(?:${relation})$`),
    reason,
    used: false,
  }));
  const explained = differences.map((difference) => {
    const found = patterns.find(({ place, relation }) =>
      place.test(difference.where) && relation.test(difference.relation)
    );
    if (found !== undefined) found.used = true;
    return { ...difference, reason: found?.reason };
  });
  return {
    explained,
    unexplained: explained.filter(({ reason }) => reason === undefined),
    unused: reasons.filter((_, i) => !patterns[i].used),
  };
}

/** What the release in `next` adds, removes and changes against the one in `modules`. */
export function compareReleases(next, modules = INSTALLED) {
  const names = readPackages().map((data) => data.package);
  const both = names.flatMap((name) => {
    const files = [declarationsOf(modules, name), declarationsOf(next, name)];
    return files.includes(undefined) ? [] : [[shortName(name), ...files]];
  });
  const comparer = comparerFor(both);
  const forward = both.flatMap(([name, before, after]) =>
    comparer.compare(name, before, after).differences
  );
  const backward = both.flatMap(([name, before, after]) =>
    comparer.compare(name, after, before).differences
  );
  const isLost = ({ relation }) => relation === "absent" || relation === "missing";
  const placeAndType = ({ where, before }) => ({ where, type: before });
  return {
    packages: both.map(([name]) => name),
    added: backward.filter(isLost).map(placeAndType),
    removed: forward.filter(isLost).map(placeAndType),
    changed: forward.filter((difference) => !isLost(difference)),
  };
}

/** Installs a release of the official packages; returns the folder. */
function install(version) {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-release-"));
  const packages = readPackages().map((data) => `${data.package}@${version}`);
  const args = [
    "install",
    "--prefix",
    folder,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    ...packages,
  ];
  const { status, stderr } = spawnSync("npm", args, {
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) return folder;
  rmSync(folder, { recursive: true, force: true });
  const why = stderr.trim().split("\n").slice(0, 3).join(" ");
  throw new Error(`npm cannot install release ${version} of the official packages: ${why}`);
}

function printReleases(result, json) {
  if (json) return console.log(JSON.stringify(result));
  const list = (title, entries, line) => {
    console.log(`\n${title}: ${entries.length}`);
    for (const entry of entries) console.log(`  ${line(entry)}`);
  };
  console.log(`compared: ${result.packages.join(", ")}`);
  list("added", result.added, ({ where, type }) => (type === "" ? where : `${where}: ${type}`));
  list("removed", result.removed, ({ where, type }) => (type === "" ? where : `${where}: ${type}`));
  list(
    "changed",
    result.changed,
    ({ where, relation, before, after }) => `${where} (${relation}): ${before}  ->  ${after}`,
  );
}

function printComparison(results, json) {
  const { explained, unexplained, unused } = explain(
    results.flatMap(({ differences }) => differences),
  );
  if (json) console.log(JSON.stringify({ packages: results, explained, unused }));
  else {
    for (const { name, compared, differences } of results) {
      console.log(`${name}: ${compared} compared, ${differences.length} differ`);
    }
    for (const { where, relation, before, after } of unexplained) {
      console.log(`no reason: ${where} (${relation}): ${before}  ->  ${after}`);
    }
    for (const { where } of unused) console.log(`no difference for the reason of ${where}`);
    const compared = results.reduce((sum, result) => sum + result.compared, 0);
    console.log(
      `${compared} compared, ${explained.length} differ, ${unexplained.length} of them without a reason`,
    );
  }
  return unexplained.length + unused.length === 0 ? 0 : 1;
}

function main() {
  const { values } = parseArgs({
    options: {
      modules: { type: "string", default: INSTALLED },
      diff: { type: "string" },
      "diff-modules": { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.diff === undefined && values["diff-modules"] === undefined) {
    return printComparison(compareWithOfficial(resolve(values.modules)), values.json);
  }
  const installed = values.diff === undefined ? undefined : install(values.diff);
  try {
    const next = installed === undefined
      ? resolve(/** @type {string} */ (values["diff-modules"]))
      : join(installed, "node_modules");
    printReleases(compareReleases(next, resolve(values.modules)), values.json);
    return 0;
  } finally {
    if (installed !== undefined) rmSync(installed, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = main();
  } catch (error) {
    const isUsage = /^ERR_PARSE_ARGS/.test(error.code ?? "");
    console.error(`compat_types: ${error.message}${isUsage ? `\n\n${HELP}` : ""}`);
    process.exitCode = 2;
  }
}
