// `temporalex replay`: replays histories against workflow modules in worker realms and reports
// whether the code still makes the same commands: a JSON line for each history, or text on a
// terminal, then a summary and other reports.
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { ValueComparison } from "../../../debug/divergence/types.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import { formatProblem } from "../../../modules/loader/errors.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { createReplayRealm } from "../../../realm/replay_realm.ts";
import { MAX_REALM_THREADS } from "../../../realm/worker_realm.ts";
import { Exit } from "../../frame/exit.ts";
import { exitCodeOf, UsageError } from "../../frame/errors.ts";
import type { Io } from "../../io.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import { importCodec } from "../../service/codec.ts";
import { readValuesOptions } from "../../service/values_options.ts";
import { bisectCommand, checkBisect } from "./bisect/run.ts";
import type { Opened } from "./bisect/version.ts";
import { replayAll } from "./gate.ts";
import type { ReplayLine } from "./line.ts";
import type { ReplayCall } from "./options.ts";
import { shortPath } from "./place.ts";
import { Progress } from "./progress.ts";
import { reportsOf } from "./reports/reports.ts";
import type { Source } from "./sources/source.ts";
import { checkSource, withSource } from "./sources/with_source.ts";
import { Summary } from "./summary.ts";
import { countsText, replayLineText, summaryText } from "./text.ts";

export type { ReplayLine } from "./line.ts";
export type { SummaryLine } from "./summary.ts";

/** Lines shown for each kind of failure; the table has the total. */
const SHOWN_OF_A_GROUP = 3;

function checkHtml({ options }: ReplayCall): void {
  const { html, htmlValues, htmlKey, htmlMatch, htmlNumbers, htmlTaskQueues, htmlKeep } = options;
  const rules = [
    ...(htmlKey.length > 0 ? ["--html-key"] : []),
    ...(htmlMatch.length > 0 ? ["--html-match"] : []),
    ...(htmlNumbers ? ["--html-numbers"] : []),
    ...(htmlTaskQueues ? ["--html-task-queues"] : []),
    ...(htmlKeep.length > 0 ? ["--html-keep"] : []),
  ];
  const [first] = [...(htmlValues ? ["--html-values"] : []), ...rules];
  if (html === undefined && first !== undefined) throw new UsageError(`${first} is for --html`);
  if (htmlValues && rules.length > 0) {
    throw new UsageError(
      `${
        rules[0]
      } and --html-values cannot be used together: --html-values shows values as recorded`,
    );
  }
}

export async function replayCommand(call: ReplayCall): Promise<number> {
  const { options, io } = call;
  checkSource(call);
  checkJobs(options.jobs);
  const bisects = options.bisect !== undefined || options.versions.length > 0;
  if (bisects) checkBisect(call);
  checkHtml(call);
  const workflows = options.versions.length > 0
    ? []
    : options.workflows.length > 0
    ? options.workflows.map((module) => resolve(io.cwd, module))
    : configuredWorkflows(io.cwd);
  const compared = await readValuesOptions(options, io.cwd);
  const { codec } = await importCodec(io.cwd, options.codec);
  return await withSource(call, async (source) => {
    const threads = options.jobs ??
      Math.max(1, Math.min(availableParallelism(), source.worthThreads, MAX_REALM_THREADS));
    const interceptors = options.interceptors.map((module) => resolve(io.cwd, module));
    const { payloadConverter } = options;
    const converter = payloadConverter === undefined
      ? {}
      : { payloadConverter: resolve(io.cwd, payloadConverter) };
    if (bisects) {
      const start = (code: Opened) =>
        createReplayRealm(createWorkerRealm, realmOptions({ ...code, threads }));
      return await bisectCommand(call, {
        source,
        threads,
        codec,
        workflows,
        interceptors,
        compared,
        ...converter,
        startRealm: start,
      });
    }
    const realm = await startRealm({ workflows, interceptors, threads, ...converter }, io);
    try {
      return await replaySource(call, source, { realm, threads, codec, workflows, compared });
    } finally {
      await realm.dispose();
    }
  });
}

function checkJobs(jobs: number | undefined): void {
  if (jobs === undefined || (Number.isInteger(jobs) && jobs >= 1 && jobs <= MAX_REALM_THREADS)) {
    return;
  }
  throw new UsageError(`--jobs must be a whole number from 1 to ${MAX_REALM_THREADS}, not ${jobs}`);
}

interface With {
  readonly realm: WorkerRealm;
  readonly threads: number;
  readonly codec: Awaited<ReturnType<typeof importCodec>>["codec"];
  readonly workflows: readonly string[];
  readonly compared: ValueComparison | undefined;
}

async function replaySource(
  call: ReplayCall,
  source: Source,
  { realm, threads, codec, workflows, compared }: With,
): Promise<number> {
  const { options, args, io, print, signal } = call;
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  const summary = new Summary(
    options.github && io.env["GITHUB_WORKSPACE"] || io.cwd,
    options.values,
  );
  const reports = await reportsOf(call, { workflows, folder: summary.folder, realm });
  const progress = new Progress(print, io.errTerminal);
  const named = new Set(args);
  let changedShown = 0;
  const onLine = (line: ReplayLine, history: HistoryFile | undefined) => {
    const group = summary.add(line);
    reports.add(line, group, history);
    const isChanged = line.changedValues !== undefined && changedShown++ < SHOWN_OF_A_GROUP;
    const shown = isChanged ||
      (group === undefined
        ? named.has(line.file) && line.place === undefined
        : group.runs <= SHOWN_OF_A_GROUP);
    if (print.json || shown) {
      progress.clear();
      print.result(line, () => replayLineText(line, print));
    }
    const of = source.total === undefined ? "" : ` of ${source.total}`;
    progress.at(() => `replayed ${summary.histories}${of}: ${countsText(summary)}`);
  };
  const { strict, values } = options;
  const onGone = () => summary.gone++;
  await replayAll(source, {
    realm,
    threads,
    codec,
    strict,
    compared,
    values,
    signal,
    onGone,
    onLine,
    keeps: reports.keeps,
  });
  progress.clear();
  summary.interrupted = signal.aborted;
  print.result(summary.line(ms()), () => summaryText(summary, ms(), print));
  await reports.write(summary, ms());
  if (signal.aborted) return exitCodeOf(signal.reason);
  const { verdicts } = summary;
  if (verdicts.unreadable > 0) return Exit.usage;
  return verdicts.nondeterminism + verdicts.failed + verdicts.changed > 0 ? Exit.failed : Exit.ok;
}

interface Code {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
  readonly threads: number;
}

const realmOptions = ({ workflows, interceptors, payloadConverter, threads }: Code) => ({
  ...{ workflows, interceptors, threads },
  ...(payloadConverter !== undefined && { payloadConverter }),
  cacheSize: 0,
  runOptions: { namespace: "default", identity: "temporalex replay" },
});

async function startRealm(code: Code, io: Io): Promise<WorkerRealm> {
  try {
    const realm = await createReplayRealm(createWorkerRealm, realmOptions(code));
    for (const warning of realm.warnings) {
      io.err(`warning: ${formatProblem({ ...warning, file: shortPath(warning.file, io.cwd) })}\n`);
    }
    return realm;
  } catch (e) {
    throw new UsageError((e as Error).message);
  }
}
