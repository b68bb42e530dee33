#!/usr/bin/env node
// Writes the API reference, docs/api: one page of Markdown for each subpath of the package, from
// the docstrings. It is made from the declarations that are published (tools/pack.mjs), so it shows
// what users compile against. It is not committed: every change of a docstring would change it, and
// this tool makes it in seconds. typedoc is installed on demand, into tests/system/package.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";
import { emptied, ensureInstalled, root, run } from "./lib/steps.mjs";
import { pack } from "./pack.mjs";

const HELP = `usage: node tools/docs_api.mjs [--out FOLDER]

Writes the API reference to FOLDER (default docs/api) and replaces what is in the folder.`;
/** Where a symbol is described that several subpaths offer: in the first of these that has it. */
const ORDER = [
  "workflow",
  "client",
  "activity",
  "worker",
  "engine",
  "realm",
  "testing",
  "browser",
  "debug",
  "core",
];
const TOOLS = join(root, "tests/system/package");

/** Installs what tests/system/package/package.json names; why not, if that cannot be. */
export async function installTools() {
  if (["typedoc", "tsx"].every((name) => existsSync(join(TOOLS, "node_modules", name)))) {
    return undefined;
  }
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status, output } = await run(npm, ["ci", "--no-fund", "--no-audit", "--prefer-offline"], {
    cwd: TOOLS,
  });
  return status === 0
    ? undefined
    : `npm ci failed in tests/system/package: ${output.trim().split("\n").at(-1)}`;
}

/** What a room says about itself at its head. */
function heading(source) {
  const lines = readFileSync(join(root, "ts", `${source}.ts`), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, "")).join("\n");
}

/**
 * Entries wrap what needs the core: `export declare const Worker: typeof AnyWorker`, and a type of
 * that name. The reference shows the class or function itself, with its members and its own
 * docstring.
 */
function unwrapped(declarations) {
  const comment = String.raw`(?:/\*\*(?:[^*]|\*(?!/))*\*/\s*)?`;
  return declarations.replace(
    new RegExp(`${comment}export declare const (\\w+): typeof (\\w+);`, "g"),
    (whole, name, local) => {
      const imported = new RegExp(`import \\{[^}]*?\\b(\\w+) as ${local}\\b[^}]*\\} from ("[^"]+")`)
        .exec(declarations);
      return imported === null
        ? whole
        : `export { ${imported[1]} as ${name} } from ${imported[2]};`;
    },
  ).replace(
    new RegExp(`${comment}export type (\\w+) = (\\w+);`, "g"),
    (whole, name, local) => new RegExp(`\\b${name} as ${local}\\b`).test(declarations) ? "" : whole,
  );
}

/**
 * Writes the reference; its pages by subpath. Throws with typedoc's words when it finds errors,
 * among them links that lead nowhere.
 */
export async function writeReference(out) {
  emptied(out, (folder) => {
    const readme = join(folder, "README.md");
    return existsSync(readme) &&
      readFileSync(readme, "utf8").startsWith("# temporalex\n\n## Modules");
  });
  mkdirSync(join(root, ".build"), { recursive: true });
  const work = mkdtempSync(join(root, ".build/api-"));
  try {
    const { folder } = await pack({ out: join(work, "package"), tarball: false });
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const subpaths = Object.entries(exports).filter(([, target]) => target.types !== undefined)
      .map(([key, target]) => ({
        name: key === "." ? "temporalex" : key.slice(2),
        types: target.types.slice(2),
      }));
    // Its page has the path of the subpath; the entry next to the others has a name without
    // folders.
    const entryOf = ({ name }) => join(work, `${name.replaceAll("/", "_")}.ts`);
    const place = ({ name }) => ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length;
    subpaths.sort((a, b) => place(a) - place(b));
    for (const { name, types } of subpaths) {
      const entry = join(folder, types);
      writeFileSync(entry, unwrapped(readFileSync(entry, "utf8")));
      const text = heading(types.replace(/^dist\/|\.d\.ts$/g, "")).replaceAll("*/", "* /")
        .replaceAll("@", "\\@");
      const comment = `/**\n${
        text.split("\n").map((line) => ` * ${line}`).join("\n")
      }\n * @module ${name}\n */\n`;
      writeFileSync(
        entryOf({ name }),
        `${comment}export * from "./package/${types.replace(/\.d\.ts$/, ".js")}";\n`,
      );
    }
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      moduleResolution: "nodenext",
      lib: ["es2023", "esnext.disposable", "dom"],
      types: [],
      skipLibCheck: true,
      noEmit: true,
    };
    writeFileSync(join(work, "package.json"), '{"name":"temporalex","type":"module"}');
    writeFileSync(
      join(work, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["*.ts"] }),
    );
    const options = {
      plugin: ["typedoc-plugin-markdown"],
      entryPoints: subpaths.map(entryOf),
      tsconfig: join(work, "tsconfig.json"),
      out,
      name: "temporalex",
      readme: "none",
      excludeInternal: true,
      excludeExternals: true,
      excludePrivate: true,
      disableSources: true,
      sortEntryPoints: false,
      outputFileStrategy: "modules",
      hidePageHeader: true,
      hideBreadcrumbs: true,
      expandObjects: true,
      useCodeBlocks: true,
      // Types that only appear in signatures are shown there; they need no separate pages.
      validation: { notExported: false, invalidLink: true },
      treatValidationWarningsAsErrors: true,
    };
    writeFileSync(join(work, "typedoc.json"), JSON.stringify(options));
    const typedoc = join(TOOLS, "node_modules/.bin/typedoc");
    const { status, output } = await run(typedoc, ["--options", join(work, "typedoc.json")], {
      cwd: TOOLS,
      env: { NO_COLOR: "1" },
    });
    if (status !== 0) throw new Error(`typedoc failed:\n${output}`);
    return Object.fromEntries(
      subpaths.map((
        { name },
      ) => [name, [`${name}.md`, `${name}/README.md`].find((f) => existsSync(join(out, f)))]),
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = readCommandLine(HELP, { out: { type: "string" } });
  ensureInstalled();
  const problem = await installTools();
  if (problem !== undefined) {
    console.error(problem);
    process.exit(1);
  }
  const out = values.out === undefined ? join(root, "docs/api") : resolve(values.out);
  const pages = await writeReference(out).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
  console.log(
    `${relative(process.cwd(), out)}: ${Object.keys(pages).length} pages, begin with README.md`,
  );
}
