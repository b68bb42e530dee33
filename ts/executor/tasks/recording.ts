// A command port that records its calls: per activation the encoded commands in order, and
// optionally their call sites. Used by byte-identity tests, the replay command, the debugger, and
// for divergences.
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Activation,
  CommandKind,
  FailWorkflow,
  QueryResult,
  RecordSideEffect,
  UpdateResponse,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { errorText, nameOf, safeText, stackOf } from "../../converter/thrown.ts";
import { callSite, userFrame } from "../program/call_site.ts";
import type { MessageKind, MessageSite } from "../program/definition_sites.ts";
import { encodeWith } from "../program/encode.ts";
import type { CommandPort } from "../program/program.ts";
import { current } from "../program/current.ts";

export interface RecordedCommand {
  readonly kind: CommandKind;
  /** A cancel of `seq` instead of a new command. */
  readonly cancel: boolean;
  readonly seq: number;
  /**
   * Attributes, with stack traces reduced to "type: message", so that all runtimes give the same
   * bytes.
   */
  readonly attributes: Uint8Array;
  /** Encoded EventGroups, if any. */
  readonly groups?: Uint8Array;
  /** The user frame, if call sites are recorded; "" for commands of the executor. */
  readonly site: string;
}

export interface RecordedActivation {
  readonly startedEventId: number;
  readonly historyLength: number;
  readonly timeMs: number;
  readonly isReplaying: boolean;
  readonly queryOnly: boolean;
  readonly commands: RecordedCommand[];
}

/** A patch that the code requested and history lacks. */
export interface MissedPatch {
  readonly patchId: string;
  /** Id of the WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /** The user frame, if call sites are recorded. */
  readonly site: string;
}

/**
 * A branch of `parallel` that ended with an error of JavaScript: its result is the error, and the
 * run continues.
 */
export interface FailedBranch {
  /** "branch 2 of parallel in run". */
  readonly branch: string;
  /** "ReferenceError: missing is not defined". */
  readonly error: string;
  /** Id of the WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /** The user frame that threw. */
  readonly site: string;
}

/** A handler that ended with an error: its update failed, or its signal was logged. */
export interface FailedHandler {
  /** `handler of update "add"`. */
  readonly handler: string;
  /** Protocol instance id of the update; undefined for a signal. */
  readonly updateId: string | undefined;
  /** "Error: sold out". */
  readonly error: string;
  /** Id of the WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /** The user frame that threw; "" for a value that is not an error. */
  readonly site: string;
}

/** Characters of an error in a sentence. */
const MAX_SHOWN_ERROR = 200;
/** Errors that code with a mistake throws; others may be a decision of the workflow. */
const MISTAKES: ReadonlySet<string> = new Set([
  "ReferenceError",
  "TypeError",
  "RangeError",
  "SyntaxError",
]);

export class Recorder implements CommandPort {
  readonly activations: RecordedActivation[] = [];
  readonly missedPatches: MissedPatch[] = [];
  readonly failedBranches: FailedBranch[] = [];
  readonly failedHandlers: FailedHandler[] = [];
  readonly #handlers = new Map<string, MessageSite>();
  readonly #port: CommandPort;
  readonly #callSites: boolean;
  #commands: RecordedCommand[] = [];

  constructor(port: CommandPort, callSites: boolean) {
    this.#port = port;
    this.#callSites = callSites;
  }

  /** Attributes later commands to this activation. */
  begin(activation: Activation): void {
    const { startedEventId, historyLength, timeMs, isReplaying, queryOnly } = activation;
    this.#commands = [];
    this.activations.push({
      startedEventId,
      historyLength,
      timeMs,
      isReplaying,
      queryOnly,
      commands: this.#commands,
    });
  }

  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): number {
    // Issued after the run function has ended, for its earlier call.
    const isContinuing = kind === CommandKind.COMMAND_KIND_CONTINUE_AS_NEW && this.#callSites;
    const site = this.#site(this.command) || (isContinuing ? current.run?.continuedAt ?? "" : "");
    const seq = this.#port.command(kind, attributes, groups);
    this.#commands.push({
      kind,
      cancel: false,
      seq,
      attributes: reduceStacks(kind, attributes),
      site,
      ...(groups && { groups }),
    });
    return seq;
  }

  cancel(kind: CommandKind, seq: number, groups?: Uint8Array): void {
    const site = this.#site(this.cancel);
    this.#port.cancel(kind, seq, groups);
    this.#commands.push({
      kind,
      cancel: true,
      seq,
      attributes: new Uint8Array(0),
      site,
      ...(groups && { groups }),
    });
  }

  /**
   * Native primitives store their call site in the fiber; commands between turns are the
   * executor's.
   */
  #site(above: unknown): string {
    if (!this.#callSites) return "";
    if (current.fiber !== undefined) return current.fiber.lastSite;
    if (current.run?.isNative === true) return "";
    return current.run?.site || callSite(1, above);
  }

  patchMissed(patchId: string): void {
    if (!this.#callSites) return;
    const startedEventId = this.activations.at(-1)?.startedEventId ?? 0;
    this.missedPatches.push({ patchId, startedEventId, site: this.#site(this.patchMissed) });
  }

  branchFailed(branch: string, error: unknown): void {
    if (!this.#callSites || !MISTAKES.has(nameOf(error))) return;
    this.failedBranches.push({ branch, ...this.#failure(error) });
  }

  handlerFailed(handler: string, error: unknown, updateId: string | undefined): void {
    if (this.#callSites) this.failedHandlers.push({ handler, updateId, ...this.#failure(error) });
  }

  #failure(error: unknown): Pick<FailedHandler, "error" | "startedEventId" | "site"> {
    return {
      error: safeText(errorText(error), MAX_SHOWN_ERROR),
      startedEventId: this.activations.at(-1)?.startedEventId ?? 0,
      site: userFrame(stackOf(error)),
    };
  }

  /** Recorded as a command, so that it is compared with the event that history has in its place. */
  sideEffectMissed(id: number): void {
    const site = this.#site(this.sideEffectMissed);
    const kind = CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT;
    this.#commands.push({
      kind,
      cancel: false,
      seq: 0,
      attributes: encodeWith(RecordSideEffect, { id, payload: undefined }),
      site,
    });
  }

  handlerSet(kind: MessageKind, name: string): void {
    if (this.#callSites) {
      this.#handlers.set(`${kind} ${name}`, { kind, name, site: callSite(1, this.handlerSet) });
    }
  }

  /** Handlers, each with the line where it was last set, and signals that code has waited for. */
  get handlers(): MessageSite[] {
    return [...this.#handlers.values()];
  }

  random(): number {
    return this.#port.random();
  }

  randomBytes(length: number): Uint8Array {
    return this.#port.randomBytes(length);
  }

  /**
   * Returns the call site of the command that mismatches an event; if unknown, that of the last
   * command; "" if no user frame is known.
   */
  siteOf(kind: CommandKind, seq: number): string {
    let last = "";
    for (const { commands } of this.activations.toReversed()) {
      for (const command of commands.toReversed()) {
        if (command.site === "") continue;
        if (last === "") last = command.site;
        if (!command.cancel && command.kind === kind && command.seq === seq) return command.site;
      }
    }
    return last;
  }
}

/** Returns the attributes with the stack traces of failures reduced to "type: message". */
export function reduceStacks(kind: CommandKind, attributes: Uint8Array): Uint8Array {
  switch (kind) {
    case CommandKind.COMMAND_KIND_FAIL_WORKFLOW:
      return encodeWith(FailWorkflow, {
        failure: reduced(FailWorkflow.decode(attributes).failure),
      });
    case CommandKind.COMMAND_KIND_UPDATE_RESPONSE: {
      const message = UpdateResponse.decode(attributes);
      if (message.response?.$case !== "rejected") return attributes;
      return encodeWith(UpdateResponse, {
        ...message,
        response: { $case: "rejected", value: reduced(message.response.value) },
      });
    }
    case CommandKind.COMMAND_KIND_QUERY_RESULT: {
      const message = QueryResult.decode(attributes);
      if (message.result?.$case !== "failed") return attributes;
      return encodeWith(QueryResult, {
        ...message,
        result: { $case: "failed", value: reduced(message.result.value) },
      });
    }
    default:
      return attributes;
  }
}

function reduced(bytes: Uint8Array): Uint8Array {
  const failure = fromBinary(FailureSchema, bytes);
  for (let part: Failure | undefined = failure; part !== undefined; part = part.cause) {
    const type = part.failureInfo.case === "applicationFailureInfo"
      ? part.failureInfo.value.type
      : part.failureInfo.case ?? "";
    part.stackTrace = `${type}: ${part.message}`;
  }
  return toBinary(FailureSchema, failure);
}
