// `temporalex replay`: replays exported histories against workflow modules, in a worker realm, and says for each whether the code still makes
// the same commands. One JSON line per history, or lines for people where standard output is a terminal.
import { relative, resolve } from "node:path";
import { type CodecOptions, PayloadCodecError } from "../../../codec/codec.ts";
import { decodeHistory } from "../../../codec/message_codec.ts";
import { HistoryFileError, readHistoryFile } from "../../../debug/history_file.ts";
import { formatProblem } from "../../../realm/loader/errors.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import type { Colour, Printer } from "../../frame/printer.ts";
import type { Io } from "../../io.ts";
import { UsageError } from "../../frame/errors.ts";
import { importCodec } from "../../service/codec.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import type { ReplayCall } from "./options.ts";

export interface ReplayLine {
  readonly file: string;
  readonly workflowType: string;
  readonly events: number;
  readonly activations: number;
  readonly verdict: "ok" | "nondeterminism" | "failed" | "unreadable";
  readonly warnings: readonly { readonly code: number; readonly message: string; readonly eventId: number }[];
  readonly error?: {
    /** Number in the core's table of errors; 0 for errors of workflow code and of files. */
    readonly code: number;
    readonly message: string;
    /** 0 when not known. */
    readonly eventId: number;
    readonly expected: string;
    readonly actual: string;
    /** The line of workflow code, "" when not known. */
    readonly location: string;
  };
  readonly ms: number;
}

export async function replayCommand({ options, args, io, print }: ReplayCall): Promise<number> {
  const workflows = options.workflows.length > 0
    ? options.workflows.map((module) => resolve(io.cwd, module))
    : configuredWorkflows(io.cwd);
  const { codec } = await importCodec(io.cwd, options.codec);
  const realm = await startRealm(workflows, io);
  try {
    const verdicts = new Set<ReplayLine["verdict"]>();
    for (const file of args) {
      const line = await replayFile(realm, file, { strict: options.strict, codec }, io);
      verdicts.add(line.verdict);
      print.result(line, () => forPeople(line, print));
    }
    if (verdicts.has("unreadable")) return 2;
    return verdicts.has("nondeterminism") || verdicts.has("failed") ? 1 : 0;
  } finally {
    await realm.dispose();
  }
}

async function startRealm(workflows: readonly string[], io: Io): Promise<WorkerRealm> {
  try {
    const realm = await createWorkerRealm({
      workflows,
      cacheSize: 0,
      runOptions: { namespace: "default", identity: "temporalex replay" },
    });
    for (const warning of realm.warnings) {
      io.err(`warning: ${formatProblem({ ...warning, file: shortPath(warning.file, io) })}\n`);
    }
    return realm;
  } catch (e) {
    throw new UsageError((e as Error).message);
  }
}

async function replayFile(
  realm: WorkerRealm,
  file: string,
  { strict, codec }: { strict: boolean; codec: CodecOptions["codec"] },
  io: Io,
): Promise<ReplayLine> {
  const started = performance.now();
  const ms = () => Math.round((performance.now() - started) * 10) / 10;
  const nowhere = { code: 0, eventId: 0, expected: "", actual: "", location: "" };
  try {
    const history = await readHistoryFile(await io.read(resolve(io.cwd, file)));
    const notes = history.notes.map((message) => ({ code: 0, message, eventId: 0 }));
    const result = await realm.replay(history.workflowId, await decodeHistory(history.bytes, codec), { strict });
    const { code, message, eventId, expected, actual, location } = result.error ?? { ...nowhere, message: "" };
    return {
      file,
      workflowType: history.workflowType,
      events: history.events,
      activations: result.activations,
      verdict: result.verdict,
      warnings: [...notes, ...result.warnings.map(({ code, message, eventId }) => ({ code, message, eventId }))],
      ...(result.error === undefined ? {} : { error: { code, message, eventId, expected, actual, location } }),
      ms: ms(),
    };
  } catch (e) {
    const none = { file, workflowType: "", events: 0, activations: 0, warnings: [], ms: ms() };
    if (e instanceof HistoryFileError) return { ...none, verdict: "unreadable", error: { ...nowhere, message: e.message } };
    if (e instanceof PayloadCodecError) return { ...none, verdict: "unreadable", error: { ...nowhere, message: e.message } };
    const { code, message } = e as Error & { code?: string };
    if (code !== undefined) return { ...none, verdict: "unreadable", error: { ...nowhere, message: fileProblem(code, message) } };
    // The realm could not say more than this.
    return { ...none, verdict: "failed", error: { ...nowhere, message } };
  }
}

function fileProblem(code: string, message: string): string {
  if (code === "ENOENT") return "there is no such file";
  return code === "EISDIR" ? "this is a folder, not a file" : `the file cannot be read: ${message}`;
}

const COLOURS: { readonly [verdict in ReplayLine["verdict"]]: Colour } = {
  ok: "green",
  nondeterminism: "red",
  failed: "red",
  unreadable: "yellow",
};

function forPeople(line: ReplayLine, print: Printer): string {
  const { file, verdict, workflowType, events, activations, warnings, error, ms } = line;
  const facts = verdict === "unreadable" ? "" : `  ${workflowType}, ${events} events, ${activations} activations, ${ms} ms`;
  const details = [
    ...(error === undefined ? [] : [
      error.message,
      ...(error.expected === "" && error.actual === "" ? [] : [`history: ${error.expected}`, `code:    ${error.actual}`]),
      ...(error.location === "" ? [] : [`at ${error.location}`]),
    ]),
    ...warnings.map(({ message, eventId }) =>
      print.paint(`warning${eventId > 0 ? ` (event ${eventId})` : ""}: ${message}`, "yellow")
    ),
  ];
  return [`${print.paint(verdict.padEnd(14), COLOURS[verdict])}  ${file}${facts}`, ...details.map((detail) => `    ${detail}`)]
    .join(
      "\n",
    ) + "\n";
}

const shortPath = (path: string, io: Io): string => {
  const short = relative(io.cwd, path);
  return short.startsWith("..") || short === "" ? path : short;
};
