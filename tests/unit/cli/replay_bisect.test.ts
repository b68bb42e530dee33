// `temporalex replay --bisect` and `--versions`: which version of the code is the first that does
// not replay.
// takes: 4 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { historyJson } from "../../../ts/debug/mod.ts";
import { recorded } from "../debug/take_away_support.ts";
import { run } from "./support/run.ts";

const module = (body: string, price = "price") =>
  `import { sleep, workflow } from "temporalex/workflow";
import { rounded } from "../lib/${price}.ts";
import { unit } from "money-units";
export const main = workflow("Main", async () => {
${body}
  return rounded(1.5) + unit;
});
`;
const SOUND = `  await sleep(1000);`;
const BROKEN = `${SOUND}\n  await sleep(2000);`;

let folder = "", temporary = "";
/** Tests of other files may be in this process. */
const usual = process.env["TMPDIR"];
before(async () => {
  // Of this test alone, so that what is left in it can be seen.
  temporary = mkdtempSync(join(tmpdir(), "temporalex-bisected-tmp-"));
  folder = mkdtempSync(join(tmpdir(), "temporalex-bisected-"));
  process.env["TMPDIR"] = temporary;
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const git = (...args: string[]) =>
    execFileSync("git", [
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.com",
      "-c",
      "commit.gpgsign=false",
      ...args,
    ], {
      cwd: folder,
      stdio: "ignore",
    });
  git("init", "-q");
  write(".gitignore", "node_modules\nrun.json\nv*.ts\n");
  // A package that is installed, and not in the repository.
  write(
    "node_modules/money-units/package.json",
    '{ "name": "money-units", "type": "module", "exports": "./mod.js" }',
  );
  write("node_modules/money-units/mod.js", 'export const unit = "EUR";\n');
  const commit = (subject: string, files: { readonly [name: string]: string }) => {
    for (const [name, text] of Object.entries(files)) write(name, text);
    git("add", "-A");
    git("commit", "-q", "-m", subject);
  };
  commit("first edition", {
    "src/workflows.ts": module(SOUND),
    "lib/price.ts": "export const rounded = Math.round;\n",
  });
  git("tag", "v1");
  commit("a readme", { "README.md": "Orders.\n" });
  commit("comments", { "src/workflows.ts": `// Orders.\n${module(SOUND)}` });
  commit("half an edit", { "src/workflows.ts": module(`${SOUND}\n  await sleep(`) });
  commit("wait twice", { "src/workflows.ts": module(BROKEN) });
  git("tag", "v2");
  commit("more comments", { "src/workflows.ts": `// Orders.\n${module(BROKEN)}` });
  write(
    "run.json",
    historyJson(
      await recorded(
        `import { sleep, workflow } from "temporalex/workflow";
export const main = workflow("Main", async () => {
${SOUND}
  return "2EUR";
});
`,
        0,
      ),
    ),
  );
});
after(() => {
  if (usual === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = usual;
  for (const made of [folder, temporary]) rmSync(made, { recursive: true, force: true });
});

const replay = (...args: string[]) => run(["replay", "run.json", ...args], { cwd: folder });

interface Found {
  readonly bisect: {
    readonly versions: number;
    readonly tried: number;
    readonly first?: { readonly subject: string };
    readonly before?: { readonly subject?: string; readonly version: string };
    readonly notLoaded?: readonly { readonly subject: string }[];
    readonly line?: { readonly error: { readonly location: string; readonly sentence: string } };
  };
}
const found = (out: string): Found["bisect"] =>
  (JSON.parse(out.trim().split("\n").at(-1)!) as Found).bisect;

test("bisect finds the first revision that does not replay, with its line, and lists revisions that do not load", async () => {
  const { code, out, err } = await replay(
    "--workflows",
    "src/workflows.ts",
    "--bisect",
    "v1",
    "--json",
  );
  assert.equal(code, 1, out + err);
  const { versions, tried, first, before, notLoaded, line } = found(out);
  assert.equal(versions, 7, "six revisions and the files on the disk");
  assert.ok(tried <= 5, `${tried} looks`);
  assert.equal(first?.subject, "wait twice");
  assert.equal(before?.subject, "comments");
  assert.deepEqual(notLoaded?.map(({ subject }) => subject), ["half an edit"]);
  assert.match(line!.error.location, /\bsrc\/workflows\.ts:6\b/);
  assert.doesNotMatch(JSON.stringify(line), /temporalex-bisect-/);
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith("temporalex-bisect-")),
    [],
  );
  const text = await replay(
    "--workflows",
    "src/workflows.ts",
    "--bisect",
    "v1..v2",
    "--output",
    "text",
  );
  assert.match(
    text.out,
    /is the first version that does not replay, or one of 1 before it that do not load/,
  );
  assert.match(text.out, /Ada: wait twice\nnondeterminism +run\.json/);
});

test("bisect reports a range that replays, a range that is broken from its beginning, and unknown revisions", async () => {
  const at = ["--workflows", "src/workflows.ts", "--bisect"];
  const sound = await replay(...at, "v1..v2~2", "--json");
  assert.equal(sound.code, 0, sound.err);
  assert.deepEqual([found(sound.out).first, found(sound.out).before?.subject], [
    undefined,
    "comments",
  ]);
  const broken = await replay(...at, "v2..HEAD", "--output", "text");
  assert.equal(broken.code, 1);
  assert.match(broken.out, /The oldest version does not replay either: name an older one/);
  for (
    const [words, args] of [
      [/git knows no revision "v9"/, [...at, "v9..v2"]],
      [/--junit and --html cannot be used with --bisect/, [
        ...at,
        "v1",
        "--junit",
        "x.xml",
        "--html",
        "x.html",
      ]],
      [/--bisect and --versions cannot be used together/, [...at, "v1", "--versions", "a.ts"]],
      [/is outside of the git repository/, ["--workflows", "../elsewhere.ts", "--bisect", "v1"]],
      [/--versions needs at least two modules/, ["--versions", "a.ts"]],
      [
        /cannot search: the workflow modules of none\.ts to gone\.ts do not load; start at a later version, or correct the path of the module\. Error: .*gone\.ts: no such file/,
        ["--versions", "none.ts", "--versions", "gone.ts"],
      ],
    ] as const
  ) {
    const { code, err } = await replay(...args);
    assert.equal(code, 2, err);
    assert.match(err, words);
  }
});

test("versions: finds the first of several modules that does not replay; Ctrl-C ends it", async () => {
  const names = [SOUND, SOUND, BROKEN, BROKEN].map((body, i) => {
    writeFileSync(join(folder, `v${i + 1}.ts`), module(body).replace("../lib/", "./lib/"));
    return `v${i + 1}.ts`;
  });
  const args = names.flatMap((name) => ["--versions", name]);
  const { code, out, err } = await replay(...args, "--json");
  assert.equal(code, 1, out + err);
  const { first, before } = found(out);
  assert.deepEqual([first, before], [{ version: "v3.ts" }, { version: "v2.ts" }]);
  const end = new AbortController();
  end.abort();
  const ended = await run(["replay", "run.json", ...args], { cwd: folder, interrupt: end.signal });
  assert.notEqual(ended.code, 0);
  assert.doesNotMatch(ended.out, /"bisect"/);
});
