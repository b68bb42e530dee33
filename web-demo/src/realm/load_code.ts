// Loads the files of a code set as the module graph that a realm evaluates. Runs no code, and
// parses in a worker.
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import { type Problem, WorkflowLoadError } from "../../../ts/modules/loader/errors.ts";
import type { ModuleGraph } from "../../../ts/modules/loader/module_graph.ts";
import type { LineOptions } from "../../../ts/modules/sources.ts";
import type { CodeFile, CodeSet } from "../store/code_set.ts";
import type { FromLoader, ToLoader } from "./loader/protocol.ts";
import { explained } from "./missing_imports.ts";

/** The input of a realm. */
export interface LoadedCode {
  readonly graph: ModuleGraph;
  readonly hasConverter: boolean;
  /** The code set with only the files that are needed. */
  readonly code: CodeSet;
}

/** Limit for the files of one graph. */
const MOST_BYTES = 128 * 1024 * 1024;
/** Limit for parsing between two requests for files. */
const LOAD_MS = 20_000;
/** Limit for adapting a repair to the user's lines. After it the repair is shown without them. */
const REPAIR_MS = 2_000;

/** Loads code sets in a worker, one at a time. */
export class CodeLoader {
  #worker: Worker | undefined;
  #nextId = 1;
  #open:
    | { readonly id: number; receive(message: FromLoader): void; fail(error: Error): void }
    | undefined;

  /**
   * Rejects with a WorkflowLoadError that lists file and line of all errors, and when the next load
   * begins.
   */
  async load(code: CodeSet, lines: LineOptions = true): Promise<LoadedCode> {
    const id = this.#nextId++;
    this.#open?.fail(new Error("canceled: the code is being loaded again"));
    const worker = this.#worker ??= this.#start();
    let bytes = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    return await new Promise((resolve, reject) => {
      const watch = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          this.stop();
          reject(
            new Error(
              `parsing the code took longer than ${
                LOAD_MS / 1000
              } s; remove files that the workflow does not need`,
            ),
          );
        }, LOAD_MS);
      };
      const fail = (error: Error) => {
        clearTimeout(timer);
        if (this.#open?.id === id) this.#open = undefined;
        reject(error);
      };
      const receive = (message: FromLoader) => {
        switch (message.t) {
          case "want":
            clearTimeout(timer);
            return void read(code, message).then((more) => {
              if (this.#open?.id !== id) return;
              for (const { text } of more.files) bytes += text.length;
              if (bytes > MOST_BYTES) {
                return fail(
                  new Error(`the files of the code are larger than ${MOST_BYTES >> 20} MiB`),
                );
              }
              watch();
              post(worker, { t: "more", id, ...more });
            }, fail);
          case "loaded": {
            const { graph, hasConverter, files } = message;
            clearTimeout(timer);
            this.#open = undefined;
            return resolve({ graph, hasConverter, code: { ...code, files: inOrder(files, code) } });
          }
          case "refused":
            return fail(
              new WorkflowLoadError(
                message.problems.map((problem: Problem) => explained(problem, code)),
              ),
            );
          case "failed":
            return fail(new Error(message.message));
          case "repaired":
            return;
        }
      };
      this.#open = { id, receive, fail };
      const { entry, files } = code;
      watch();
      post(worker, {
        t: "load",
        id,
        set: code.id,
        entry,
        lines,
        files,
        hasMore: code.source !== undefined,
      });
    });
  }

  /** The divergence of the code that was loaded last, with its repair in the lines of its text. */
  async inLines(divergence: Divergence): Promise<Divergence> {
    const worker = this.#worker;
    if (worker === undefined || divergence.repair === undefined) return divergence;
    const id = this.#nextId++;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), REPAIR_MS);
    try {
      return await new Promise((resolve) => {
        late.signal.addEventListener("abort", () => resolve(divergence));
        worker.addEventListener("message", ({ data }: MessageEvent<FromLoader>) => {
          if (data.t === "repaired" && data.id === id) resolve(data.divergence);
        }, { signal: late.signal });
        post(worker, { t: "repair", id, divergence });
      });
    } finally {
      clearTimeout(timer);
      late.abort();
    }
  }

  /** Terminates the worker, whatever it parses. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#open?.fail(new Error("loading was stopped"));
  }

  #start(): Worker {
    const worker = new Worker(new URL("./loader/loader_worker.ts", import.meta.url), {
      type: "module",
      name: "loader",
    });
    worker.onmessage = ({ data }: MessageEvent<FromLoader>) => {
      if (this.#open?.id === data.id) this.#open.receive(data);
    };
    worker.onerror = (event) => {
      const open = this.#open;
      this.stop();
      open?.fail(
        new Error(`the loader failed: ${event.message || "its worker cannot be started"}`),
      );
    };
    return worker;
  }
}

function post(worker: Worker, message: ToLoader): void {
  worker.postMessage(message);
}

type More = Pick<Extract<ToLoader, { t: "more" }>, "files" | "folders">;

async function read({ source }: CodeSet, want: Extract<FromLoader, { t: "want" }>): Promise<More> {
  if (source === undefined) {
    throw new Error("the loader requested a file that the code does not have");
  }
  const [files, folders] = await Promise.all([
    Promise.all(
      want.files.map(async (path): Promise<CodeFile> => ({ path, text: await source.read(path) })),
    ),
    Promise.all(
      want.folders.map(async (
        path,
      ): Promise<More["folders"][number]> => [path, await source.list(path)]),
    ),
  ]);
  return { files, folders };
}

/** The entry first, then the user's files, then packages. Sets without a folder keep all files. */
function inOrder(files: readonly CodeFile[], code: CodeSet): readonly CodeFile[] {
  const all = code.source === undefined ? code.files : files;
  const rank = ({ path }: CodeFile) =>
    path === code.entry ? 0 : path.includes("node_modules/") ? 2 : 1;
  return [...all].sort((a, b) => rank(a) - rank(b));
}
