// `temporalex ui`: the page of runs over a store or a cluster.
import { basename, join } from "node:path";
import { MessageCodec } from "../../../codec/message_codec.ts";
import { withCodec } from "../../../codec/coded_service.ts";
import { silentLogger } from "../../../base/logger.ts";
import { Exit } from "../../frame/exit.ts";
import { stateFolder } from "../../frame/state_folder.ts";
import { codeModules, printRefused, problemText } from "../../page/code_modules.ts";
import { CodeRoutes } from "../../page/code_routes.ts";
import { keptToken, newToken, type PageSubject } from "../../page/kept_token.ts";
import { openBrowser } from "../../page/open_browser.ts";
import { type PageFiles, pageFiles } from "../../page/page_files.ts";
import { checkPort, startPageServer } from "../../page/page_server.ts";
import { type CodeModules, ServedCode } from "../../page/served_code.ts";
import { importCodec } from "../../service/codec.ts";
import { fireTimerById } from "../../service/fire_timer.ts";
import { readShownState } from "../../service/read_shown.ts";
import type { RawService } from "../../../service/raw.ts";
import { typedService } from "../../../service/typed.ts";
import { withService } from "../../service/open_service.ts";
import { callRoutes } from "./calls.ts";
import type { UiCall } from "./options.ts";

/** `page`: returns the files of the page; called when the command line is known to be valid. */
export async function uiCommand(call: UiCall, page: () => PageFiles = pageFiles): Promise<number> {
  const { options, io, print, signal } = call;
  checkPort(options.port);
  const modules = codeModules(call);
  const codec = MessageCodec.of(await importCodec(io.cwd, options.codec));
  return await withService(call, async ({ client, service: raw, where, store }) => {
    const { namespace } = client;
    const { readOnly } = options;
    // A service that does not respond fails the command, not each call of the page.
    await client.count("", { timeout: 10_000, signal });
    const service = codec === undefined ? raw : withCodec(raw, codec, { logger: silentLogger });
    const namespaces = options.allNamespaces ? await everyNamespace(raw, namespace) : [namespace];
    const calls = callRoutes(service, {
      namespaces,
      readOnly,
      readShown: (namespace, runId) => readShownState(call, { namespace, runId }),
      fireTimer: (timer) => fireTimerById(call, timer),
    });
    const routes = modules && new CodeRoutes(io.env);
    const code = modules && routes && servedCode(call, modules, routes);
    const server = await startPageServer({
      port: options.port,
      token: tokenFor(call, { where: store ?? where, namespace }),
      page: page(),
      about: {
        by: "ui",
        where: store === undefined ? where : basename(store),
        namespace,
        readOnly,
        ...(namespaces.length > 1 && { namespaces }),
        ...(code !== undefined && { code: true }),
      },
      route: (path) => calls(path) ?? routes?.route(path),
      onError: (error) => print.warn(`the page's server failed at a request: ${error.message}`),
    });
    try {
      print.result(
        { event: "started", url: server.url, where, namespace, readOnly },
        () => `the runs of ${where} are at ${print.paint(server.url, "cyan")} (Ctrl-C ends it)\n`,
      );
      if (io.terminal && !options.noOpen && !await openBrowser(server.url)) {
        print.note("no browser could be started: open the address by hand");
      }
      await code?.load();
      if (code !== undefined) print.note(`watching ${code.files} files`);
      await new Promise<void>((resolve) =>
        signal.aborted
          ? resolve()
          : signal.addEventListener("abort", () => resolve(), { once: true })
      );
      print.result({ event: "stopped" }, () => "stopped\n");
      return Exit.ok;
    } finally {
      code?.close();
      routes?.close();
      await server.close();
    }
  });
}

const NAMESPACES_PER_PAGE = 200;

/** Names of the server's namespaces, that of the command first. */
async function everyNamespace(raw: RawService, own: string): Promise<readonly string[]> {
  const service = typedService(raw);
  const names = new Set([own]);
  let nextPageToken: Uint8Array = new Uint8Array(0);
  do {
    const page = await service.listNamespaces({ pageSize: NAMESPACES_PER_PAGE, nextPageToken });
    for (const { namespaceInfo } of page.namespaces) {
      if (namespaceInfo !== undefined) names.add(namespaceInfo.name);
    }
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
  return [...names];
}

/** The code that opened runs are replayed against, sent to the pages at each save. */
function servedCode(call: UiCall, modules: CodeModules, routes: CodeRoutes): ServedCode {
  return new ServedCode(modules, {
    loaded(version) {
      routes.code(version);
      for (const warning of version.warnings) call.print.warn(problemText(call, warning));
    },
    refused(version, problems, message) {
      routes.refused(version, problems, message);
      printRefused(call, version, problems, message);
    },
  });
}

/** Keeps the token only with a fixed port, where an open page finds the next start. */
function tokenFor({ options, io, print }: UiCall, subject: PageSubject): string {
  const folder = stateFolder(io.env);
  if (options.port === 0 || folder === undefined) return newToken();
  try {
    return keptToken(join(folder, "ui"), subject);
  } catch (error) {
    print.warn(
      `the address is valid for this start only: its token cannot be kept: ${
        (error as Error).message
      }`,
    );
    return newToken();
  }
}
