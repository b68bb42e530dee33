// Completion scripts: every command and option is in them, and bash completes with its own.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { nodesOf } from "../../../ts/cli/commands/completion/nodes.ts";
import { type Group, isGroup, type Option } from "../../../ts/cli/frame/command.ts";
import { FRAME_OPTIONS } from "../../../ts/cli/frame/parse.ts";
import { COMMANDS } from "../../../ts/cli/commands/mod.ts";
import { run } from "./support/run.ts";

const script = async (shell: string) => (await run(["completion", shell])).out;
const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

test("the options of each command have unique letters and names", () => {
  const check = (at: string, { commands }: Group) => {
    for (const [name, entry] of Object.entries(commands)) {
      if (isGroup(entry)) check(`${at} ${name}`, entry);
      if (!("options" in entry)) continue;
      const options = [
        ...Object.entries<Option>(FRAME_OPTIONS),
        ...Object.entries<Option>(entry.options ?? {}),
      ];
      const taken = options.flatMap((
        [long, { short, aliases = [] }],
      ) => [long, ...aliases, ...short === undefined ? [] : [short]]);
      assert.deepEqual(taken.filter((each, i) => taken.indexOf(each) !== i), [], `${at} ${name}`);
    }
  };
  check("temporalex", { commands: COMMANDS } as Group);
});

test(
  "bash completes commands, options, values and files",
  { skip: !has("bash") && "no bash here" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-completion-"));
    try {
      writeFileSync(join(folder, "shop.sqlite"), "");
      writeFileSync(join(folder, "two words.json"), "");
      writeFileSync(join(folder, "script"), await script("bash"));
      const complete = (...words: string[]) =>
        execFileSync("bash", [
          "-c",
          'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _temporalex; printf "%s\\n" "${COMPREPLY[@]}"',
          "bash",
          "temporalex",
          ...words,
        ], { cwd: folder, encoding: "utf8" }).split("\n").filter((line) => line !== "").sort();
      assert.deepEqual(complete("work"), ["worker", "workflow"]);
      assert.deepEqual(complete("workflow", "st"), ["stack", "start"]);
      assert.deepEqual(complete("workflow", "rel"), ["release"]);
      assert.deepEqual(complete("workflow", "release", "--st"), ["--store"]);
      assert.deepEqual(complete("workflow", "release", "--store", "sh"), ["shop.sqlite"]);
      assert.deepEqual(complete("worker", "--crash"), ["--crash-notes"]);
      assert.deepEqual(complete("workflow", "update", ""), ["execute", "result", "start"]);
      assert.deepEqual(complete("workflow", "start", "--workflow"), ["--workflow-id"]);
      assert.deepEqual(
        complete("workflow", "update", "--up"),
        ["--update-id"],
        "of the command that is meant without a name",
      );
      assert.deepEqual(complete("workflow", "start", "--id-conflict-policy", "U"), ["UseExisting"]);
      assert.deepEqual(complete("workflow", "list", "--output", "=", "js"), ["json", "jsonl"]);
      assert.deepEqual(complete("workflow", "list", "-o", ""), ["json", "jsonl", "none", "text"]);
      assert.deepEqual(complete("workflow", "list", "--store", "sh"), ["shop.sqlite"]);
      assert.deepEqual(complete("replay", "two"), ["two words.json"]);
      assert.deepEqual(complete("workflow", "start", "--type", ""), [], "nothing is guessed");
      assert.deepEqual(complete("completion", ""), ["bash", "fish", "zsh"]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("each shell can parse its completion script", async (t) => {
  for (const shell of ["bash", "zsh", "fish"]) {
    await t.test(shell, { skip: !has(shell) && `no ${shell} here` }, async () => {
      const folder = mkdtempSync(join(tmpdir(), "temporalex-completion-"));
      try {
        writeFileSync(join(folder, "script"), await script(shell));
        const { status, stderr } = spawnSync(shell, ["-n", join(folder, "script")], {
          encoding: "utf8",
        });
        assert.equal(status, 0, stderr);
        assert.equal(stderr, "");
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});

test("every command and every option is in every script", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const text = await script(shell);
    for (const { path, words, options } of nodesOf(COMMANDS)) {
      for (const { name } of words) {
        assert.ok(text.includes(name), `${shell}: ${path.join(" ")} ${name}`);
      }
      for (const { flags } of options) {
        for (const flag of flags) {
          assert.ok(
            text.includes(shell === "fish" ? `-l ${flag.slice(2)}` : flag),
            `${shell}: ${flag}`,
          );
        }
      }
    }
  }
});

test("completion rejects wrong usage and supports JSON output", async () => {
  const wrong = await run(["completion", "bsah"]);
  assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  assert.match(wrong.err, /<shell> is one of bash, zsh, fish, not "bsah"\. Did you mean bash\?/);
  assert.match(
    (await run(["completion"])).err,
    /<shell> is missing; see temporalex completion --help/,
  );
  const json = JSON.parse((await run(["completion", "bash", "--json"])).out) as {
    shell: string;
    script: string;
  };
  assert.equal(json.script, await script("bash"));
});
