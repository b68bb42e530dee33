// Fields of a run that lists show and queries test, and that only the engine's state has.
import { EngineHead, WorkflowExecution } from "../../messages/generated/fields.ts";
import { Fields } from "../../messages/wire.ts";

export interface HeadFields {
  /** When the first task may start, in ms since the epoch; 0: as the start. */
  readonly executionTimeMs: number;
  readonly stateTransitions: number;
  /** Empty: the run has no parent. */
  readonly parentWorkflowId: string;
  /** Empty: the run is its own root. */
  readonly rootWorkflowId: string;
}

/** Reads the fields of an encoded head. An undecodable head counts as far as it can be read. */
export function readHeadFields(head: Uint8Array): HeadFields {
  const fields = {
    executionTimeMs: 0,
    stateTransitions: 0,
    parentWorkflowId: "",
    rootWorkflowId: "",
  };
  try {
    for (const at = new Fields(head); at.next();) {
      if (at.tag === EngineHead.executionTimeUs) fields.executionTimeMs = at.int() / 1000;
      else if (at.tag === EngineHead.transitions) fields.stateTransitions = at.int();
      else if (at.tag === EngineHead.parent) fields.parentWorkflowId = workflowIdIn(at.bytes());
      else if (at.tag === EngineHead.root) fields.rootWorkflowId = workflowIdIn(at.bytes());
    }
  } catch {
    // What was read counts.
  }
  return fields;
}

function workflowIdIn(execution: Uint8Array): string {
  for (const at = new Fields(execution); at.next();) {
    if (at.tag === WorkflowExecution.workflowId) return at.text();
  }
  return "";
}
