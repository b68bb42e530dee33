// What the package is judged by before anybody installs it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { bin } from "../../../tools/lib/steps.mjs";

const json = (...path) => JSON.parse(readFileSync(join(...path), "utf8"));
const walk = (dir) =>
  readdirSync(dir).flatMap((
    n,
  ) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));
const kB = (n) => `${Math.round(n / 1000)} kB`;

/** Runs one of the judges in the checkout; fails with what it printed. */
async function judged({ root, run, noJudges }, name, args, cwd = root) {
  if (noJudges !== undefined) return { skip: noJudges };
  const { status, output } = await run(
    join(root, "tests/system/package/node_modules/.bin", name),
    args,
    {
      cwd,
      env: { NO_COLOR: "1" },
    },
  );
  assert.equal(status, 0, output);
}

export const checks = [
  {
    name: "the package holds what is needed and nothing else",
    test({ made, say }) {
      const files = walk(made.folder).map((file) => relative(made.folder, file));
      const top = files.filter((file) => !/^(?:dist|docs)\//.test(file)).sort();
      assert.deepEqual(top, [
        "CHANGES.md",
        "LICENSE",
        "README.md",
        "THIRD_PARTY_NOTICES.md",
        "import_map.json",
        "jest.cjs",
        "package.json",
      ]);
      const odd = files.filter((file) =>
        file.startsWith("dist/") && !/\.(?:js|d\.ts|wasm)$/.test(file) &&
        file !== "dist/node/page.br"
      );
      assert.deepEqual(odd, []);
      const manifest = json(made.folder, "package.json");
      for (const field of ["private", "scripts", "devDependencies", "main"]) {
        assert.equal(manifest[field], undefined, field);
      }
      say(
        `${made.files} files, ${kB(made.bytes)}; tarball ${kB(made.tarballBytes)}`,
      );
    },
  },
  {
    name: "every link of a text in the package leads to a file of it, or to a site",
    test({ made }) {
      const files = walk(made.folder).map((file) => relative(made.folder, file));
      let links = 0;
      for (const file of files.filter((each) => each.endsWith(".md"))) {
        const text = readFileSync(join(made.folder, file), "utf8").replace(
          /^```[\s\S]*?^```/gm,
          "",
        );
        for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
          if (/^(?:https?:\/\/|#)/.test(link)) continue;
          links++;
          assert.ok(
            files.includes(join(file, "..", link.split("#")[0])),
            `${file} links to ${link}`,
          );
        }
      }
      assert.ok(links > 50, `${links} links`);
    },
  },
  {
    name: "no file of the package names this machine, and what it imports is there or a dependency",
    test({ made, root }) {
      const manifest = json(made.folder, "package.json");
      const dependencies = Object.keys({
        ...manifest.dependencies,
        ...manifest.optionalDependencies,
        ...manifest.peerDependencies,
      });
      for (
        const file of walk(join(made.folder, "dist")).filter((f) => !f.endsWith(".wasm"))
      ) {
        const text = readFileSync(file, "utf8");
        assert.ok(
          !text.includes(root),
          `${file} contains the path of the checkout`,
        );
        const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
        for (
          const [, specifier] of code.matchAll(
            /^(?:import|export)[^"';]*?\bfrom "([^"\s]+)";|^import "([^"\s]+)";/gm,
          )
        ) {
          // (A text that writes a module may have a gap where the name is.)
          if (
            specifier === undefined || specifier.startsWith("node:") || specifier.includes("${")
          ) {
            continue;
          }
          if (!specifier.startsWith(".")) {
            assert.ok(
              [...dependencies, manifest.name].some((d) =>
                specifier === d || specifier.startsWith(`${d}/`)
              ),
              `${file} imports ${specifier}`,
            );
          } else {
            assert.ok(
              !specifier.endsWith(".ts"),
              `${file} imports ${specifier}`,
            );
            const target = join(file, "..", specifier);
            const declared = target.replace(/\.js$/, ".d.ts");
            assert.doesNotThrow(
              () => statSync(file.endsWith(".d.ts") ? declared : target),
              `${file} imports ${specifier}`,
            );
          }
        }
      }
    },
  },
  {
    name: "package.json and deno.json offer the same subpaths from the same sources",
    test({ root }) {
      const npm = json(root, "package.json").exports;
      const jsr = json(root, "deno.json");
      const modules = Object.fromEntries(
        // (JSR has no patterns: there, the import map's lines for deep imports lead nowhere.)
        Object.entries(npm).filter(([key, target]) => target.endsWith(".js") && !key.includes("*"))
          .map((
            [key, target],
          ) => [key, target.replace("./dist/", "./").replace(/\.js$/, ".ts")]),
      );
      assert.deepEqual(jsr.exports, modules);
      for (const [key, source] of Object.entries(modules)) {
        assert.equal(jsr.imports[key.replace(/^\./, "temporalex")], source);
      }
    },
  },
  {
    name: "publint",
    test: (context) => judged(context, "publint", ["run", context.made.folder, "--strict"]),
  },
  {
    name: "attw: types resolve everywhere that ESM does",
    // Files that are not imported by name: they have no types.
    test: (context) =>
      judged(context, "attw", [
        ...[context.made.tarball, "--profile", "esm-only"],
        ...[
          "--exclude-entrypoints",
          "worker.wasm",
          "engine.wasm",
          "import_map.json",
          "compat/jest",
        ],
      ]),
  },
  {
    name: "knip: no unused file, export or dependency",
    test: (context) =>
      judged(context, "knip", [
        "--config",
        "tests/system/package/knip.json",
        "--no-progress",
      ]),
  },
  {
    name: "deno publish --dry-run",
    async test({ root, run, say }) {
      const deno = bin("deno");
      if (deno === undefined || (await run(deno, ["--version"])).status !== 0) {
        return { skip: "the npm package deno has no binary here" };
      }
      // The suite `types` checks the same sources; Deno takes a minute for it.
      const { status, output } = await run(deno, [
        "publish",
        "--dry-run",
        "--allow-dirty",
        "--no-check",
      ], { env: { NO_COLOR: "1" } });
      assert.equal(status, 0, output);
      assert.match(output, /Success/, output);
      assert.doesNotMatch(output, /slow types were/i, output);
      const files = [
        ...output.matchAll(/file:\/\/(\S+) \(([\d.]+)(B|KB|MB)\)/g),
      ].map(([, path]) => relative(root, path));
      const odd = files.filter((f) =>
        !/^ts\/|^(?:LICENSE|README\.md|CHANGES\.md|THIRD_PARTY_NOTICES\.md|deno\.json|package\.json)$/
          .test(f)
      );
      assert.deepEqual(odd, []);
      assert.ok(
        files.includes("ts/mod.ts") && files.includes("THIRD_PARTY_NOTICES.md"),
        output,
      );
      const warnings = [...output.matchAll(/^warning\[[^\n]*\n\s*--> (\S+)/gm)]
        .map((m) => m[0]);
      say(`${files.length} files; ${warnings.length} warnings`);
    },
  },
];
