// Where a link leads, and why it could not be made or has ended.
import type { ConnectionOptions as NodeTlsOptions } from "node:tls";
import type { Proxy } from "./proxy.ts";

/** Where a link leads. */
export interface LinkTarget {
  /** `host:port`, or `unix:` and a path: for messages, and as :authority. */
  readonly address: string;
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** undefined: plain HTTP/2. */
  readonly tls: NodeTlsOptions | undefined;
  /** What stands in between; only where `at` is a host. */
  readonly proxy: Proxy | undefined;
}

/** Why a link, and every call on it, ended. */
export class LinkError extends Error {
  override name = "LinkError";
  /** The node error's code where there is one ("ECONNREFUSED"). */
  readonly code: string;
  /** Of a connection that was not made: whether its options are why (connect_errors.ts). */
  readonly setup: "yes" | "perhaps" | "no";

  constructor(message: string, code = "", options?: ErrorOptions & { setup?: "yes" | "perhaps" | "no" }) {
    super(message, options);
    this.code = code;
    this.setup = options?.setup ?? "no";
  }
}
