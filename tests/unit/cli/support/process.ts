// The command line as a separate process, in the runtime of the test.
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

export interface Started {
  readonly child: ChildProcess;
  /** JSON lines of standard output so far. */
  readonly lines: { readonly [field: string]: unknown }[];
  readonly err: () => string;
  /**
   * The first matching line from index `from` on; rejects if the process ends before, or after two
   * minutes.
   */
  line(
    what: string,
    is: (line: { readonly [field: string]: unknown }) => boolean,
    from?: number,
  ): Promise<{ readonly [field: string]: unknown }>;
  /** Sends a signal and waits for the end; the exit code. */
  end(signal?: "SIGINT" | "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

export function startCommand(args: readonly string[], cwd: string): Started {
  const main = fileURLToPath(new URL("../../../../ts/cli/main.ts", import.meta.url));
  // Deno says that it is Node, too.
  const deno = "Deno" in globalThis;
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const command = deno ? ["run", "-A", "--no-check", "--config", `${root}deno.json`, main] : [main];
  const child = spawn(process.execPath, [...command, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: { [field: string]: unknown }[] = [];
  let rest = "";
  let err = "";
  let ended = false;
  let look = () => {};
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    for (const part of parts) if (/^\{.*\}$/.test(part)) lines.push(JSON.parse(part));
    look();
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => err += text);
  const exited = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      ended = true;
      look();
      resolve(code);
    })
  );
  return {
    child,
    lines,
    err: () => err,
    line: (what, is, from = 0) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) =>
          reject(new Error(`${what}: ${why}\n${JSON.stringify(lines, undefined, 1)}\n${err}`));
        const timer = setTimeout(() => fail("not within two minutes"), 120_000);
        look = () => {
          const found = lines.slice(from).find(is);
          if (found === undefined && !ended) return;
          clearTimeout(timer);
          if (found !== undefined) resolve(found);
          else fail("the process has ended");
        };
        look();
      }),
    end(signal) {
      // Not child.kill: Deno then says that the signal ended the process, whatever did.
      if (signal !== undefined && !ended) {
        try {
          process.kill(child.pid!, signal);
        } catch (e) {
          // It ended by itself, and its last lines are still to be read.
          if ((e as { code?: string }).code !== "ESRCH") throw e;
        }
      }
      return exited;
    },
  };
}
