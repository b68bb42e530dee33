// The workers that the cluster bench compares, each started in a separate process, and the system's
// figures of that process.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/**
 * `official`: Temporal's SDK with workflows bundled ahead, as it advises for production; `sources`:
 * it bundles them at its start.
 */
export type Variant = "node" | "deno" | "official" | "sources";

export interface WorkerAsk {
  variant: Variant;
  address: string;
  taskQueue: string;
  /** 0: the worker's own default. */
  cached?: number;
  /** Folder for V8's CPU profile of the worker, where it is Node; written when it ends. */
  profile?: string | undefined;
  /** Opens its inspector, on a port of the loopback that is free. */
  inspect?: boolean;
}

const OFFICIAL = join(process.cwd(), "bench/cluster/official_worker.mjs");
const OURS = new URL("./our_worker.ts", import.meta.url);
/** The unit of /proc's times, in hertz; fixed for programs on Linux whatever the kernel runs at. */
const TICKS = 100;
const PAGE = 4096;

export class Variants {
  readonly #bundle: string;
  readonly #deno: string;
  readonly #published: string;

  private constructor(bundle: string, deno: string, published: string) {
    this.#bundle = bundle;
    this.#deno = deno;
    this.#published = published;
  }

  /**
   * Bundles the official SDK's workflows into a file of `folder`, if it takes part; looks for Deno,
   * if that does. `published` is the folder of our package, or "" for the checkout.
   */
  static make(wanted: readonly Variant[], folder: string, published: string): Variants {
    const bundle = join(folder, "official_workflows.js");
    if (wanted.includes("official")) {
      const { status, stderr } = spawnSync(process.execPath, [OFFICIAL, "--bundle", bundle], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`the official SDK's workflows were not bundled: ${stderr}`);
    }
    return new Variants(bundle, wanted.includes("deno") ? denoBinary() : "", published);
  }

  #command(
    { variant, address, taskQueue, cached = 0, profile, inspect }: WorkerAsk,
  ): [string, string[]] {
    const rest = [address, taskQueue, String(cached)];
    const look = inspect === true ? ["--inspect=127.0.0.1:0"] : [];
    const flags = [
      ...look,
      ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
    ];
    if (variant === "node") {
      return [process.execPath, [...flags, fileURLToPath(OURS), ...rest, this.#published]];
    }
    // Deno runs the sources, Node what is stripped from them.
    if (variant === "deno") {
      return [this.#deno, [
        "run",
        "-A",
        ...look,
        "bench/cluster/our_worker.ts",
        ...rest,
        this.#published,
      ]];
    }
    return [process.execPath, [
      ...flags,
      OFFICIAL,
      ...rest,
      variant === "official" ? this.#bundle : "",
    ]];
  }

  /** Starts a worker; does not wait until it is ready. */
  start(ask: WorkerAsk): WorkerProcess {
    const [command, argv] = this.#command(ask);
    const child = spawn(command, argv, {
      stdio: ["pipe", "pipe", ask.inspect === true ? "pipe" : "inherit"],
    });
    return new WorkerProcess(ask.variant, child);
  }
}

/** A worker's process. */
export class WorkerProcess {
  readonly variant: Variant;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #ready: Promise<void>;
  readonly #inspector: Promise<string>;
  #stopping = false;

  constructor(variant: Variant, child: ChildProcess) {
    this.variant = variant;
    this.#child = child;
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    this.#exited = new Promise((resolve) =>
      child.once("exit", () => {
        process.off("exit", kill);
        resolve();
      })
    );
    const ended = new Promise<never>((_, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        if (this.#stopping) return;
        reject(
          new Error(
            `the worker "${variant}" ended by itself (${signal ?? code}); its words are above`,
          ),
        );
      });
    });
    this.#ready = Promise.race([
      new Promise<void>((resolve) => child.stdout!.once("data", () => resolve())),
      ended,
    ]);
    this.#inspector = Promise.race([inspectorOf(child), ended]);
    this.#inspector.catch(() => {});
    // A caller that waits for the worker gets the error; a run that waits for its tasks has a
    // separate deadline.
    this.#ready.catch(() => {});
    ended.catch(() => {});
  }

  /** Resolves when it has begun to poll. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Where its inspector listens, if it was asked to. */
  inspector(): Promise<string> {
    return this.#inspector;
  }

  /** Ends it: at once, or (for a profile) as a worker ends in order. */
  async stop(inOrder = false): Promise<void> {
    this.#stopping = true;
    if (inOrder) this.#child.stdin!.end();
    else this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** CPU seconds of all its threads so far. */
  cpu(): number {
    return cpuSeconds(this.#child.pid!);
  }

  /** Bytes of memory that it has resident. */
  rss(): number {
    return Number(readFileSync(`/proc/${this.#child.pid}/statm`, "utf8").split(" ")[1]) * PAGE;
  }
}

/** The address that a runtime prints on standard error; all other output there is passed on. */
function inspectorOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let said = "";
    stderr?.on("data", (chunk: Uint8Array) => {
      const text = String(chunk);
      const at = /Debugger listening on (ws:\S+)/.exec(said += text)?.[1];
      if (at !== undefined) resolve(at);
      if (!/^(?:Debugger|Visit chrome|For help, see)/.test(text)) process.stderr.write(text);
    });
  });
}

/**
 * Deno's own binary: the program of its npm package is a script that starts it and would be
 * measured in its place.
 */
function denoBinary(): string {
  const script = join(process.cwd(), "node_modules/.bin/deno");
  const { status, stdout, stderr } = spawnSync(script, ["eval", "console.log(Deno.execPath())"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(`Deno does not start (leave it out with --workers=node,official): ${stderr}`);
  }
  return stdout.trim();
}

/** CPU seconds that a process has taken, user and system. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
