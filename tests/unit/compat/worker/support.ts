// Workers of `temporalex/compat/worker` on a server of this process, with lines of the log to look
// at.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { silentLogger } from "../../../../ts/base/logger.ts";
import { Client } from "../../../../ts/client/mod.ts";
import { startDevServer } from "../../../../ts/dev/server.ts";
import { Connection } from "../../../../ts/grpc/mod.ts";
import {
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
  type TelemetryOptions,
  Worker,
  type WorkerOptions,
} from "../../../../ts/compat/worker/mod.ts";

/** Lines of all workers of the file. */
export const lines: LogEntry[] = [];

/** A workflow module in the folder of the tests. */
export const modulePath = (name: string): string =>
  fileURLToPath(new URL(`./modules/${name}`, import.meta.url));

export interface Setting {
  readonly client: Client;
  readonly connection: NativeConnection;
  /** A worker whose queue has the name of the worker. */
  worker(name: string, options: Omit<WorkerOptions, "taskQueue" | "connection">): Promise<Worker>;
}

/** A server, a client and connections to it, until the test file ends. */
export async function setting(
  telemetryOptions: TelemetryOptions = {},
): Promise<Setting & { close(): Promise<void> }> {
  const server = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  const address = `127.0.0.1:${server.port}`;
  Runtime.install({
    logger: new DefaultLogger("TRACE", (entry) => lines.push(entry)),
    telemetryOptions,
  });
  const service = await Connection.connect({ address });
  const connection = await NativeConnection.connect({ address });
  return {
    client: new Client({ service, logger: silentLogger }),
    connection,
    worker: (taskQueue, options) => Worker.create({ connection, taskQueue, ...options }),
    close: async () => {
      await connection.close();
      await service.close();
      await server.close();
      await Runtime._instance?.shutdown();
    },
  };
}

/** A folder with these files, removed after the test. */
export function folderWith(t: TestContext, files: { readonly [name: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-compat-worker-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** A project whose modules of \`@temporalio\` are this package's. */
export function project(t: TestContext, files: { readonly [name: string]: string }): string {
  const folder = folderWith(t, { "package.json": '{ "type": "module" }', ...files });
  for (const name of ["common", "workflow"]) {
    const home = join(folder, "node_modules/@temporalio", name);
    mkdirSync(join(home, "lib"), { recursive: true });
    writeFileSync(
      join(home, "package.json"),
      `{ "name": "@temporalio/${name}", "type": "module", "main": "index.js" }`,
    );
    const again = (file: string) =>
      `export * from ${
        JSON.stringify(new URL(`../../../../ts/compat/${name}/${file}.js`, import.meta.url).href)
      };\n`;
    writeFileSync(join(home, "index.js"), again("mod"));
    if (name === "common") writeFileSync(join(home, "lib/encoding.js"), again("lib"));
  }
  return folder;
}
