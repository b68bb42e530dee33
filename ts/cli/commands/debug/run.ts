// `temporalex debug`: serves the debugger's page with histories and workflow code.
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import { printableLine } from "../../frame/printable.ts";
import { importCodec } from "../../service/codec.ts";
import { withService } from "../../service/open_service.ts";
import { openBrowser } from "../../page/open_browser.ts";
import { codeModules, printRefused, problemText } from "../../page/code_modules.ts";
import { type PageFiles, pageFiles } from "../../page/page_files.ts";
import { checkPort, startPageServer } from "../../page/page_server.ts";
import { type CodeModules, ServedCode } from "../../page/served_code.ts";
import { brokenLine, type ReplayLine } from "../replay/line.ts";
import { replayLineText } from "../replay/text.ts";
import { codecEndpointOf } from "./codec_relay.ts";
import type { DebugCall } from "./options.ts";
import { DebugRoutes } from "./routes.ts";
import type { LinkedRuns } from "./linked_runs.ts";
import {
  followRun,
  historiesOfFiles,
  historyOfRun,
  MOST_HISTORIES,
  type ServedHistory,
} from "./served_histories.ts";
import { type RunWaits, Verdicts } from "./verdicts.ts";
import { WatchedHistories } from "./watched_histories.ts";

/** Subscribes to changes while the page is open. Returns the function that ends it. */
type Follow = (came: {
  grown(index: number, history: ServedHistory): void;
  changed(index: number, history: ServedHistory): void;
}) => () => void;

/** `page`: the files of the page, asked for once the command line is known to be right. */
export async function debugCommand(
  call: DebugCall,
  page: () => PageFiles = pageFiles,
): Promise<number> {
  const { options, args, io, print, signal } = call;
  const { workflowId, runId } = options;
  checkPort(options.port);
  const modules = codeModules(call);
  codecEndpointOf(options.codecEndpoint, options.codecHeader);
  if (workflowId === undefined && args.length === 0) {
    throw new UsageError(
      "no history given: name history files, or a run of a store or a cluster with --workflow-id",
    );
  }
  if (workflowId !== undefined && args.length > 0) {
    throw new UsageError(
      "files with histories and --workflow-id cannot be used together: open one or the other",
    );
  }
  if (workflowId === undefined) {
    if (runId !== undefined) throw new UsageError("--run-id needs --workflow-id");
    const { codec } = await importCodec(io.cwd, options.codec);
    const { histories, broken, more, stamps } = await historiesOfFiles(args, io.cwd, codec);
    for (const { found, error } of broken) {
      const line = brokenLine(found, error, 0);
      if (histories.length === 0) {
        throw new UsageError(
          `${found.file}${found.place === "" ? "" : ` (${found.place})`}: ${line.error!.message}`,
        );
      }
      print.warn(
        `${found.file}${found.place === "" ? "" : ` (${found.place})`} is left out: ${
          line.error!.message
        }`,
      );
    }
    if (more) print.warn(`only the first ${MOST_HISTORIES} histories are opened; name fewer`);
    const watchFiles: Follow = ({ changed }) => {
      const files = new WatchedHistories(histories, {
        changed(index, history) {
          print.note(`${history.name} was written again: ${history.file.events} events`);
          changed(index, history);
        },
        broken: ({ name }, error) =>
          print.warn(
            `${name} was written again and cannot be read; what it was stays: ${error.message}`,
          ),
      }, { cwd: io.cwd, codec, stamps });
      return () => files.close();
    };
    return await serve(call, page(), modules, histories, watchFiles);
  }
  return await withService(call, async (connection) => {
    const { handle, history } = await historyOfRun(connection, workflowId, runId);
    const follow: Follow | undefined = history.open
      ? ({ grown }) => {
        followRun(handle, history, (now) => grown(0, now), signal)
          .catch((error: Error) =>
            print.warn(`the run is not followed any more: ${error.message}`)
          );
        return () => {};
      }
      : undefined;
    const linked: LinkedRuns = async (workflowId, runId) =>
      (await historyOfRun(connection, workflowId, runId)).history.file;
    return await serve(call, page(), modules, [history], follow, linked);
  });
}

async function serve(
  call: DebugCall,
  page: PageFiles,
  modules: CodeModules | undefined,
  first: readonly ServedHistory[],
  follow: Follow | undefined,
  linked?: LinkedRuns,
): Promise<number> {
  const { options, io, print, signal } = call;
  const histories = [...first];
  const codecEndpoint = codecEndpointOf(options.codecEndpoint, options.codecHeader);
  const routes = new DebugRoutes(
    histories,
    io.env,
    codecEndpoint,
    linked,
    (verdict) => verdicts?.takeFromPage(verdict, histories),
  );
  const verdicts: Verdicts | undefined = modules &&
    new Verdicts(
      modules,
      (version, line) => tellVerdict(call, version, line),
      (version, waits) => printWaits(call, version, waits),
    );
  const code = modules && new ServedCode(modules, {
    loaded(version) {
      routes.code(version);
      for (const warning of version.warnings) print.warn(problemText(call, warning));
      verdicts!.take(version.version, version.host, histories, routes.shown(version.version));
    },
    refused(version, problems, message) {
      routes.refused(version, problems, message);
      printRefused(call, version, problems, message);
    },
  });
  let unfollow: (() => void) | undefined;
  const server = await startPageServer({
    port: options.port,
    page,
    about: {
      by: "debug",
      histories: histories.map(({ name, open }) => ({ name, open })),
      code: modules !== undefined,
      ...(codecEndpoint !== undefined && { codecEndpoint: codecEndpoint.url }),
      ...(linked !== undefined && { linked: true }),
    },
    route: (path) => routes.route(path),
    onError: (error) => print.warn(`the page's server failed at a request: ${error.message}`),
  });
  try {
    print.result(
      { event: "started", url: server.url, histories: histories.length },
      () => `the debugger is at ${print.paint(server.url, "cyan")} (Ctrl-C ends it)\n`,
    );
    if (io.terminal && !options.noOpen && !await openBrowser(server.url)) {
      print.note("no browser could be started: open the address by hand");
    }
    await code?.load();
    if (code !== undefined) print.note(`watching ${code.files} files`);
    const ended = new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })
    );
    const take = (tell: (index: number) => void) => (index: number, history: ServedHistory) => {
      histories[index] = history;
      tell(index);
      verdicts?.again(history);
    };
    unfollow = follow?.({
      grown: take((index) => routes.grown(index)),
      changed: take((index) => routes.changed(index)),
    });
    await ended;
    print.result({ event: "stopped" }, () => "stopped\n");
    return Exit.ok;
  } finally {
    unfollow?.();
    code?.close();
    routes.close();
    await server.close();
    await verdicts?.close();
  }
}

function tellVerdict({ print }: DebugCall, version: number, line: ReplayLine): void {
  print.result({ event: "verdict", version, ...line }, () => replayLineText(line, print));
}

function printWaits({ print }: DebugCall, version: number, { file, waits }: RunWaits): void {
  print.result(
    { event: "waits", version, file, waits },
    () => waits.map((line) => `    ${printableLine(line)}\n`).join(""),
  );
}
