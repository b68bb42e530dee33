// Replays one recorded history with one program of the official API and gives the verdict.
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import type { AsyncStorage, ScopeFrame } from "../../../ts/compat/context.ts";
import { KNOWN_FLAGS } from "../../../ts/compat/flags.ts";
import { CompatProgram } from "../../../ts/compat/program.ts";
import { defaultPayloadConverter } from "../../../ts/converter/payload.ts";
import { ErrorKind } from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreError, loadCore } from "../../../ts/core/mod.ts";
import { silentLog } from "../../../ts/executor/program.ts";
import { encodeFailure } from "../../../ts/converter/failure_converter.ts";
import { HistorySchema } from "../../../ts/temporal/generated/temporal/api/history/v1/message_pb.ts";
import type { HistoryJson } from "./corpus.ts";

/** How the context follows async functions; "forgetful" does not, to show that the judges notice. */
export type Mechanism = "asyncLocalStorage" | "rewritten" | "forgetful";

/** Keeps a frame only for the synchronous part of a function. */
class ForgetfulStorage implements AsyncStorage {
  #frame: ScopeFrame | undefined;

  getStore(): ScopeFrame | undefined {
    return this.#frame;
  }

  run<T>(store: ScopeFrame | undefined, fn: () => T): T {
    const before = this.#frame;
    this.#frame = store;
    try {
      return fn();
    } finally {
      this.#frame = before;
    }
  }
}

export interface Verdict {
  verdict: "OK" | "NONDETERMINISM" | "TASK_FAILURE";
  message: string;
}

const programs = new Map<string, Promise<CompatProgram>>();

function programOf(file: string, mechanism: Mechanism): Promise<CompatProgram> {
  const key = `${mechanism} ${file}`;
  let program = programs.get(key);
  if (program === undefined) {
    program = CompatProgram.load({
      entry: file,
      source: {
        read: (path) => readFileSync(path, "utf8"),
        resolve: (specifier, importer) => resolve(dirname(importer), specifier.replace(/(\.ts)?$/, ".ts")),
      },
      ...(mechanism === "rewritten"
        ? {}
        : { asyncStorage: mechanism === "forgetful" ? new ForgetfulStorage() : new AsyncLocalStorage() }),
    });
    programs.set(key, program);
  }
  return program;
}

/** One realm runs one activation at a time, so replays queue up. */
let last: Promise<unknown> = Promise.resolve();

export function replay(file: string, mechanism: Mechanism, workflowId: string, history: HistoryJson): Promise<Verdict> {
  const next = last.then(() => replayNow(file, mechanism, workflowId, history));
  last = next.catch(() => {});
  return next;
}

async function replayNow(file: string, mechanism: Mechanism, workflowId: string, history: HistoryJson): Promise<Verdict> {
  const program = await programOf(file, mechanism);
  const core = await loadCore();
  const started = history.events[0].workflowExecutionStartedEventAttributes;
  const bytes = toBinary(HistorySchema, fromJson(HistorySchema, history as unknown as JsonValue, { ignoreUnknownFields: true }));
  const run = core.createRun({
    namespace: "default",
    identity: "judge",
    jobOrder: program.jobOrder,
    sdkName: program.sdkName,
    knownLangFlags: [...KNOWN_FLAGS],
  });
  const activator = program.createActivator({
    run,
    converter: defaultPayloadConverter,
    log: silentLog,
    namespace: "default",
    workflowType: started.workflowType.name,
    workflowId,
    runId: started.originalExecutionRunId,
    callSites: false,
  });
  try {
    run.startReplay(workflowId, bytes);
    for (;;) {
      const { kind } = run.next();
      switch (kind?.$case) {
        case "activation":
          try {
            await activator.activate(kind.value);
          } catch (error) {
            run.failActivation(encodeFailure(error));
            break;
          }
          run.finishActivation();
          break;
        case "outcome": {
          const { error } = kind.value;
          if (error === undefined) return { verdict: "OK", message: "" };
          return { verdict: verdictOf(error.kind), message: error.message };
        }
        default:
          throw new Error(`a replay of a whole history asked for ${kind?.$case}`);
      }
    }
  } catch (error) {
    if (error instanceof CoreError) return { verdict: verdictOf(error.data.kind), message: error.message };
    throw error;
  } finally {
    activator.dispose();
    run.dispose();
  }
}

function verdictOf(kind: ErrorKind): Verdict["verdict"] {
  return kind === ErrorKind.ERROR_KIND_NONDETERMINISM ? "NONDETERMINISM" : "TASK_FAILURE";
}
