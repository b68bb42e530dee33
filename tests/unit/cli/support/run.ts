// Runs a command line in this process, with an Io of the test's own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { main } from "../../../../ts/cli/main.ts";
import type { Io } from "../../../../ts/cli/io.ts";

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions extends Partial<Io> {
  /** Text of standard input. */
  readonly input?: string;
}

/** The exit code and everything that was written. Nothing is a terminal unless `options` say so. */
export async function run(
  args: readonly string[],
  options: RunOptions = {},
  program: typeof main = main,
): Promise<Result> {
  let out = "";
  let err = "";
  const { input = "", ...more } = options;
  const io: Io = {
    cwd: ".",
    env: {},
    terminal: false,
    errTerminal: false,
    colors: false,
    errColors: false,
    width: 100,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    read: (path) => Promise.resolve(new Uint8Array(readFileSync(path))),
    stdin: () => Promise.resolve(new TextEncoder().encode(input)),
    interrupt: new AbortController().signal,
    ...more,
  };
  const code = await program(args, io);
  return { code, out, err };
}

/**
 * Of commands that `runs` runs: checks that one fails with this code and these words, and as JSON
 * with the same words.
 */
export function refusals(runs: (args: readonly string[]) => Promise<Result>) {
  return async (code: number, words: RegExp, ...args: string[]): Promise<void> => {
    const text = await runs(args);
    assert.equal(text.code, code, text.out + text.err);
    assert.match(text.err, words);
    assert.doesNotMatch(text.err, /\n\s+at /, "no stack trace");
    const asJson = await runs([...args, "--json"]);
    assert.equal(asJson.code, code);
    assert.match((JSON.parse(asJson.err) as { error: { message: string } }).error.message, words);
  };
}
