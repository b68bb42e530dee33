// `temporalex dev` as a process, for tests that hold it against a real Temporal dev server: in the
// runtime of the test.
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { startCommand, type Started } from "../../../unit/cli/support/process.ts";

export class OurServer {
  readonly address: string;
  readonly #started: Started;

  private constructor(started: Started, address: string) {
    this.#started = started;
    this.address = address;
  }

  /** Resolves when the server responds. */
  static async start(...options: string[]): Promise<OurServer> {
    const started = startCommand([
      "dev",
      ...(options.includes("--port") ? [] : ["--port", "0"]),
      "--json",
      ...options,
    ], ".");
    process.once("exit", () => started.child.kill("SIGKILL"));
    const ready = await started.line("ready", ({ event }) => event === "ready");
    const address = ready["address"] as string;
    const probe = new GrpcService({ address });
    await probe.call("getSystemInfo", new Uint8Array(0)).finally(() => probe.close());
    return new OurServer(started, address);
  }

  /** What it has said on standard error. */
  get said(): string {
    return this.#started.err();
  }

  /** Ends it in order, or as a crash would; the exit code. */
  stop(signal: "SIGINT" | "SIGKILL" = "SIGINT"): Promise<number | null> {
    return this.#started.end(signal);
  }
}
