// Child processes that run one of our modules in the runtime that runs the test.
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

export interface Child {
  readonly process: ChildProcess;
  /** Lines of standard output; ends with the process. */
  readonly lines: AsyncIterableIterator<string>;
  readonly exited: Promise<void>;
  /** What it wrote to standard error. */
  errors(): string;
}

export function startModule(
  module: URL,
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): Child {
  const deno = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : ["--no-warnings"];
  const child = spawn(process.execPath, [...deno, fileURLToPath(module), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let errors = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => errors += text);
  const exited = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return { process: child, lines: linesOf(child), exited, errors: () => errors };
}

async function* linesOf(child: ChildProcess): AsyncIterableIterator<string> {
  let rest = "";
  for await (const chunk of child.stdout!.setEncoding("utf8")) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    yield* parts;
  }
  // An unfinished last line was cut off by a kill.
}

/** The next line; throws when the process ended instead. */
export async function nextLine(child: Child): Promise<string> {
  const { value, done } = await child.lines.next();
  if (done) throw new Error(`the child ended without a line: ${child.errors()}`);
  return value;
}

export async function kill(child: Child): Promise<void> {
  child.process.kill("SIGKILL");
  await child.exited;
}
