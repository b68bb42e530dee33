// runtime: node
// Every snippet of README.md and docs/ is written to a folder, type-checked and run, in the order
// of the page, and prints what the page says.
// takes: 90 s
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { bundlePackage, linkPackage } from "./bundled_package.ts";
import { runInBrowser } from "./in_browser.ts";
import { type Block, difference, readPage } from "./page.ts";

const root = process.cwd();
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) =>
    `docs/${name}`
  ),
];
const deno = join(root, "node_modules/.bin/deno");
const hasDeno = existsSync(deno) && spawnSync(deno, ["--version"]).status === 0;

const bundled = join(mkdtempSync(join(tmpdir(), "temporalex-package-")), "temporalex");
after(() => rmSync(dirname(bundled), { recursive: true, force: true }));
await bundlePackage(bundled);

/**
 * Commands as a reader has them: `npx temporalex` and `node_modules/.bin/temporalex` are this
 * checkout's, `node` loads TypeScript, `deno` knows the package.
 */
const SHELL = `
set -eu
# In the background a program is the process that $! names.
node() {
  if [ "$BASH_SUBSHELL" -gt 0 ]; then exec node --no-warnings --import "${
  join(root, "tests/system/docs/ts_hook.mjs")
}" "$@"; fi
  command node --no-warnings --import "${join(root, "tests/system/docs/ts_hook.mjs")}" "$@"
}
npx() {
  if [ "$1" != temporalex ]; then echo "npx $1?" >&2; exit 1; fi
  shift
  if [ "$BASH_SUBSHELL" -gt 0 ]; then exec node "${join(bundled, "dist/ts/cli/main.js")}" "$@"; fi
  command node "${join(bundled, "dist/ts/cli/main.js")}" "$@"
}
deno() { local verb=$1; shift; command "${deno}" "$verb" --no-check --config "${
  join(root, "deno.json")
}" "$@"; }
`;

/** A folder with the packages of this checkout, and `temporalex`. */
function withPackages(temporalex: string): string {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-docs-"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".") && name !== "temporalex") {
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    }
  }
  linkPackage(temporalex, join(folder, "node_modules/temporalex"));
  return folder;
}

function project(): string {
  const folder = withPackages(bundled);
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(bin);
  const program = `#!/bin/sh\nexec "${process.execPath}" --no-warnings "${
    join(bundled, "dist/ts/cli/main.js")
  }" "$@"\n`;
  writeFileSync(join(bin, "temporalex"), program, { mode: 0o755 });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  return folder;
}

function write(folder: string, block: Block): void {
  mkdirSync(dirname(join(folder, block.name)), { recursive: true });
  writeFileSync(join(folder, block.name), block.text);
}

/** Plain output, and no trace of the test runner around it. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _color, NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } =
    process.env;
  return { ...env, NO_COLOR: "1" };
}

function run(folder: string, block: Block): void {
  const { status, stdout, stderr, error } = spawnSync("bash", ["-c", SHELL + block.text], {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
    env: plainEnvironment(),
  });
  const said = `\n--- printed\n${stdout}\n--- and on standard error\n${stderr}`;
  assert.equal(error, undefined, `line ${block.line}: ${block.name}${said}`);
  assert.equal(status, 0, `line ${block.line}: ${block.name}: exit code ${status}${said}`);
  if (block.prints !== undefined) {
    const problem = difference(block.prints, stdout);
    assert.equal(problem, undefined, `line ${block.line}: ${block.name}: ${problem}${said}`);
  }
}

// One program for all pages: the compiler reads the package once.
test("the snippets of all pages compile with strict options", () => {
  const folder = withPackages(root);
  try {
    for (const page of pages) {
      const place = join(folder, page.replace(/\.md$/, ""));
      for (const block of readPage(readFileSync(join(root, page), "utf8"))) {
        if (block.kind === "file") write(place, block);
      }
    }
    const { imports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as {
      imports: { [name: string]: string };
    };
    const own = Object.entries(imports).filter(([, target]) => target.startsWith("./"));
    const tsconfig = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        typeRoots: [join(root, "node_modules/@types")],
        paths: Object.fromEntries(
          [
            ...own,
            // As docs/temporal-programs.md has it for projects without the official packages.
            ["@temporalio/*", "./ts/compat/*/mod.ts"] as const,
          ].map(([name, target]) => [name, [join(root, target)]]),
        ),
      },
      include: pages.map((page) => join(folder, page.replace(/\.md$/, ""), "*.ts")),
      exclude: [],
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    const argv = ["-p", join(folder, "tsconfig.json")];
    const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), argv, {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

for (const page of pages) {
  const markdown = readFileSync(join(root, page), "utf8");
  const usesDeno = /^deno (run|test) /m.test(markdown);
  const skip = usesDeno && !hasDeno ? "the npm package deno has no binary here" : false;
  test(`${page}: its snippets run and print what it says`, { skip }, async (t) => {
    const blocks = readPage(markdown);
    let noBrowser: string | undefined;
    const folder = project();
    try {
      for (const block of blocks) {
        if (block.kind === "run") run(folder, block);
        if (block.kind === "browser") {
          // What bundles for browsers leave out is named by the file in dist/.
          linkPackage(root, join(folder, "node_modules/temporalex"));
          const wanted = block.prints!;
          const lines = wanted.trimEnd().split("\n").length;
          const ran = await runInBrowser(folder, block.name, lines);
          if (!("printed" in ran)) {
            noBrowser = ran.reason;
            continue;
          }
          const { printed } = ran;
          const problem = difference(wanted, printed);
          assert.equal(
            problem,
            undefined,
            `line ${block.line}: ${block.name}: ${problem}\n--- printed\n${printed}`,
          );
        }
        if (block.kind === "file") write(folder, block);
      }
      if (noBrowser !== undefined) t.skip(`no browser: ${noBrowser}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test("a page whose snippet prints other output is reported", () => {
  assert.equal(difference("a\n...\nd 5 ms\n", "a\nb\nc\nd 5 ms\n"), undefined);
  assert.equal(difference("took ... ms\n", "took 12 ms\n"), undefined);
  assert.match(difference("a\nb\n", "a\nc\n") ?? "", /"b" was expected, and "c" was printed/);
  assert.match(difference("a\n", "a\nb\n") ?? "", /behind the end/);
  assert.match(difference("a\nb\n", "a\n") ?? "", /nothing more was printed/);
  assert.throws(() => readPage("```ts\nconst x = 1;\n```\n"), /names its file/);
});

test("every link between pages resolves, and every page is reachable from README.md", () => {
  const slug = (title: string) => title.toLowerCase().replace(/[^\w\- ]/g, "").replace(/ /g, "-");
  const reached = new Set<string>();
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
    for (const [whole, target = "", anchor] of text.matchAll(/\]\(([^)#:\s]*)(?:#([^)]*))?\)/g)) {
      const path = target === "" ? page : join(dirname(page), target);
      assert.ok(existsSync(join(root, path)), `${page}: ${whole}: there is no ${path}`);
      if (page === "README.md") reached.add(path);
      if (anchor === undefined) continue;
      const titles = [...readFileSync(join(root, path), "utf8").matchAll(/^#+ (.*)$/gm)].map((
        match,
      ) => slug(match[1]!));
      assert.ok(titles.includes(anchor), `${page}: ${whole}: ${path} has no such section`);
    }
  }
  assert.deepEqual(pages.filter((page) => page !== "README.md" && !reached.has(page)), []);
});
