// The docstrings and the reference that is made from them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bin } from "../../../tools/lib/steps.mjs";
import { writeReference } from "../../../tools/docs_api.mjs";

/** Fields have a docstring where it adds something (tests/house/docstrings.test.ts). */
const FIELD = /^\s+(?:(?:readonly|static|override|declare) )*(?:"?[\w$]+"?|\[\w+\])[?!]?(?::| =|;)/;

/**
 * Members whose names are sufficient, or whose docstring is elsewhere: at the first overload, or in
 * the implemented interface.
 */
function excused(lines, at) {
  const line = lines[at].trim();
  if (FIELD.test(lines[at]) || /^(?:private |protected )?constructor\(/.test(line)) return true;
  const name =
    /^(?:export )?(?:async )?(?:static )?(?:override )?(?:readonly |function |get )?(\w+)/
      .exec(line)?.[1];
  const indent = /^\s*/.exec(lines[at])[0];
  const signature = new RegExp(
    `^${indent}(?:export )?(?:async )?(?:function )?${name}\\b[<(]`,
  );
  for (let i = at - 1; i >= 0 && lines[i].trim() !== ""; i--) {
    if (signature.test(lines[i])) return true;
  }
  const owner = lines.slice(0, at).findLast((l) =>
    /^(?:export )?(?:abstract )?(?:class|interface) /.test(l)
  );
  return indent !== "" && / implements /.test(owner ?? "") && line !== owner;
}

// deno-lint-ignore no-control-regex -- colors
const unescaped = (text) => text.replaceAll(/\u001b\[[\d;]*m/g, "");

export const docs = [
  {
    name: "every public class, type, function and method has a docstring",
    async test({ root, run, say }) {
      const deno = bin("deno");
      if (deno === undefined || (await run(deno, ["--version"])).status !== 0) {
        return { skip: "the npm package deno has no binary here" };
      }
      const { exports } = JSON.parse(
        readFileSync(join(root, "deno.json"), "utf8"),
      );
      const { output } = await run(deno, [
        "doc",
        "--lint",
        ...Object.values(exports),
      ], { env: { NO_COLOR: "1" } });
      const found = [
        ...unescaped(output).matchAll(
          /error\[missing-jsdoc\][^\n]*\n\s*--> (\S+):(\d+):\d+/g,
        ),
      ]
        .map(([, file, line]) => ({
          file: file.slice(root.length),
          line: Number(line),
        }))
        // Messages that are generated from .proto files have their words there.
        .filter(({ file }) => !file.includes("/generated/") && !file.startsWith("generated/"));
      const files = new Map();
      const lines = (file) =>
        files.get(file) ??
          files.set(file, readFileSync(join(root, file), "utf8").split("\n"))
            .get(file);
      const missing = found.filter(({ file, line }) => !excused(lines(file), line - 1));
      assert.deepEqual(
        missing.map(({ file, line }) => `${file}:${line}: ${lines(file)[line - 1].trim()}`),
        [],
      );
      assert.ok(
        found.length > 0,
        `the lint of deno doc names nothing at all any more: ${output.slice(0, 2000)}`,
      );
      say(
        `${found.length} members need none (fields, constructors, overloads, methods of interfaces)`,
      );
    },
  },
  {
    name: "the API reference: a page for each subpath, no link that leads nowhere",
    async test({ work, made, noJudges, say }) {
      if (noJudges !== undefined) return { skip: noJudges };
      const out = join(work, "api");
      const pages = await writeReference(out);
      const { exports } = JSON.parse(
        readFileSync(join(made.folder, "package.json"), "utf8"),
      );
      const subpaths = Object.keys(exports).filter((key) => exports[key].types)
        .map((key) => key === "." ? "temporalex" : key.slice(2));
      assert.deepEqual(Object.keys(pages).sort(), subpaths.sort());
      const text = (name) => readFileSync(join(out, pages[name]), "utf8");
      for (const name of subpaths) {
        assert.match(text(name), /^# .*\n\n\S/, name);
      }
      // Classes are shown with their members, though entries export them wrapped.
      for (
        const [page, member] of [["worker", "shutdown"], ["engine", "close"], [
          "testing",
          "advance",
        ], [
          "client",
          "signalWithStart",
        ]]
      ) {
        assert.match(
          text(page),
          new RegExp(`^##### ${member}\\(\\)`, "m"),
          `${page}: ${member}`,
        );
      }
      const all = readdirSync(out, { recursive: true }).filter((f) => f.endsWith(".md"));
      for (const file of all) {
        const page = readFileSync(join(out, file), "utf8");
        for (
          const [, target] of page.matchAll(
            /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g,
          )
        ) {
          assert.ok(
            all.includes(join(file, "..", target)),
            `${file} links to ${target}`,
          );
        }
      }
      say(
        `${all.length} files, ${
          Math.round(
            all.reduce((sum, f) => sum + readFileSync(join(out, f)).length, 0) /
              1000,
          )
        } kB`,
      );
    },
  },
];
