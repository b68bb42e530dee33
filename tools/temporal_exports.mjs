#!/usr/bin/env node
// Generates docs/temporal-exports.md from tools/temporal-exports/<package>.json: the export names
// of a version, and the reason for each missing one. Without an option it
// checks that the page is current.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";
import { exportedNames } from "./lib/exported_names.mjs";
import { root } from "./lib/steps.mjs";

const FOLDER = join(root, "tools/temporal-exports");
export const page = join(root, "docs/temporal-exports.md");

/** Formats each list of names in one line, and each reason in one line. */
const text = (data) =>
  JSON.stringify(data, undefined, 1).replace(
    /\[\n[^\]]*\]/g,
    (list) => JSON.stringify(JSON.parse(list)),
  ) + "\n";

/** Returns the data of all packages, sorted by file name. */
export function readPackages() {
  return readdirSync(FOLDER).filter((name) => name.endsWith(".json")).sort()
    .map((name) => ({
      path: join(FOLDER, name),
      ...JSON.parse(readFileSync(join(FOLDER, name), "utf8")),
    }));
}

/**
 * Returns the official names of a package in the folder `modules`; undefined if it is not
 * installed.
 */
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
  return {
    version,
    values: sorted(values),
    types: sorted([...types_].filter((type) => !values.has(type))),
  };
}

/** Returns the exports of the module of this package; empty if the module does not exist. */
export function ourNames({ module }) {
  const path = module === undefined ? undefined : join(root, module);
  if (path === undefined || !existsSync(path)) return { values: new Set(), types: new Set() };
  return exportedNames(path);
}

/** Returns the official names that are neither exported nor have a reason. */
export function unexplained(data) {
  const ours = ourNames(data);
  const here = { value: ours.values, type: new Set([...ours.values, ...ours.types]) };
  const missing = (kind, names) =>
    names.filter((name) => !here[kind].has(name) && data.absent[name] === undefined);
  return [...missing("value", data.values), ...missing("type", data.types)];
}

/** Returns the data without the reasons of exports that exist by now. */
export function withNeededReasons(data) {
  const { values, types } = ourNames(data);
  const here = (name) =>
    data.values.includes(name) ? values.has(name) : values.has(name) || types.has(name);
  return {
    ...data,
    absent: Object.fromEntries(Object.entries(data.absent).filter(([name]) => !here(name))),
  };
}

/** The missing names of a package by reason: [reason, kind, names]. */
function missingByReason({ values, types, absent }) {
  const groups = new Map();
  for (const [kind, names] of [["value", values], ["type", types]]) {
    for (const name of names) {
      if (absent[name] === undefined) continue;
      const key = `${kind} ${absent[name]}`;
      if (!groups.has(key)) groups.set(key, [absent[name], kind, []]);
      groups.get(key)[2].push(`\`${name}\``);
    }
  }
  return [...groups.values()];
}

const missingCount = ({ values, types, absent }) =>
  [...values, ...types].filter((name) => absent[name] !== undefined).length;

function packageSection(data) {
  const lines = [`## ${data.package}`, ""];
  const missing = missingByReason(data);
  if (missing.length > 0) {
    lines.push("| missing | kind | reason and alternative |", "|---|---|---|");
    for (const [reason, kind, names] of missing) {
      lines.push(`| ${names.join(", ")} | ${kind} | ${reason} |`);
    }
    lines.push("");
  }
  for (const [name, note] of Object.entries(data.notes ?? {})) lines.push(`- \`${name}\`: ${note}`);
  if (data.notes !== undefined) lines.push("");
  for (const [title, names] of [["Values", data.values], ["Types", data.types]]) {
    const present = names.filter((name) => data.absent[name] === undefined).map((name) =>
      `\`${name}\``
    );
    if (present.length > 0) lines.push(`${title}: ${present.join(", ")}.`, "");
  }
  return lines.join("\n");
}

function packageRow(data) {
  const all = data.values.length + data.types.length;
  return `| \`${data.package}\` ${data.version} | \`${data.subpath}\` | ${
    all - missingCount(data)
  } of ${all} |`;
}

/** Returns the text of the page. */
export function pageText(packages) {
  return `# Exports of Temporal's TypeScript SDK

Existing exports have the official name, type and behavior. An option that has no effect here throws an
error with its name. [Programs written for Temporal](temporal-programs.md) describes how to use these
modules.

| official package | module | exports |
|---|---|---|
${packages.map(packageRow).join("\n")}

\`tools/temporal_exports.mjs\` generates this page from \`tools/temporal-exports\`.

${packages.map(packageSection).join("\n")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = readCommandLine(
    `usage: node tools/temporal_exports.mjs [--official NODE_MODULES | --write]

Checks that docs/temporal-exports.md matches tools/temporal-exports/*.json.

--official NODE_MODULES  read the export names from the packages installed there, then write the page
--write                  remove the reasons of exports that exist by now, then write the page`,
    { official: { type: "string" }, write: { type: "boolean" } },
  );
  const modules = values.official;
  if (modules !== undefined) {
    for (const { path, ...data } of readPackages()) {
      const names = officialNames(modules, data.package);
      if (names === undefined) {
        console.log(`${data.package} is not installed in ${modules}: its names are not changed`);
      } else writeFileSync(path, text({ ...data, ...names }));
    }
  }
  if (values.write) {
    for (const { path, ...data } of readPackages()) {
      writeFileSync(path, text(withNeededReasons(data)));
    }
  }
  const packages = readPackages();
  if (modules !== undefined || values.write) writeFileSync(page, pageText(packages));
  else if (!existsSync(page) || readFileSync(page, "utf8") !== pageText(packages)) {
    console.error(
      "docs/temporal-exports.md is not current; run node tools/temporal_exports.mjs --write",
    );
    process.exitCode = 1;
  }
}
