// Checks a whole store for damage, run by run: SQLite's integrity check, the rows and their state
// (decoded by the core, which has to read them later), the histories, and, if the caller has the
// workflow code, their replay. Nothing is changed.
import { concat } from "../../messages/wire.ts";
import { create, toBinary } from "@bufbuild/protobuf";
import type { CoreEngine } from "../../core/engine.ts";
import { type EngineCore, loadEngineCore } from "../../core/engine_half.ts";
import { EngineMethod } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { fromBinary } from "@bufbuild/protobuf";
import {
  MemoSchema,
  SearchAttributesSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { DescribeWorkflowExecutionRequestSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code } from "../../service/raw.ts";
import type { RunRecord, RunRow } from "../store.ts";
import type { StoredRunState, StoreReader } from "../sqlite/reader.ts";
import { checkEvents, decodeEvents } from "./check_history.ts";
import { type Findings, noFindings } from "./findings.ts";
import { checkHead, checkRow } from "./check_row.ts";

export interface StoreProblem {
  /** "" for a problem of the whole file. */
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly message: string;
}

export interface StoreCheck {
  readonly runs: number;
  readonly openRuns: number;
  readonly events: number;
  /** Number of replayed histories. */
  readonly replayed: number;
  /** Damage. */
  readonly problems: readonly StoreProblem[];
  /** Oddities that are not damage, for example events of a newer server. */
  readonly notes: readonly StoreProblem[];
}

export interface CheckOptions {
  onProgress?(checked: number, total: number): void;
  /** Called with each problem as it is found. */
  onProblem?(problem: StoreProblem): void;
  /** Replays a history; resolves to what is wrong, or undefined. */
  replay?(row: RunRow, history: Uint8Array): Promise<string | undefined>;
  signal?: AbortSignal;
  core?: EngineCore;
}

/** Checks everything in the reader's snapshot. Throws only for causes outside the store. */
export async function checkStore(
  reader: StoreReader,
  options: CheckOptions = {},
): Promise<StoreCheck> {
  const { onProgress, onProblem, replay, signal } = options;
  const problems: StoreProblem[] = [];
  const notes: StoreProblem[] = [];
  const about = (message: string, row?: RunRow): StoreProblem => {
    const { workflowId = "", runId = "", workflowType = "" } = row ?? {};
    return { workflowId, runId, workflowType, message };
  };
  const found = (message: string, row?: RunRow) => {
    const problem = about(message, row);
    problems.push(problem);
    onProblem?.(problem);
  };
  let [runs, openRuns, events, replayed] = [0, 0, 0, 0];
  for (const message of reader.integrity()) found(message);
  const decoder = new StateDecoder(options.core ?? await loadEngineCore());
  try {
    reader.hold();
    const total = reader.count();
    onProgress?.(0, total);
    for (const run of reader.runs()) {
      signal?.throwIfAborted();
      runs++;
      if (run.row.status === WorkflowExecutionStatus.RUNNING) openRuns++;
      const findings = noFindings();
      findings.problems.push(...checkState(run.row), ...decoder.check(run.record));
      // A state that the core cannot decode needs no second message.
      if (findings.problems.length === 0) {
        findings.problems.push(...checkHead(run.row, run.record.head));
      }
      const history = readHistory(run, findings);
      events += history.events;
      if (findings.problems.length === 0 && replay !== undefined) {
        replayed++;
        const message = await replay(run.row, concat(history.parts));
        if (message !== undefined) findings.problems.push(message);
      }
      for (const message of findings.problems) found(message, run.row);
      for (const message of findings.notes) notes.push(about(message, run.row));
      onProgress?.(runs, total);
    }
  } catch (e) {
    if (signal?.aborted) throw e;
    found(`the remaining runs cannot be read: ${(e as Error).message}`);
  } finally {
    decoder.close();
    try {
      reader.release();
    } catch {
      // A badly damaged file has ended the read transaction by itself.
    }
  }
  return { runs, openRuns, events, replayed, problems, notes };
}

function checkState(row: RunRow): string[] {
  const messages: string[] = [];
  for (
    const [what, schema, bytes] of [["memo", MemoSchema, row.memo], [
      "search attributes",
      SearchAttributesSchema,
      row.searchAttributes,
    ]] as const
  ) {
    try {
      fromBinary(schema, bytes);
    } catch (e) {
      messages.push(`its ${what} cannot be decoded: ${(e as Error).message}`);
    }
  }
  return messages;
}

function readHistory(run: StoredRunState, into: Findings): { parts: Uint8Array[]; events: number } {
  let parts: Uint8Array[];
  try {
    parts = run.history();
  } catch (e) {
    into.problems.push(`its history cannot be read: ${(e as Error).message}`);
    return { parts: [], events: 0 };
  }
  const events = decodeEvents(parts, into.problems);
  if (events === undefined) return { parts, events: 0 };
  for (
    const { problems, notes } of [checkEvents(events), checkRow(run.row, events, run.record.items)]
  ) {
    into.problems.push(...problems);
    into.notes.push(...notes);
  }
  return { parts, events: events.length };
}

/**
 * Decodes the state with the core, which owns the format of heads and items. Its effects are
 * dropped.
 */
class StateDecoder {
  readonly #core: EngineCore;
  #engine: CoreEngine | undefined;
  #requests = 0;

  constructor(core: EngineCore) {
    this.#core = core;
  }

  check(record: RunRecord): string[] {
    const { workflowId, runId } = record.row!;
    try {
      const engine = this.#engine ??= this.#core.createEngine({
        namespace: "default",
        seed: crypto.getRandomValues(new Uint8Array(32)),
        inFlightLost: false,
      });
      const request = toBinary(
        DescribeWorkflowExecutionRequestSchema,
        create(DescribeWorkflowExecutionRequestSchema, {
          namespace: "default",
          execution: { workflowId, runId },
        }),
      );
      const id = ++this.#requests;
      // At time 0 no timer is due.
      engine.request(id, EngineMethod.ENGINE_METHOD_DESCRIBE_WORKFLOW_EXECUTION, request, 0);
      let flush = engine.flush();
      while (flush.loads.length > 0) {
        for (const _ of flush.loads) engine.load(record, 0);
        flush = engine.flush();
      }
      // Drops what the run would have changed.
      engine.aborted();
      engine.forget(runId);
      const error = flush.replies.find((reply) => reply.requestId === id)?.error;
      if (error === undefined) return [];
      return [
        error.code === Code.DATA_LOSS
          ? "its state cannot be decoded"
          : `its state cannot be used: ${error.message}`,
      ];
    } catch (e) {
      this.#engine = undefined;
      return [`its state crashes the core: ${(e as Error).message}`];
    }
  }

  close(): void {
    this.#engine?.dispose();
  }
}
