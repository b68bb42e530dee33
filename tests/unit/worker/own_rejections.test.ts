// Unhandled rejections of the program itself, while a worker listens for those of its activities:
// the process ends, warns or continues, as set by Node's option --unhandled-rejections. Deno has no
// such option.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startModule } from "../engine/support/child.ts";

const MODES = "Deno" in globalThis
  ? []
  : ["", "throw", "strict", "warn", "none", "warn-with-error-code"];

async function end(copies: number, mode: string) {
  const module = new URL(
    `./modules/own_rejection.${import.meta.url.endsWith(".js") ? "js" : "ts"}`,
    import.meta.url,
  );
  const child = startModule(
    module,
    [String(copies)],
    mode === "" ? {} : { NODE_OPTIONS: `--unhandled-rejections=${mode}` },
  );
  const lines: string[] = [];
  for await (const line of child.lines) lines.push(line);
  await child.exited;
  return { code: child.process.exitCode, lines, said: /of the program/.test(child.errors()) };
}

for (const mode of MODES) {
  test(`with ${mode === "" ? "Node's default" : mode} a rejection of the program ends as without a worker`, async () => {
    const [plain, one, two] = await Promise.all([end(0, mode), end(1, mode), end(2, mode)]);
    assert.deepEqual(one, plain);
    assert.deepEqual(two, plain, "with two copies of the package");
  });
}
