// Looks for a marker word in everything that leaves the process: requests and their headers, log
// lines, spans, metrics, files, reports.
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { LogFields, Logger } from "../../../../ts/base/logger.ts";
import { MessageCodec } from "../../../../ts/codec/message_codec.ts";
import { planOf } from "../../../../ts/codec/payload_plan.ts";
import type { CallOptions, MethodName, RawService } from "../../../../ts/service/raw.ts";
import { invertingSyncCodec } from "../../../support/codecs.ts";
import { MARK } from "./words.ts";

export const codec = invertingSyncCodec();

/** The marker as it can be in bytes: UTF-8, UTF-16, and base64 in its three phases. */
export const NEEDLES: readonly string[] = [
  MARK,
  Buffer.from(MARK, "utf16le").toString("latin1"),
  ...[0, 1, 2].map((phase) => {
    const whole = Buffer.from(`${"x".repeat(phase)}${MARK}xxx`).toString("base64");
    // The first and the last characters also hold bits of the text next to the marker.
    return whole.slice(phase === 0 ? 0 : 4, Math.floor((phase + MARK.length) / 3) * 4);
  }),
];

/** Methods of Temporal's service whose requests can have payloads. */
export const PAYLOAD_METHODS: readonly MethodName[] =
  (Object.keys(WorkflowService.method) as MethodName[])
    .filter((method) => planOf(WorkflowService.method[method].input).steps.size > 0);

/**
 * Members of the compat clients that are marked as internal: other parts of the package use them.
 */
export const INTERNAL = [
  "decoded",
  "operationContext",
  "callSettings",
  "dataConverter",
  "workflowSerializationContext",
];

type Member = (...args: unknown[]) => unknown;

export class Scan {
  /** Places where the marker was found in plain. */
  readonly leaks: string[] = [];
  /** Lines, spans and other texts that were looked at. */
  texts = 0;
  /**
   * Methods with a request whose decoded payloads have the marker: its absence before shows that
   * the codec did its work.
   */
  readonly marked = new Set<MethodName>();
  readonly #public = new Map<string, boolean>();
  readonly #decoder = MessageCodec.of({ codec })!;
  readonly #decoding: Promise<void>[] = [];

  /** Notes where the marker is in the data. */
  look(where: string, data: Uint8Array | string): void {
    this.texts++;
    const text = typeof data === "string"
      ? data
      : Buffer.from(data.buffer, data.byteOffset, data.length).toString("latin1");
    for (const needle of NEEDLES) {
      const at = text.indexOf(needle);
      if (at >= 0) {
        this.leaks.push(
          `${where}: ...${JSON.stringify(text.slice(Math.max(0, at - 120), at + 80))}`,
        );
      }
    }
  }

  /** Returns a service whose requests are looked at. Everything else is the service's own. */
  recorded(service: RawService, who: string): RawService {
    const call = (
      method: MethodName,
      request: Uint8Array,
      options: CallOptions = {},
    ): Promise<Uint8Array> => {
      const { signal: _, ...sent } = options;
      this.look(`${who} ${method}`, request);
      this.look(`${who} ${method} options`, JSON.stringify(sent, asText));
      this.#decoding.push(this.#noteMarked(method, request));
      return service.call(method, request, options);
    };
    return new Proxy(service, {
      get: (target, name) => {
        if (name === "call") return call;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** Resolves when all requests so far were decoded. */
  async settled(): Promise<void> {
    await Promise.all(this.#decoding.splice(0));
  }

  async #noteMarked(method: MethodName, request: Uint8Array): Promise<void> {
    const decoded = await this.#decoder.decode(WorkflowService.method[method].input, request, {
      lenient: true,
    });
    if (Buffer.from(decoded).includes(MARK)) this.marked.add(method);
  }

  /** A logger whose lines are looked at, of all levels. */
  logger(who: string): Logger {
    const level = (name: string) => (message: string, fields: LogFields = {}) =>
      this.look(
        `${who} log, ${name} "${message.slice(0, 60)}"`,
        `${message} ${JSON.stringify(fields, asText)}`,
      );
    return {
      debug: level("debug"),
      info: level("info"),
      warn: level("warn"),
      error: level("error"),
    };
  }

  /**
   * From now on notes which public members of a class are used. Members of its base classes count
   * as its own, but for those in `without`, which are internal.
   */
  watchClass(
    name: string,
    { prototype }: { readonly prototype: object },
    without: readonly string[] = [],
  ): void {
    const seen = new Set<string>(without);
    for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
      for (const member of Object.getOwnPropertyNames(at)) {
        if (member === "constructor" || member.startsWith("_") || seen.has(member)) continue;
        seen.add(member);
        const { get, value } = Object.getOwnPropertyDescriptor(at, member)!;
        const path = `${name}.${member}`;
        if (get === undefined && typeof value !== "function") continue;
        this.#public.set(path, false);
        const used = () => void this.#public.set(path, true);
        Object.defineProperty(prototype, member, {
          configurable: true,
          enumerable: false,
          ...(get !== undefined
            ? { get: noting(get, used) as () => unknown }
            : { writable: true, value: noting(value as Member, used) }),
        });
      }
    }
  }

  /** The same for an object whose members are its own. */
  watchObject<T extends object>(name: string, object: T): T {
    for (const [member, value] of Object.entries(object) as [string, unknown][]) {
      if (typeof value !== "function") continue;
      const path = `${name}.${member}`;
      if (!this.#public.has(path)) this.#public.set(path, false);
      (object as Record<string, unknown>)[member] = noting(
        value as Member,
        () => void this.#public.set(path, true),
      );
    }
    return object;
  }

  /** Public members that nothing has used. */
  get unused(): string[] {
    return [...this.#public].filter(([, used]) => !used).map(([path]) => path);
  }

  /** All public members that are watched. */
  get members(): string[] {
    return [...this.#public.keys()];
  }
}

function noting(member: Member, used: () => void): Member {
  return function (this: unknown, ...args: unknown[]) {
    used();
    return member.apply(this, args);
  };
}

/** What JSON leaves out: text of errors with their causes, big integers, bytes. */
export function asText(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (value instanceof Map || value instanceof Set) return [...value];
  if (!(value instanceof Error)) return value;
  return {
    ...value,
    name: value.name,
    message: value.message,
    stack: value.stack,
    cause: value.cause,
  };
}
