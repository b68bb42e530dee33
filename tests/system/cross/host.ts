// The comparison's runtime in Node and Deno: a request is one line of JSON on standard input, a
// response one line on standard output.
import process from "node:process";
import { createInterface } from "node:readline";
import { answer } from "./lab.ts";

for await (const line of createInterface({ input: process.stdin })) {
  let text: string;
  try {
    text = JSON.stringify({ ok: await answer(JSON.parse(line)) });
  } catch (e) {
    text = JSON.stringify({ error: String((e as Error).stack ?? e) });
  }
  process.stdout.write(`${text}\n`);
}
// Realms that are still there would keep the process.
process.exit(0);
