// One random program and its random life, from a seed: run live in a realm with a random grouping
// of events into tasks and random results of activities, over continue-as-new, then replayed, whole
// and cut. The same seed gives the same program and life in every runtime; the bytes that the realm
// returned are compared.
import { createRegistry, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { RecordedActivation } from "../../../ts/executor/tasks/recording.ts";
import type { Realm } from "../../../ts/realm/realm.ts";
import {
  type Failure,
  FailureSchema,
} from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  AcceptanceSchema,
  RejectionSchema,
  ResponseSchema,
} from "../../../ts/messages/generated/temporal/api/update/v1/message_pb.ts";
import {
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { TaskOutcome } from "../../../ts/realm/realm.ts";
import { comparable } from "../../cases/driver.ts";
import { MiniServer } from "../../cases/mini_server.ts";
import { choose, endsOfReplay, happen, LAST } from "../../cases/random_lives.ts";
import { life, program } from "../../cases/random_programs.ts";
import type { Step } from "../../cases/random_interpreter.ts";
import type { Happening } from "../../cases/random_programs.ts";
import { readWorkflowTask } from "../../../ts/messages/workflow_task.ts";

/** What is drawn from a seed. */
export interface Draw {
  readonly steps: Step[];
  readonly happenings: Happening[];
  /** After which events a task is run. */
  readonly cuts: boolean[];
  /** What activities answer: any JSON. */
  readonly results: unknown[];
  /** At which of its possible ends the history is cut for replays. */
  readonly ends: number[];
}

const draw: fc.Arbitrary<Draw> = fc.record({
  steps: program,
  happenings: life,
  cuts: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
  results: fc.array(fc.jsonValue({ stringUnit: "binary" }), { minLength: 1, maxLength: 6 }),
  ends: fc.array(fc.nat(), { minLength: 2, maxLength: 2 }),
});

/** Neighboring numbers are bad seeds for the generator. */
export const drawProgram = (seed: number): Draw =>
  fc.sample(draw, { seed: Math.imul(seed + 1, 0x9e3779b1), numRuns: 1 })[0]!;

/** Something that a realm returned. */
export interface Answer {
  readonly label: string;
  readonly kind: "completed" | "failed" | "other" | "commands";
  readonly bytes: Uint8Array;
}

export interface Run {
  readonly workflowId: string;
  readonly server: MiniServer;
}

export interface Life {
  readonly outputs: Answer[];
  readonly runs: Run[];
  /** What contradicts itself within this runtime. */
  readonly problems: string[];
}

const MAX_RUNS = 6;

/**
 * Runs the program of a seed. `serve` is called with each run, for the realm's requests for
 * history.
 */
export async function live(
  realm: Realm,
  seed: number,
  serve: (server: MiniServer) => void,
): Promise<Life> {
  const drawn = drawProgram(seed);
  const { happenings, cuts, results, ends } = drawn;
  const outputs: Answer[] = [];
  const problems: string[] = [];
  const runs: Run[] = [];
  const all = [...happenings, ...Array.from({ length: 60 }, () => LAST).flat()];
  let next: { args: unknown[]; headers: MiniServerHeaders } | undefined = {
    args: [drawn.steps],
    headers: {},
  };
  let at = 0;
  for (let n = 0; next !== undefined && n < MAX_RUNS; n++) {
    const server = new MiniServer("Interpreter", { ...next, runId: runIdOf(seed, n) });
    serve(server);
    runs.push({ workflowId: server.workflowId, server });
    const task = async () => {
      const outcome = await realm.runTask(readWorkflowTask(server.openTask({ sticky: true })));
      outputs.push({ label: `run ${n}, after event ${server.events.length}`, ...essence(outcome) });
      server.report(outcome);
      if (server.taskFailure !== undefined) {
        problems.push(`task failed: ${server.taskFailure.failure.message}`);
      }
    };
    await task();
    let open = false;
    while (server.closed === undefined && problems.length === 0 && at < all.length) {
      const event = choose(server, all[at]!, at);
      if (event !== undefined) {
        happen(server, event, results[at % results.length]);
        open = true;
      }
      at++;
      if (open && (cuts[at % cuts.length]! || at >= happenings.length)) {
        await task();
        open = false;
      }
    }
    if (problems.length > 0) break;
    await replays(realm, server, ends, n, outputs, problems);
    realm.evict(server.runId);
    next = server.closed?.next;
  }
  return { outputs, runs, problems };
}

type MiniServerHeaders =
  & NonNullable<ConstructorParameters<typeof MiniServer>[1]>["headers"]
  & object;

function runIdOf(seed: number, n: number): string {
  return `${(seed >>> 0).toString(16).padStart(8, "0")}-${
    n.toString(16).padStart(4, "0")
  }-4000-8000-000000000000`;
}

/**
 * The whole history and two prefixes: the commands must be those of the whole, as far as it goes.
 */
async function replays(
  realm: Realm,
  server: MiniServer,
  picks: readonly number[],
  n: number,
  outputs: Answer[],
  problems: string[],
): Promise<void> {
  const ends = endsOfReplay(server.events);
  const lengths = [server.events.length, ...picks.map((pick) => ends[pick % ends.length]!)];
  let whole: string[] | undefined;
  for (const length of new Set(lengths)) {
    const verdict = await realm.replay(server.workflowId, server.history(length), { record: true });
    const label = `run ${n}, replay of ${length} events`;
    if (verdict.verdict !== "ok") problems.push(`${label}: ${verdict.error?.message}`);
    const commands = recordedCommands(verdict.recorded ?? []);
    outputs.push({ label, kind: "commands", bytes: new TextEncoder().encode(commands.join("\n")) });
    whole ??= commands;
    if (commands.some((command, i) => command !== whole![i])) {
      problems.push(`${label}: other commands than in the whole`);
    }
  }
}

/** Recorded commands as lines of text. */
export function recordedCommands(recorded: readonly RecordedActivation[]): string[] {
  return comparable(recorded).flatMap(({ startedEventId, timeMs, commands }) =>
    commands.map(({ kind, cancel, seq, attributes }) =>
      `${startedEventId} ${timeMs} ${kind} ${cancel} ${seq} ${hex(attributes)}`
    )
  );
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const MESSAGES = [AcceptanceSchema, RejectionSchema, ResponseSchema];

/** The whole answer to a task, with stack traces taken out of it. */
export function essence({ response, evict }: TaskOutcome): Omit<Answer, "label"> {
  if (response?.$case === "completed") {
    const request = fromBinary(RespondWorkflowTaskCompletedRequestSchema, response.value);
    for (const { body } of request.messages) {
      const schema = MESSAGES.find((s) => body?.typeUrl.endsWith(`/${s.typeName}`));
      if (schema === undefined) continue;
      const message = fromBinary(schema as typeof ResponseSchema, body!.value);
      withoutStacks(message);
      body!.value = toBinary(schema as typeof ResponseSchema, message);
    }
    withoutStacks(request);
    return {
      kind: "completed",
      bytes: toBinary(RespondWorkflowTaskCompletedRequestSchema, request),
    };
  }
  if (response?.$case === "failed") {
    const request = fromBinary(RespondWorkflowTaskFailedRequestSchema, response.value);
    withoutStacks(request);
    return { kind: "failed", bytes: toBinary(RespondWorkflowTaskFailedRequestSchema, request) };
  }
  return {
    kind: "other",
    bytes: new TextEncoder().encode(`${response?.$case ?? "nothing"} ${evict}`),
  };
}

function withoutStacks(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if ((value as Message).$typeName === FailureSchema.typeName) (value as Failure).stackTrace = "";
  for (const part of Object.values(value)) withoutStacks(part);
}

const registry = createRegistry(...MESSAGES);

/**
 * A response in readable form: a completion as JSON with its payloads as text, everything else as
 * text.
 */
export function formatOutput({ kind, bytes }: Answer): string {
  const text = new TextDecoder();
  if (kind !== "completed" && kind !== "failed") return text.decode(bytes);
  const json = kind === "completed"
    ? toJson(
      RespondWorkflowTaskCompletedRequestSchema,
      fromBinary(RespondWorkflowTaskCompletedRequestSchema, bytes),
      {
        registry,
      },
    )
    : toJson(
      RespondWorkflowTaskFailedRequestSchema,
      fromBinary(RespondWorkflowTaskFailedRequestSchema, bytes),
      { registry },
    );
  const readable = (key: string, value: unknown) =>
    key === "data" && typeof value === "string"
      ? text.decode(Uint8Array.from(atob(value), (c) => c.charCodeAt(0)))
      : value;
  return JSON.stringify(json, readable, 1);
}
