// A real Temporal dev server for one test file: on the loopback, on free ports, in memory, ended by
// its process id.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { DescribeNamespaceRequestSchema } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { freePort } from "../../../support/ports.ts";

/** The dev server's binary; undefined if it is not installed. */
export function temporalCli(): string | undefined {
  const named = process.env["TEMPORAL_CLI"];
  if (named !== undefined && named !== "") return named;
  const found = spawnSync("which", ["temporal"], { encoding: "utf8" });
  if (found.status === 0) return found.stdout.trim();
  const built = join(homedir(), "go/bin/temporal");
  return existsSync(built) ? built : undefined;
}

/** For `{ skip }` of tests: false, or why they cannot run. */
export const noServer: string | false = temporalCli() === undefined
  ? "no Temporal dev server (set TEMPORAL_CLI, or: go install github.com/temporalio/cli/cmd/temporal@v1.5.1)"
  : false;

/** An unattended machine may be slow. */
const START_MS = 90_000;

export class DevServer {
  readonly address: string;
  readonly #process: ChildProcess;
  #exited = false;

  private constructor(process: ChildProcess, address: string) {
    this.#process = process;
    this.address = address;
    process.once("exit", () => this.#exited = true);
  }

  /** The server's process. */
  get pid(): number {
    return this.#process.pid!;
  }

  /**
   * Resolves when the server responds. `settings` are of its dynamic configuration, each as
   * KEY=JSON. With `file` it keeps its data there, and with `address` it restarts at the same
   * address: for a test that ends it halfway. It chooses the ports of its inner services itself,
   * and another process may take one before it listens: a server that reports this is restarted.
   */
  static async start(
    settings: readonly string[] = [],
    { file, address }: { file?: string; address?: string } = {},
  ): Promise<DevServer> {
    try {
      return await DevServer.#start(settings, file, address);
    } catch (error) {
      if (!/address already in use/.test((error as Error).message)) throw error;
      return await DevServer.#start(settings, file, address);
    }
  }

  static async #start(
    settings: readonly string[],
    file: string | undefined,
    address: string | undefined,
  ): Promise<DevServer> {
    const port = address === undefined ? await freePort() : Number(address.split(":")[1]);
    // Another process may have the port by the time that the server opens it, for example the
    // server of another test: only this one has this namespace.
    const own = `its-own-${randomUUID()}`;
    const args = [
      "server",
      "start-dev",
      "--headless",
      "--ip",
      "127.0.0.1",
      "--log-level",
      "error",
      "--namespace",
      own,
    ];
    if (file !== undefined) args.push("--db-filename", file);
    for (const setting of settings) args.push("--dynamic-config-value", setting);
    const child = spawn(temporalCli()!, [
      ...args,
      "--port",
      String(port),
      "--http-port",
      String(await freePort()),
    ], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr!.on("data", (chunk) => said += chunk);
    const server = new DevServer(child, `127.0.0.1:${port}`);
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    const probe = new GrpcService({ address: server.address });
    try {
      for (const end = performance.now() + START_MS;;) {
        if (server.#exited) throw new Error(`the dev server ended: ${said}`);
        try {
          // The frontend responds before its namespace exists. (A call that is canceled too early
          // may block its only database connection.)
          await probe.call("getSystemInfo", new Uint8Array(0), { timeoutMs: 10_000 });
          for (const namespace of ["default", own]) {
            await probe.call(
              "describeNamespace",
              toBinary(
                DescribeNamespaceRequestSchema,
                create(DescribeNamespaceRequestSchema, { namespace }),
              ),
              { timeoutMs: 10_000 },
            );
          }
          return server;
        } catch (error) {
          if (performance.now() > end) {
            throw new Error(`the dev server does not answer: ${(error as Error).message} ${said}`);
          }
          await delay(200);
        }
      }
    } catch (error) {
      await server.stop();
      throw error;
    } finally {
      probe.close();
    }
  }

  /** Ends it as a power failure would. */
  async kill(): Promise<void> {
    const exit = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await exit;
  }

  async stop(): Promise<void> {
    if (this.#exited) return;
    const exit = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGTERM");
    const gone = await Promise.race([exit.then(() => true), delay(5000, false, { ref: false })]);
    if (!gone) this.#process.kill("SIGKILL");
    await exit;
  }
}
