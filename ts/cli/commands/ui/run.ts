// `temporalex ui`: the Runs room of the debugger's page over a store or a cluster.
import { basename } from "node:path";
import { MessageCodec } from "../../../codec/message_codec.ts";
import { withCodec } from "../../../codec/coded_service.ts";
import { silentLogger } from "../../../base/logger.ts";
import { Exit } from "../../frame/exit.ts";
import { openBrowser } from "../../page/open_browser.ts";
import { type PageFiles, pageFiles } from "../../page/page_files.ts";
import { checkPort, startPageServer } from "../../page/page_server.ts";
import { importCodec } from "../../service/codec.ts";
import { fireTimerById } from "../../service/fire_timer.ts";
import { withService } from "../../service/open_service.ts";
import { callRoutes } from "./calls.ts";
import type { UiCall } from "./options.ts";

/** `page`: the files of the page, asked for once the command line is known to be right. */
export async function uiCommand(call: UiCall, page: () => PageFiles = pageFiles): Promise<number> {
  const { options, io, print, signal } = call;
  checkPort(options.port);
  const codec = MessageCodec.of(await importCodec(io.cwd, options.codec));
  return await withService(call, async ({ client, service: raw, where, store }) => {
    const { namespace } = client;
    const { readOnly } = options;
    // What is not there is said at once, and not in the page.
    await client.count("", { timeout: 10_000, signal });
    const service = codec === undefined ? raw : withCodec(raw, codec, { logger: silentLogger });
    const route = callRoutes(service, { namespace, readOnly, fireTimer: (timer) => fireTimerById(call, timer) });
    const server = await startPageServer({
      port: options.port,
      page: page(),
      about: { by: "ui", where: store === undefined ? where : basename(store), namespace, readOnly },
      route,
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
      await new Promise<void>((resolve) =>
        signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })
      );
      print.result({ event: "stopped" }, () => "stopped\n");
      return Exit.ok;
    } finally {
      await server.close();
    }
  });
}
