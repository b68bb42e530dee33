// Target of a link, and the error that describes why it could not connect or has ended.
import type { ConnectionOptions as NodeTlsOptions } from "node:tls";
import type { Proxy } from "./proxy.ts";

export interface LinkTarget {
  /** `host:port`, or `unix:` and a path: for messages, and as :authority. */
  readonly address: string;
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** undefined: plain HTTP/2. */
  readonly tls: NodeTlsOptions | undefined;
  /** Proxy between client and server; only if `at` is a host. */
  readonly proxy: Proxy | undefined;
}

/** Reason why a link, and every call on it, ended. */
export class LinkError extends Error {
  override name = "LinkError";
  /** Code of the Node error, if there is one ("ECONNREFUSED"). */
  readonly code: string;
  /** For a failed attempt: whether its options are the cause (connect_errors.ts). */
  readonly setup: "yes" | "perhaps" | "no";

  constructor(
    message: string,
    code = "",
    options?: ErrorOptions & { setup?: "yes" | "perhaps" | "no" },
  ) {
    super(message, options);
    this.code = code;
    this.setup = options?.setup ?? "no";
  }
}
