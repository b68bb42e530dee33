// A real Temporal dev server and `temporalex dev` in this process, each with a connection, for tests
// that compare them.
import { silentLogger } from "../../../../ts/base/logger.ts";
import { type DevServer as OwnServer, startDevServer } from "../../../../ts/dev/server.ts";
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { DevServer } from "./dev_server.ts";

export class BothServers {
  /** Of the Temporal dev server, then of `temporalex dev`. */
  readonly addresses: readonly string[];
  /** In the same order. */
  readonly services: readonly GrpcService[];
  readonly #theirs: DevServer;
  readonly #ours: OwnServer;

  private constructor(theirs: DevServer, ours: OwnServer) {
    this.#theirs = theirs;
    this.#ours = ours;
    this.addresses = [theirs.address, `127.0.0.1:${ours.port}`];
    this.services = this.addresses.map((address) => new GrpcService({ address }));
  }

  /** `settings` are of the Temporal server's dynamic configuration, each as KEY=JSON. */
  static async start(settings: readonly string[] = []): Promise<BothServers> {
    const theirs = await DevServer.start(settings);
    const ours = await startDevServer({
      port: 0,
      namespaces: ["default"],
      storeOf: () => undefined,
      logger: silentLogger,
    });
    return new BothServers(theirs, ours);
  }

  async close(): Promise<void> {
    for (const service of this.services) service.close();
    await this.#ours.close();
    await this.#theirs.stop();
  }
}
