// The proxy for an address by HTTPS_PROXY and NO_PROXY, with the rules of Go programs such as
// Temporal's command line. Connections do not use it by default, like Temporal's workers: a
// variable for another program must not redirect a worker and its API key. The command line of this
// package does use it.
import { builtin } from "../../platform/builtin.ts";
import type * as Net from "node:net";
import type { ProxyOptions } from "../proxy.ts";

type Variables = { readonly [name: string]: string | undefined };

/**
 * Returns the proxy of HTTPS_PROXY (or https_proxy) for option `proxy` of a connection to
 * `address`. Undefined without the variable, for addresses in NO_PROXY (or no_proxy), and for this
 * machine. NO_PROXY lists names, which include subdomains (with a leading dot: only those), IP
 * addresses and ranges (10.0.0.0/8), each with an optional port, or is "*".
 *
 * Throws a TypeError if HTTPS_PROXY does not have the form `http://user:password@host:port`; its
 * value is not in the message.
 *
 * @example
 * const connection = await Connection.connect({ address, proxy: proxyFromEnvironment(address) });
 */
export function proxyFromEnvironment(
  address = "localhost:7233",
  variables?: Variables,
): ProxyOptions | undefined {
  const env = variables ?? (globalThis as { process?: { env?: Variables } }).process?.env ?? {};
  const named = env["HTTPS_PROXY"] || env["https_proxy"];
  if (
    !named || address.startsWith("unix:") ||
    isExcepted(address, env["NO_PROXY"] || env["no_proxy"] || "")
  ) return undefined;
  const text = named.trim();
  const url = parsed(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === undefined || url.hostname === "" || (url.pathname !== "/" && url.pathname !== "")) {
    throw new TypeError(
      "the environment variable HTTPS_PROXY is not a proxy address; write http://host:port",
    );
  }
  if (url.protocol !== "http:") {
    throw new TypeError(
      `the environment variable HTTPS_PROXY names a proxy of "${
        url.protocol.slice(0, -1)
      }"; only "http" is supported: http://host:port`,
    );
  }
  const targetHost = `${url.hostname}:${url.port || "80"}`;
  if (url.username === "") return { type: "http-connect", targetHost };
  try {
    const basicAuth = {
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
    return { type: "http-connect", targetHost, basicAuth };
  } catch {
    // Without a cause, which would quote the values.
    throw new TypeError(
      'the credentials in the environment variable HTTPS_PROXY are not percent-encoded ("%" is "%25")',
    );
  }
}

const parsed = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);

function isExcepted(address: string, exceptions: string): boolean {
  const url = parsed(`grpc://${address}`);
  // The connection rejects invalid addresses.
  if (url === undefined) return true;
  const net = builtin<typeof Net>("node:net");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "").toLowerCase();
  const family = (
    text: string,
  ) => (net?.isIP(text) === 6 ? "ipv6" : net?.isIP(text) === 4 ? "ipv4" : undefined);
  const kind = family(host);
  if (host === "localhost" || host === "::1" || (kind === "ipv4" && host.startsWith("127."))) {
    return true;
  }
  return exceptions.toLowerCase().split(/[\s,]+/).some((entry) => {
    if (entry === "") return false;
    if (entry === "*") return true;
    const range = /^(.+)\/(\d{1,3})$/.exec(entry);
    if (range !== null) {
      const [, base, bits] = range;
      const of = family(base!);
      if (
        net === undefined || of === undefined || of !== kind ||
        Number(bits) > (of === "ipv4" ? 32 : 128)
      ) return false;
      const list = new net.BlockList();
      list.addSubnet(base!, Number(bits), of);
      return list.check(host, of);
    }
    const [, name, port] = family(entry) === "ipv6"
      ? [, entry, undefined]
      : /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry)!;
    if (port !== undefined && port !== url.port) return false;
    const below = name!.replace(/^\*?\./, ".");
    if (kind !== undefined) return below === host;
    return below.startsWith(".")
      ? host.endsWith(below)
      : host === below || host.endsWith(`.${below}`);
  });
}
