// Connects through an HTTP proxy (CONNECT, RFC 9110 section 9.3.6). The proxy learns only the
// destination: TLS is between caller and cluster, so certificates and API keys are not visible to
// it.
import { nodeNet } from "./node_net.ts";

/** An HTTP proxy in front of a cluster, with the names of Temporal's SDKs. */
export interface ProxyOptions {
  /** The only supported type. */
  type?: "http-connect";
  /** `host:port` of the proxy, or `http://host:port`. The request to the proxy is not encrypted. */
  targetHost: string;
  /** Credentials for the proxy (Basic); never sent to the cluster. */
  basicAuth?: { username: string; password: string };
}

/** A validated proxy. */
export interface Proxy {
  /** `host:port`, for messages. */
  readonly address: string;
  readonly at: { readonly host: string; readonly port: number };
  /** Value of `proxy-authorization`. */
  readonly authorization: string | undefined;
}

const OPTIONS = ["type", "targetHost", "basicAuth"];

/**
 * Validates a proxy's options. Throws a TypeError that names the option, without values that may be
 * secret.
 */
export function proxyOf(options: ProxyOptions): Proxy {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `proxy must be an object such as { targetHost: "host:port" }, not ${kindOf(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) {
      throw new TypeError(
        `proxy.${name} is not an option of a proxy; known options: ${OPTIONS.join(", ")}`,
      );
    }
  }
  const { type, targetHost, basicAuth } = options;
  if (type !== undefined && type !== "http-connect") {
    throw new TypeError('proxy.type must be "http-connect"; other proxy types are not supported');
  }
  const { address, at } = placeOf(targetHost);
  return {
    address,
    at,
    authorization: basicAuth === undefined ? undefined : authorizationOf(basicAuth),
  };
}

function placeOf(targetHost: unknown): Pick<Proxy, "address" | "at"> {
  const wanted = 'proxy.targetHost must be "host:port" or "http://host:port"';
  if (typeof targetHost !== "string") throw new TypeError(`${wanted}, not ${kindOf(targetHost)}`);
  if (targetHost.includes("@")) {
    throw new TypeError(`${wanted}, without credentials: set them in proxy.basicAuth`);
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(targetHost);
  if (scheme !== null && scheme[1]!.toLowerCase() !== "http") {
    throw new TypeError(
      `${wanted}, not a proxy of "${
        scheme[1]
      }": the connection to the proxy uses plain HTTP (TLS to the server is tunneled)`,
    );
  }
  const place = scheme === null
    ? targetHost
    : targetHost.slice(scheme[0].length).replace(/\/$/, "");
  // URL keeps the port for a scheme without a default port.
  const url = /^[^\s/?#]+:\d+$/.test(place) && URL.canParse(`proxy://${place}`)
    ? new URL(`proxy://${place}`)
    : undefined;
  if (url === undefined || url.hostname === "" || url.port === "" || url.port === "0") {
    throw new TypeError(`${wanted}, not "${targetHost}"`);
  }
  return { address: url.host, at: { host: bare(url.hostname), port: Number(url.port) } };
}

function authorizationOf(basicAuth: unknown): string {
  if (typeof basicAuth !== "object" || basicAuth === null) {
    throw new TypeError(`proxy.basicAuth must be { username, password }, not ${kindOf(basicAuth)}`);
  }
  const { username, password, ...rest } = basicAuth as { username: unknown; password: unknown };
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new TypeError(
      `proxy.basicAuth.${other} is not an option; known options: username, password`,
    );
  }
  for (const [name, value] of Object.entries({ username, password })) {
    if (typeof value !== "string") {
      throw new TypeError(`proxy.basicAuth.${name} must be a string, not ${kindOf(value)}`);
    }
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f]/.test(value)) {
      throw new TypeError(
        `proxy.basicAuth.${name} has characters that are invalid in a header; check for a line break at the end`,
      );
    }
  }
  if (username === "") throw new TypeError("proxy.basicAuth.username is empty");
  if ((username as string).includes(":")) {
    throw new TypeError(
      "proxy.basicAuth.username has a colon, which is invalid in a Basic user name",
    );
  }
  return `Basic ${Buffer.from(`${username}:${password}`, "utf8").toString("base64")}`;
}

const kindOf = (value: unknown) => (value === null ? "null" : typeof value);

/** Removes the brackets of an IPv6 address. */
function bare(hostname: string): string {
  const inner = hostname.slice(1, -1);
  return nodeNet().isIPv6(inner) ? inner : hostname;
}
