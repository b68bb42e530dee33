#!/usr/bin/env node
// Checks that the committed modules match the sources. Without Rust: the hash of the sources equals
// the manifest's, the bytes equal the manifest's hashes, and each half names the same source hash
// at run time, imports only wasm-bindgen's functions, has no code of the other half, and fits its
// size budget. With --rebuild and a toolchain it builds again: with the toolchain of the manifest
// the bytes must be equal, with another one the runtime tests run on the rebuilt modules, and the
// output reports this.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sha256, sourceHash } from "./core_source_hash.mjs";
import { readCommandLine } from "./lib/command_line.mjs";
import { bytesOf, HALVES } from "./lib/halves.mjs";
import { root, run } from "./lib/steps.mjs";

const HELP = `usage: node tools/check_generated.mjs [--rebuild]

Checks that the committed WebAssembly modules in ts/core/generated match core-rs and their size limits.

--rebuild  also build the modules again and, with the toolchain of the manifest, compare the bytes

Example: node tools/check_generated.mjs --rebuild
Exit code: 0 the modules match; 1 a module differs or is too large; 2 wrong usage.`;
const { values } = readCommandLine(HELP, { rebuild: { type: "boolean" } });

/**
 * By half, in bytes. The engine's grew with resets (the state of a run from its events), operators'
 * changes of activities, the register of search attributes, eager tasks, priorities, Nexus
 * operations with callbacks, requests that attach to runs, and limits of task queues.
 */
const LIMITS = {
  worker: { raw: 320 * 1024, gzip: 124 * 1024 },
  engine: { raw: 776 * 1024, gzip: 306 * 1024 },
};
const generated = join(root, "ts/core/generated");
const manifest = JSON.parse(readFileSync(join(generated, "manifest.json"), "utf8"));
const problems = [];
const sizes = [];
const check = (ok, text) => void (ok || problems.push(text));

check(
  sourceHash(root) === manifest.sourceHash,
  "core-rs changed since the modules were built: run node tools/build_core.mjs",
);
for (const half of Object.keys(HALVES)) {
  const wasm = bytesOf(root, half);
  const js = readFileSync(join(generated, `${half}.js`));
  const gzip = gzipSync(wasm, { level: 9 }).length;
  sizes.push(`${half}.wasm ${wasm.length} bytes (${gzip} gzipped)`);
  const { wasmSha256, jsSha256 } = manifest[half];
  const again = "run node tools/build_core.mjs";
  check(
    sha256(wasm) === wasmSha256,
    `${half}_wasm.ts does not hold the module of the manifest: ${again}`,
  );
  check(sha256(js) === jsSha256, `${half}.js is not the glue of the manifest: ${again}`);
  check(
    wasm.length <= LIMITS[half].raw,
    `${half}.wasm has ${wasm.length} bytes, over the budget of ${LIMITS[half].raw}`,
  );
  check(
    gzip <= LIMITS[half].gzip,
    `${half}.wasm has ${gzip} bytes gzipped, over the budget of ${LIMITS[half].gzip}`,
  );
  const module = new WebAssembly.Module(wasm);
  const foreign = WebAssembly.Module.imports(module).filter((i) =>
    !/^__wbindgen_|^__wbg_/.test(i.name)
  );
  check(
    foreign.length === 0,
    `${half}.wasm imports more than wasm-bindgen's own: ${foreign.map((i) => i.name).join(", ")}`,
  );
  for (const [other, { exported }] of Object.entries(HALVES)) {
    const has = WebAssembly.Module.exports(module).some((e) =>
      e.name === `${exported.toLowerCase()}_new`
    );
    check(
      has === (other === half),
      `${half}.wasm ${has ? "exports" : "does not export"} what makes a ${exported}`,
    );
  }
  const { createGlue, sourceHash: named } = await import(join(generated, `${half}.js`));
  check(named === manifest.sourceHash, `${half}.js names another source hash than the manifest`);
  const glue = createGlue();
  glue.initSync({ module });
  check(
    Buffer.from(glue.core_info()).includes(manifest.sourceHash),
    `${half}.wasm, when it runs, names another source hash than the manifest`,
  );
}

if (values.rebuild && problems.length === 0) {
  const out = mkdtempSync(join(tmpdir(), "core-rebuild-"));
  const r = await run(process.execPath, ["tools/build_core.mjs", "--out", out], {
    timeoutMs: 75 * 60_000,
  });
  if (r.status !== 0) problems.push(`the rebuild failed:\n${r.output.slice(-4000)}`);
  else {
    const again = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
    const same = ["rustc", "wasmBindgen", "binaryen"].every((k) => again[k] === manifest[k]);
    for (const half of same ? Object.keys(HALVES) : []) {
      check(
        again[half].wasmSha256 === manifest[half].wasmSha256,
        `the committed ${half}.wasm differs from a build by the same toolchain; run node tools/build_core.mjs and commit the result`,
      );
    }
    if (!same) {
      console.log(
        `another toolchain than the manifest's (${again.rustc} against ${manifest.rustc}): bytes are not compared`,
      );
    }
    if (same) console.log("rebuilt: byte for byte the committed modules");
  }
  rmSync(out, { recursive: true, force: true });
}

if (problems.length > 0) {
  for (const p of problems) console.error(`check_generated: ${p}`);
  process.exit(1);
}
console.log(`generated: ${sizes.join(", ")}; sources and binaries agree`);
