// The health service of gRPC (grpc.health.v1.Health), called by `temporal operator cluster health`,
// containers and load balancers.
import { HealthCheckRequest, HealthCheckResponse } from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";
import { textField } from "../engine/host_bytes.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";

const HEALTH = "grpc.health.v1.Health";
const Status = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

const answer = (status: number) => new Message().int(HealthCheckResponse.status, status).finish();

export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #stopping = new AbortController();

  /** The service name "" is the server as a whole. */
  constructor(services: readonly string[]) {
    this.#services = new Set(["", ...services]);
  }

  /** Reports NOT_SERVING from now on, also to open Watch streams, which then end. */
  stop(): void {
    this.#stopping.abort();
  }

  #status(service: string): number {
    if (!this.#services.has(service)) return Status.SERVICE_UNKNOWN;
    return this.#stopping.signal.aborted ? Status.NOT_SERVING : Status.SERVING;
  }

  async *#watch(service: string, gone: AbortSignal): AsyncGenerator<Uint8Array> {
    const stopping = this.#stopping.signal;
    const before = this.#status(service);
    yield answer(before);
    if (!stopping.aborted) {
      await new Promise<void>((resolve) => {
        for (const signal of [gone, stopping]) {
          if (signal.aborted) resolve();
          else signal.addEventListener("abort", () => resolve(), { once: true });
        }
      });
    }
    const after = this.#status(service);
    if (!gone.aborted && after !== before) yield answer(after);
  }

  readonly methods: readonly ExtraMethod[] = [
    {
      service: HEALTH,
      method: "Check",
      unary: (request) => {
        const service = textField(request, HealthCheckRequest.service);
        const status = this.#status(service);
        if (status === Status.SERVICE_UNKNOWN) {
          throw new ServiceError(Code.NOT_FOUND, `unknown service ${service}`, "NotFound");
        }
        return answer(status);
      },
    },
    {
      service: HEALTH,
      method: "Watch",
      stream: (request, signal) =>
        this.#watch(textField(request, HealthCheckRequest.service), signal),
    },
  ];
}
