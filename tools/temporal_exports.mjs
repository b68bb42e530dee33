#!/usr/bin/env node
// What of the official packages' exports is here: tools/temporal-exports/<package>.json has the names of a version and a reason for each one that
// is not; docs/temporal-exports.md is made from them: `node tools/temporal_exports.mjs --write`. `--write` also drops the
// reasons of what is here by now. With `--official <node_modules>` the names are read again from the declarations of the packages that are installed there. Without an option it says whether the page is current.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { exportedNames } from "./lib/exported_names.mjs";
import { root } from "./lib/steps.mjs";

const FOLDER = join(root, "tools/temporal-exports");
export const page = join(root, "docs/temporal-exports.md");

/** A list of names takes a line, a reason one of its own. */
const text = (data) =>
  JSON.stringify(data, undefined, 1).replace(/\[\n[^\]]*\]/g, (list) => JSON.stringify(JSON.parse(list))) + "\n";

/** The data of all packages, in the order of their files' names. */
export function readPackages() {
  return readdirSync(FOLDER).filter((name) => name.endsWith(".json")).sort()
    .map((name) => ({ path: join(FOLDER, name), ...JSON.parse(readFileSync(join(FOLDER, name), "utf8")) }));
}

/** The official names of a package that is installed below `modules`; undefined where it is not. */
export function officialNames(modules, name) {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) return undefined;
  const { version, types = "./lib/index.d.ts" } = JSON.parse(readFileSync(manifest, "utf8"));
  const resolve = (specifier) => {
    const [, owner, rest] = /^(@temporalio\/[\w-]+)(?:\/(.*))?$/.exec(specifier) ?? [];
    if (owner === undefined) return undefined;
    const path = join(modules, owner, rest ?? "lib/index");
    return [`${path}.d.ts`, join(path, "index.d.ts")].find(existsSync);
  };
  const { values, types: types_ } = exportedNames(join(modules, name, types), resolve);
  const sorted = (names) => [...names].sort();
  return { version, values: sorted(values), types: sorted([...types_].filter((type) => !values.has(type))) };
}

/** What our module exports; nothing where there is none yet. */
export function ourNames({ module }) {
  const path = module === undefined ? undefined : join(root, module);
  if (path === undefined || !existsSync(path)) return { values: new Set(), types: new Set() };
  return exportedNames(path);
}

/** Names of the official package that are neither here nor have a reason. */
export function unexplained(data) {
  const ours = ourNames(data);
  const here = { value: ours.values, type: new Set([...ours.values, ...ours.types]) };
  const missing = (kind, names) => names.filter((name) => !here[kind].has(name) && data.absent[name] === undefined);
  return [...missing("value", data.values), ...missing("type", data.types)];
}

/** The data without reasons for what is here by now. */
export function withNeededReasons(data) {
  const { values, types } = ourNames(data);
  const here = (name) => data.values.includes(name) ? values.has(name) : values.has(name) || types.has(name);
  return { ...data, absent: Object.fromEntries(Object.entries(data.absent).filter(([name]) => !here(name))) };
}

/** Rows of a package: [name, kind, reason or undefined]. */
function rowsOf({ values, types, absent }) {
  const row = (kind) => (name) => [name, kind, absent[name]];
  return [...values.map(row("value")), ...types.map(row("type"))];
}

function sectionOf(data) {
  const rows = rowsOf(data);
  const missing = rows.filter(([, , reason]) => reason !== undefined);
  const present = (kind) => rows.filter(([, its, reason]) => its === kind && reason === undefined).map(([name]) => `\`${name}\``);
  const lines = [
    `## ${data.package} ${data.version}`,
    "",
    `Here: \`${data.subpath}\`. ${rows.length - missing.length} of ${rows.length} exports.`,
    "",
  ];
  if (missing.length > 0) {
    lines.push("| not here | kind | why, and what to do |", "|---|---|---|");
    for (const [name, kind, reason] of missing) lines.push(`| \`${name}\` | ${kind} | ${reason} |`);
    lines.push("");
  }
  for (const [name, note] of Object.entries(data.notes ?? {})) lines.push(`- \`${name}\`: ${note}`);
  if (data.notes !== undefined) lines.push("");
  for (const kind of ["value", "type"]) {
    const names = present(kind);
    if (names.length > 0) lines.push(`${kind === "value" ? "Values" : "Types"}: ${names.join(", ")}.`, "");
  }
  return lines.join("\n");
}

/** The page. */
export function pageText(packages) {
  return `# Exports of Temporal's TypeScript SDK

Made by \`tools/temporal_exports.mjs\` from \`tools/temporal-exports\`. Each export of the official
packages, present or why not. What is present has the official name, type and behaviour; an option
that has no effect here throws an error that names it.

${packages.map(sectionOf).join("\n")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [option, modules] = process.argv.slice(2);
  if (option === "--official") {
    for (const { path, ...data } of readPackages()) {
      const names = officialNames(modules, data.package);
      if (names === undefined) console.log(`${data.package} is not installed in ${modules}: its names stay as they are`);
      else writeFileSync(path, text({ ...data, ...names }));
    }
  }
  if (option === "--write") {
    for (const { path, ...data } of readPackages()) writeFileSync(path, text(withNeededReasons(data)));
  }
  const packages = readPackages();
  if (option !== undefined) writeFileSync(page, pageText(packages));
  else if (!existsSync(page) || readFileSync(page, "utf8") !== pageText(packages)) {
    console.error("docs/temporal-exports.md is not current; run node tools/temporal_exports.mjs --write");
    process.exitCode = 1;
  }
}
