// What each runtime does for the comparison (tools/soak/cross_engine.mjs): lives of random programs
// and their digests, histories for the others, and replays of their histories. All input and output
// is JSON.
import { create, toBinary } from "@bufbuild/protobuf";
import { createInlineRealm, createWorkerRealm } from "../../../ts/realm/mod.ts";
import type { Realm } from "../../../ts/realm/realm.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { scenarios } from "../../cases/examples.ts";
import type { MiniServer } from "../../cases/mini_server.ts";
import * as interpreter from "../../cases/random_interpreter.ts";
import { probe } from "./probe.ts";
import { type Answer, drawProgram, formatOutput, live, recordedCommands } from "./lives.ts";

/** Set by pages, which have no files: module texts, and the bundled entry of a realm. */
const page = globalThis as unknown as {
  __sources?: { [path: string]: string };
  __realmEntry?: string;
};

const EXAMPLES = [
  "onboarding",
  "counter",
  "shopping_cart",
  "batch_process",
  "inventory",
  "order_processing",
  "event_collector",
];
const WORKFLOWS = [
  "tests/cases/random_interpreter.ts",
  "tests/system/interop/flows/workflows.ts",
  "tests/system/interop/flows/families.ts",
  ...EXAMPLES.map((name) => `examples/${name}/workflow.ts`),
];

export type Kind = "worker" | "inline";

const servers = new Map<string, MiniServer>();
const realms = new Map<Kind, Promise<Realm>>();

function createLabRealm(kind: Kind): Promise<Realm> {
  const options = {
    runOptions: {
      namespace: "default",
      identity: "test",
      sdkVersion: "0.0.0-test",
      stickyQueue: "sticky",
    },
    fetchHistory: (_workflowId: string, runId: string) => {
      const { events } = servers.get(runId)!;
      return Promise.resolve({
        history: toBinary(HistorySchema, create(HistorySchema, { events })),
        nextPageToken: new Uint8Array(0),
      });
    },
  };
  const known = realms.get(kind);
  if (known !== undefined) return known;
  const made = kind === "inline"
    ? createInlineRealm({ workflows: interpreter, ...options })
    : createWorkerRealm({
      workflows: WORKFLOWS,
      ...(page.__sources === undefined
        ? {}
        : { sources: page.__sources, entry: page.__realmEntry! }),
      // Nothing here spins, and four runtimes may share one core.
      watchdogMs: 60_000,
      ...options,
    });
  realms.set(kind, made);
  return made;
}

async function runProgram(kind: Kind, seed: number) {
  const known: string[] = [];
  const life = await live(await createLabRealm(kind), seed, (server) => {
    servers.set(server.runId, server);
    known.push(server.runId);
  });
  for (const runId of known) servers.delete(runId);
  return life;
}

export interface Digest {
  readonly seed: number;
  readonly outputs: number;
  readonly runs: number;
  readonly events: number;
  readonly digest: string;
  readonly problems: string[];
}

/** One digest for each seed, over every byte that the realm returned. */
async function digests(
  { kind, from, count }: { kind: Kind; from: number; count: number },
): Promise<Digest[]> {
  const all: Digest[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { outputs, runs, problems } = await runProgram(kind, seed);
    const events = runs.reduce((sum, { server }) => sum + server.events.length, 0);
    all.push({
      seed,
      outputs: outputs.length,
      runs: runs.length,
      events,
      digest: await digestOf(outputs),
      problems,
    });
  }
  return all;
}

async function digestOf(outputs: readonly Answer[]): Promise<string> {
  const parts = outputs.map((
    { label, bytes },
  ) => [new TextEncoder().encode(`${label} ${bytes.length}\n`), bytes]).flat();
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return base64(new Uint8Array(await crypto.subtle.digest("SHA-256", all))).slice(0, 22);
}

/** Everything about one seed, to be read. */
async function details(
  { kind, seed }: { kind: Kind; seed: number },
): Promise<{ drawn: unknown; outputs: { label: string; text: string }[] }> {
  const { outputs } = await runProgram(kind, seed);
  return {
    drawn: drawProgram(seed),
    outputs: outputs.map((answer) => ({ label: answer.label, text: formatOutput(answer) })),
  };
}

export interface Exported {
  readonly name: string;
  readonly workflowId: string;
  /** Base64 of a History message. */
  readonly history: string;
}

/** Histories of the seven examples and of programs, as they were made here. */
async function histories({ from, count }: { from: number; count: number }): Promise<Exported[]> {
  const all: Exported[] = [];
  for (const [name, run] of Object.entries(scenarios)) {
    const { server } = await run();
    all.push({ name, workflowId: server.workflowId, history: base64(server.history()) });
  }
  for (let seed = from; seed < from + count; seed++) {
    const { runs } = await runProgram("worker", seed);
    for (const [n, { workflowId, server }] of runs.entries()) {
      all.push({
        name: `program ${seed}, run ${n}`,
        workflowId,
        history: base64(server.history()),
      });
    }
  }
  return all;
}

export interface Replayed {
  readonly name: string;
  readonly verdict: string;
  readonly commands: string;
}

/** Replays histories from anywhere in a worker realm; verdicts, and a digest of the commands. */
async function replayed({ histories }: { histories: readonly Exported[] }): Promise<Replayed[]> {
  const realm = await createLabRealm("worker");
  const all: Replayed[] = [];
  for (const { name, workflowId, history } of histories) {
    const bytes = Uint8Array.from(atob(history), (c) => c.charCodeAt(0));
    const { verdict, error, recorded } = await realm.replay(workflowId, bytes, { record: true });
    const text = new TextEncoder().encode(recordedCommands(recorded ?? []).join("\n"));
    all.push({
      name,
      verdict: error === undefined ? verdict : `${verdict}: ${error.message}`,
      commands: await digestOf([{ label: "", kind: "commands", bytes: text }]),
    });
  }
  return all;
}

async function close(): Promise<void> {
  for (const realm of realms.values()) await (await realm).dispose();
  realms.clear();
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const calls = { digests, details, histories, replayed, probe, close };

/** Handles a call of the driver. */
export async function answer(
  { call, args }: { call: keyof typeof calls; args: unknown },
): Promise<unknown> {
  return await (calls[call] as (args: unknown) => Promise<unknown>)(args) ?? null;
}
