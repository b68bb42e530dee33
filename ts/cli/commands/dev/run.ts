// `temporalex dev`: the embedded engine as a Temporal server on the loopback.
import { extname, resolve } from "node:path";
import { DeferredServer } from "../../../app/deferred_server.ts";
import { fireTimerMethod } from "../../../app/fire_timer.ts";
import { sqlMethod } from "../../../app/sql/sql_method.ts";
import { checkNamespace } from "../../../dev/namespaces.ts";
import { attributeTypeOf } from "../../../engine/attribute_register.ts";
import { type DevServer, startDevServer } from "../../../dev/server.ts";
import { consoleLogger } from "../../../platform/host.ts";
import type { Logger } from "../../../base/logger.ts";
import { VERSION } from "../../../base/version.ts";
import { parseOrigin } from "../../../server/http_guard.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { namespaceFileAt } from "./namespace_file.ts";
import type { DevCall } from "./options.ts";

const FIRST = "default";

/** Returns the store file of a namespace: the given file for the first one. */
export function namespaceFile(path: string, namespace: string): string {
  if (namespace === FIRST) return path;
  const end = extname(path);
  return `${path.slice(0, path.length - end.length)}.${namespace}${end}`;
}

export async function devCommand(call: DevCall): Promise<number> {
  const { options, io, print, signal } = call;
  const began = performance.now();
  const file = options.dbFilename === undefined ? undefined : resolve(io.cwd, options.dbFilename);
  const namespaces = [...new Set([FIRST, ...options.namespace])];
  const origins = usage(() => {
    namespaces.forEach(checkNamespace);
    return options.origin.map(parseOrigin);
  });
  if (origins.length > 0 && options.httpPort === undefined) {
    throw new UsageError(
      "--origin is for pages that call the HTTP port; give it one with --http-port",
    );
  }
  const port = portOf("--port", options.port);
  const httpPort = options.httpPort === undefined
    ? undefined
    : portOf("--http-port", options.httpPort);
  if (port !== 0 && port === httpPort) {
    throw new UsageError(`--port and --http-port are both ${port}; name two`);
  }
  const logger = consoleLogger(options.logLevel);
  const server = await start({
    port,
    httpPort,
    origins,
    namespaces,
    file,
    logger,
    retentionMs: options.retention,
    timers: options.timers,
    searchAttributes: Object.fromEntries(options.searchAttribute.map(registeredAttribute)),
  });
  try {
    const ready = {
      event: "ready",
      address: `127.0.0.1:${server.port}`,
      port: server.port,
      ...(server.httpPort !== undefined && { httpAddress: `http://127.0.0.1:${server.httpPort}` }),
      namespaces: server.namespaces.names,
      ...(file !== undefined && { store: file }),
      ms: Math.round(performance.now() - began),
    };
    print.result(ready, () => readyText(call, server, ready, file));
    await new Promise<void>((done) =>
      signal.aborted ? done() : signal.addEventListener("abort", () => done())
    );
  } finally {
    await server.close();
  }
  print.result({ event: "stopped" }, () => "stopped\n");
  return Exit.ok;
}

function usage<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function portOf(option: string, port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new UsageError(`${option} must be a port from 0 to 65535, not ${port}`);
}

/** Reads "customer=Keyword". */
function registeredAttribute(text: string): [name: string, type: number] {
  const at = text.indexOf("=");
  const type = attributeTypeOf(text.slice(at + 1));
  if (at > 0 && type !== undefined) return [text.slice(0, at), type];
  throw new UsageError(
    `--search-attribute must be name=type with Text, Keyword, Int, Double, Bool, Datetime or KeywordList, not "${text}"`,
  );
}

interface Start {
  readonly port: number;
  readonly httpPort: number | undefined;
  readonly origins: readonly string[];
  readonly namespaces: readonly string[];
  readonly file: string | undefined;
  readonly retentionMs: number | undefined;
  readonly timers: "due" | "manual";
  readonly searchAttributes: { readonly [name: string]: number };
  readonly logger: Logger;
}

async function start({ file, ...options }: Start): Promise<DevServer> {
  const { logger } = options;
  try {
    return await startDevServer({
      ...options,
      ...(file !== undefined && {
        // Other commands on this machine find the files themselves.
        announce: (engine) => new DeferredServer(engine, true, logger),
        registry: namespaceFileAt(
          `${file}-namespaces.json`,
          (namespace) => namespaceFile(file, namespace),
        ),
      }),
      extra: (namespaces) => [
        sqlMethod((name) => namespaces.engineOf(name)?.store),
        fireTimerMethod((name) => namespaces.engineOf(name)),
      ],
      storeOf: (namespace) => file === undefined ? undefined : namespaceFile(file, namespace),
    });
  } catch (error) {
    const { code, port } = error as { code?: string; port?: number };
    if (code === "EADDRINUSE" || code === "AddrInUse") {
      const [option, taken] = port === options.httpPort
        ? ["--http-port", options.httpPort]
        : ["--port", port ?? options.port];
      throw new CommandError(
        `port ${taken} is taken, perhaps by another Temporal server; end that, or choose another port with ${option} (0: any free one)`,
      );
    }
    if (code === "EACCES") {
      throw new CommandError(`the port may not be used by this user; choose one above 1023`);
    }
    throw error;
  }
}

function readyText(
  { print, io }: DevCall,
  server: DevServer,
  { address, ms }: { address: string; ms: number },
  file?: string,
): string {
  const short = (path: string) =>
    path.startsWith(`${resolve(io.cwd)}/`) ? path.slice(resolve(io.cwd).length + 1) : path;
  const { names } = server.namespaces;
  const usual = server.port === 7233;
  const to = usual ? "" : ` --address ${address}`;
  const command = (line: string) => `  ${print.paint(line, "cyan")}`;
  return `${print.paint("temporalex dev", "bold")} ${VERSION} serves Temporal's API on ${
    print.paint(address, "green")
  } (${ms} ms)\n\n` +
    print.fields([
      ["  namespaces", names.join(", ")],
      [
        "  store",
        file === undefined
          ? "in memory, gone with this process; --db-filename keeps it"
          : names.map((name) => short(namespaceFile(file, name))).join(", "),
      ],
      ["  http", server.httpPort === undefined ? undefined : `http://127.0.0.1:${server.httpPort}`],
    ]) +
    `\nNow, in another terminal:\n` +
    `${command(`temporalex worker --address ${address} --workflows ./workflows.ts`)}\n` +
    `${command(`temporal workflow list${to}`)}\n` +
    `Temporal's SDKs ${
      usual ? "find it at their default address" : `connect to ${address}`
    }. Ctrl-C ends it.\n`;
}
