// Resolves specifiers in workflow modules: Node's rules (node_modules upward, package.json
// `exports` and `imports`), and the forms of TypeScript users: "./a.js" for a.ts, no extension, a
// folder's index. Modules of Node, Deno and Bun and modules from the network are rejected by name.
// The package's own workflow API resolves to the instance of the realm.
import { matchSubpath } from "./package_exports.ts";
import { packageFolder } from "./package_files.ts";
import type { ModuleKind } from "./module_code.ts";
import type { SourceHost } from "./source_host.ts";
import { displayName, type ProblemCode } from "./errors.ts";

/**
 * Modules of `@temporalio/*` programs that the realm provides; "lib" is for deep imports of a
 * package.
 */
export type TemporalModule =
  | "temporal/workflow"
  | "temporal/common"
  | "temporal/workflow/lib"
  | "temporal/common/lib";
/** Modules of Node of which the official sandbox provides a part. */
export type SandboxModule = "assert" | "url" | "util";
/** A module of Node that is unavailable to workflow code, or available in part. */
export interface HostModule {
  readonly name: string;
  /** An alternative. */
  readonly advice: string;
}

/** Modules that the realm provides. */
export type Provided = "workflow" | "converter" | TemporalModule | SandboxModule;

export type Resolution =
  | { readonly kind: "file"; readonly url: string }
  /** `onlyForRuns`: why modules that all runs share cannot import it. */
  | {
    readonly kind: "provided";
    readonly module: Provided;
    readonly onlyForRuns?: string;
    readonly host?: HostModule;
  }
  /** `host`: a module of Node, which packages may import but not call. */
  | {
    readonly kind: "refused";
    readonly code: ProblemCode;
    readonly message: string;
    readonly host?: HostModule;
  };

/** Resolves specifiers, and determines the kind of modules. */
export interface ModuleResolver {
  /** An entry is resolved from itself. */
  resolve(specifier: string, parent: string, how?: "import" | "require"): Resolution;
  /** Returns the module's kind if it is known without its text. */
  kindOf(url: string): ModuleKind | undefined;
  /**
   * Whether `default` of a CommonJS module with `__esModule` is its `exports.default` in this
   * module, as in bundlers and compilers, or `module.exports`, as in Node for declared ES modules.
   * For programs of `@temporalio/workflow`.
   */
  takesDefault(url: string): boolean;
  /** Returns the name of the package of a module, given by address or by its name in messages. */
  packageOf(url: string): string | undefined;
}

/**
 * Conditions for package.json `exports`. A realm resembles a web worker: builds for browsers work,
 * builds for Node import its modules.
 */
const IMPORT = new Set([
  "temporalex-workflow",
  "workflow",
  "worker",
  "browser",
  "import",
  "module",
  "default",
]);
const REQUIRE = new Set([
  "temporalex-workflow",
  "workflow",
  "worker",
  "browser",
  "require",
  "default",
]);

const NODE_MODULES = new Set(
  ("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 " +
    "https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls " +
    "trace_events tty url util v8 vm wasi worker_threads zlib").split(" "),
);

/** Alternatives to modules of the runtime. */
const INSTEAD: { readonly [name: string]: string } = {
  timers: 'use sleep() of "temporalex/workflow"',
  "timers/promises": 'use sleep() of "temporalex/workflow"',
  crypto: "use crypto.randomUUID(), which is seeded in workflow code; hash and sign in an activity",
  events: "use receive() for messages, or EventTarget for events inside one run",
  assert: "throw an Error, or an ApplicationFailure to fail the workflow",
  "assert/strict": "throw an Error, or an ApplicationFailure to fail the workflow",
  buffer: "use Uint8Array with TextEncoder and TextDecoder",
  url: "use the global URL",
  util: "use TextEncoder, TextDecoder and structuredClone, which are available",
  path: "join the strings yourself, or work with paths in an activity",
  process: "pass what you need as an argument, or read it in sideEffect() or an activity",
};
const ACTIVITY = "do it in an activity, called with activities()";

const OWN = /^(?:npm:|jsr:)?(?:@temporalex\/)?temporalex(?:@[^/]+)?(?:\/(.+))?$/;
const OWN_FILE =
  /\/ts\/(mod|workflow\/mod|converter\/mod|compat\/workflow\/mod|compat\/common\/mod)\.[jt]s$/;
const OF_FILE: { readonly [file: string]: Provided } = {
  "converter/mod": "converter",
  "compat/workflow/mod": "temporal/workflow",
  "compat/common/mod": "temporal/common",
};
/** Packages of the official SDK, installed or not. */
const TEMPORAL = /^(?:npm:)?@temporalio\/(workflow|common)(?:@[^/]+)?(?:\/(lib\/.+|.+))?$/;
/** Packages of the official SDK for workers and clients. */
const TEMPORAL_HOST =
  /^(?:npm:)?@temporalio\/(?:activity|client|worker|testing|core-bridge)(?:[@/]|$)/;
/**
 * The module of stubs for workers in Temporal's OpenTelemetry packages, through which their
 * interceptors import `@temporalio/workflow`. Temporal's bundler replaces it with the real module
 * next to it.
 */
const WORKER_STUBS =
  /(\/@temporalio\/interceptors-opentelemetry(?:-v2)?\/(?:lib|src)\/workflow\/workflow-imports)(\.[jt]s)$/;
const SANDBOX: ReadonlySet<string> = new Set<SandboxModule>(["assert", "url", "util"]);
/** Tried in this order for a specifier without a file extension. */
const EXTENSIONS = [".ts", ".tsx", ".mts", ".js", ".mjs", ".cts", ".cjs", ".json"];
const FROM_JS: { readonly [extension: string]: readonly string[] } = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

interface PackageJson {
  readonly url: string;
  readonly name?: string;
  readonly type?: string;
  readonly main?: string;
  /**
   * Replacement of the main module for browsers, or replacements by module; `false`: an empty
   * module.
   */
  readonly browser?: string | { readonly [module: string]: string | false };
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/** The address of the empty module that replaces modules needed only in Node. */
export const EMPTY_MODULE = "file:///node_modules/(empty)/index.js";

const refused = (code: ProblemCode, message: string): Resolution => ({
  kind: "refused",
  code,
  message,
});

export class Resolver implements ModuleResolver {
  readonly #host: SourceHost;
  readonly #packages = new Map<string, PackageJson | undefined>();

  constructor(host: SourceHost) {
    this.#host = host;
  }

  resolve(specifier: string, parent: string, how: "import" | "require" = "import"): Resolution {
    const given = this.#host.instead?.(specifier, parent);
    if (given?.startsWith("file:")) return this.#file(given, specifier);
    const found = this.#resolve(given ?? specifier, parent, how);
    if (found.kind !== "refused") return found;
    const other = this.#host.fallback?.(specifier);
    if (other === undefined) return found;
    return other.startsWith("file:")
      ? this.#file(other, specifier)
      : this.#resolve(other, parent, how);
  }

  #resolve(specifier: string, parent: string, how: "import" | "require"): Resolution {
    const temporal = ofTemporal(specifier);
    if (temporal !== undefined) return temporal;
    const mapped = this.#host.map(specifier, parent);
    if (mapped !== undefined && mapped !== specifier) {
      return /^(?:file:|\.{0,2}\/)/.test(mapped)
        ? this.#file(new URL(mapped, parent).href, specifier)
        : this.resolve(mapped, parent, how);
    }
    if (/^\.{1,2}(?:\/|$)|^\/|^file:/.test(specifier)) return this.#relative(specifier, parent);
    const instead = this.#forBrowsers(parent, [specifier]);
    if (instead !== undefined && instead !== specifier) {
      if (instead === false) return { kind: "file", url: EMPTY_MODULE };
      return instead.startsWith("./")
        ? this.#file(new URL(instead, this.#packageAround(parent)!.url).href, specifier)
        : this.resolve(instead, parent, how);
    }
    const own = OWN.exec(specifier);
    if (own !== null) {
      if (own[1] === undefined || own[1] === "workflow") {
        return { kind: "provided", module: "workflow" };
      }
      if (own[1] === "compat/workflow") return { kind: "provided", module: "temporal/workflow" };
      if (own[1] === "compat/common") return { kind: "provided", module: "temporal/common" };
      return refused(
        "builtin-import",
        `imports "${specifier}", which belongs to the host's side; workflow code imports "temporalex/workflow"`,
      );
    }
    const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(specifier);
    if (scheme !== null) {
      return this.#scheme(specifier, scheme[1]!.toLowerCase(), scheme[2]!, parent, how);
    }
    if (specifier.startsWith("#")) return this.#internal(specifier, parent, how);
    const root = specifier.split("/")[0]!;
    if (NODE_MODULES.has(root)) return builtin(specifier, specifier);
    return this.#bare(specifier, parent, how);
  }

  /** Determines the kind from the file's name and its package. */
  kindOf(url: string): ModuleKind | undefined {
    const path = new URL(url).pathname;
    if (path.endsWith(".json")) return "json";
    if (/\.m[jt]s$/.test(path)) return "esm";
    if (/\.c[jt]s$/.test(path)) return "cjs";
    return this.#packageAround(url)?.type === "module" ? "esm" : undefined;
  }

  takesDefault(url: string): boolean {
    return this.kindOf(url) === undefined;
  }

  packageOf(url: string): string | undefined {
    return packageFolder(url)?.name;
  }

  #scheme(
    specifier: string,
    scheme: string,
    rest: string,
    parent: string,
    how: "import" | "require",
  ): Resolution {
    switch (scheme) {
      case "node":
        return builtin(specifier, rest);
      case "deno":
      case "bun":
      case "ext":
      case "cloudflare":
        return refused(
          "builtin-import",
          `imports "${specifier}", a module of the runtime, which workflow code cannot use: ${ACTIVITY}`,
        );
      case "npm": {
        // npm:name@version/subpath resolves to the package of that name in node_modules.
        const [, name, subpath = ""] = /^\/?((?:@[^/@]+\/)?[^/@]+)(?:@[^/]+)?(\/.*)?$/.exec(rest) ??
          [];
        if (name === undefined) {
          return refused("not-found", `imports "${specifier}", which names no package`);
        }
        return this.#bare(
          name + subpath,
          parent,
          how,
          rest.slice(rest.startsWith("/") ? 1 : 0, rest.length - subpath.length),
        );
      }
      case "data":
      case "blob":
        return refused("remote-import", `imports from a ${scheme}: URL; put the code into a file`);
      default:
        return refused(
          "remote-import",
          `imports "${specifier}" from the network: its content may differ at the next replay. Install it as a package, or copy it next to the workflow`,
        );
    }
  }

  #relative(specifier: string, parent: string): Resolution {
    let url: URL;
    try {
      url = new URL(specifier, parent);
    } catch {
      return refused(
        "not-found",
        `imports "${specifier}", which cannot be resolved from ${displayName(parent)}`,
      );
    }
    if (url.protocol !== new URL(parent).protocol) {
      return refused("remote-import", `imports "${specifier}" from outside of the file system`);
    }
    url.hash = "";
    return this.#file(url.href, specifier);
  }

  #file(href: string, specifier: string): Resolution {
    const found = this.#probe(href);
    if (found === undefined) {
      return refused(
        "not-found",
        `imports "${specifier}", but found no file ${
          displayName(href)
        }, with or without a known extension`,
      );
    }
    return this.#found(found);
  }

  #found(href: string): Resolution {
    let url = this.#host.real(href).replace(WORKER_STUBS, "$1-impl$2");
    const around = packageFolder(url) === undefined ? undefined : this.#packageAround(url);
    if (around !== undefined && typeof around.browser === "object") {
      const path = `./${url.slice(new URL(".", around.url).href.length)}`;
      const instead = this.#forBrowsers(url, [
        path,
        path.replace(/\.[cm]?js$/, ""),
        path.replace(/\/index\.[cm]?js$/, ""),
      ]);
      if (instead === false) return { kind: "file", url: EMPTY_MODULE };
      if (instead !== undefined) url = this.#probe(new URL(instead, around.url).href) ?? url;
    }
    const own = OWN_FILE.exec(url);
    if (own !== null && this.#packageAround(url)?.name === "temporalex") {
      return { kind: "provided", module: OF_FILE[own[1]!] ?? "workflow" };
    }
    if (url.endsWith(".node") || url.endsWith(".wasm")) {
      return refused(
        "unsupported-file",
        `imports ${displayName(url)}: native and WebAssembly modules belong in activities`,
      );
    }
    return { kind: "file", url };
  }

  /** Returns the package's replacement of a module for browsers. */
  #forBrowsers(parent: string, modules: readonly string[]): string | false | undefined {
    if (packageFolder(parent) === undefined) return undefined;
    const table = this.#packageAround(parent)?.browser;
    if (typeof table !== "object" || table === null) return undefined;
    const found = modules.find((module) => Object.hasOwn(table, module));
    return found === undefined ? undefined : table[found];
  }

  #probe(href: string): string | undefined {
    const isFile = (url: string) => this.#host.isFile(url);
    if (isFile(href)) return href;
    const extension = /\.[cm]?jsx?$/.exec(href)?.[0] ?? "";
    for (const other of FROM_JS[extension] ?? []) {
      const url = href.slice(0, -extension.length) + other;
      if (isFile(url)) return url;
    }
    const base = href.replace(/\/$/, "");
    if (base === href) {
      for (const e of EXTENSIONS) if (isFile(href + e)) return href + e;
    }
    for (const e of EXTENSIONS) if (isFile(`${base}/index${e}`)) return `${base}/index${e}`;
    return undefined;
  }

  #readPackage(folder: string): PackageJson | undefined {
    const url = `${folder}package.json`;
    if (this.#packages.has(url)) return this.#packages.get(url);
    let found: PackageJson | undefined;
    const text = this.#host.read(url);
    if (text !== undefined) {
      try {
        found = { ...JSON.parse(text) as PackageJson, url };
      } catch {
        // A damaged package.json is reported when something needs it.
        found = { url };
      }
    }
    this.#packages.set(url, found);
    return found;
  }

  #packageAround(url: string): PackageJson | undefined {
    for (const folder of foldersUpward(url)) {
      if (folder.endsWith("/node_modules/")) return undefined;
      const found = this.#readPackage(folder);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #internal(specifier: string, parent: string, how: "import" | "require"): Resolution {
    const around = this.#packageAround(parent);
    const target = around === undefined
      ? undefined
      : matchSubpath(around.imports, specifier, this.#conditions(how));
    if (around === undefined || target === undefined || target === null) {
      return refused(
        "not-found",
        `imports "${specifier}", which the "imports" of ${
          around === undefined ? "no package.json" : displayName(around.url)
        } does not define`,
      );
    }
    return target.startsWith("./")
      ? this.#file(new URL(target, around.url).href, specifier)
      : this.resolve(target, around.url, how);
  }

  /** `asked`: package name and version range of an `npm:` specifier. */
  #bare(specifier: string, parent: string, how: "import" | "require", asked?: string): Resolution {
    const parts = specifier.split("/");
    const name = parts.splice(0, specifier.startsWith("@") ? 2 : 1).join("/");
    const subpath = parts.length === 0 ? "." : `./${parts.join("/")}`;
    const around = this.#packageAround(parent);
    if (around?.name === name && around.exports !== undefined) {
      return this.#inPackage(around, name, subpath, how);
    }
    for (const folder of foldersUpward(parent)) {
      if (folder.endsWith("/node_modules/")) continue;
      const found = this.#readPackage(`${folder}node_modules/${name}/`);
      if (found !== undefined) return this.#inPackage(found, name, subpath, how);
      const file = subpath === "." ? undefined : this.#probe(`${folder}node_modules/${specifier}`);
      if (file !== undefined) return this.#found(file);
    }
    const folder = this.#host.installed?.(name, parent, asked);
    const found = folder === undefined ? undefined : this.#readPackage(folder);
    if (found !== undefined) return this.#inPackage(found, name, subpath, how);
    const advice = name === "@temporalio/proto"
      ? "workflow code takes the installed package: npm install @temporalio/proto"
      : asked === undefined
      ? 'paths of a tsconfig.json are not read; use relative paths, or "imports" in package.json'
      : 'nor in Deno\'s cache with a line in deno.lock; set "nodeModulesDir": "auto" in deno.json';
    return refused(
      "not-found",
      `imports "${specifier}", which is in no node_modules folder above ${
        displayName(parent)
      } (${advice})`,
    );
  }

  #conditions(how: "import" | "require"): ReadonlySet<string> {
    const usual = how === "import" ? IMPORT : REQUIRE;
    const given = this.#host.conditions;
    if (given === undefined) return usual;
    return new Set([...given.flatMap((one) => one === "..." ? [...usual] : one), "default"]);
  }

  #mainOf(found: PackageJson): string {
    const fields = this.#host.mainFields ?? ["..."];
    for (const field of fields.flatMap((one) => one === "..." ? ["browser", "main"] : one)) {
      const value: unknown = found[field as keyof PackageJson];
      if (typeof value === "string") return value;
    }
    return "./index.js";
  }

  #inPackage(
    found: PackageJson,
    name: string,
    subpath: string,
    how: "import" | "require",
  ): Resolution {
    const folder = new URL(".", found.url).href;
    if (found.exports !== undefined && found.exports !== null) {
      const target = matchSubpath(found.exports, subpath, this.#conditions(how));
      if (target === undefined || target === null) {
        return refused(
          "not-found",
          `imports "${subpath === "." ? name : name + subpath.slice(1)}", which the "exports" of ${
            displayName(found.url)
          } does not offer`,
        );
      }
      const url = new URL(target, folder).href;
      if (!target.startsWith("./") || !this.#host.isFile(url)) {
        return refused(
          "not-found",
          `the "exports" of ${
            displayName(found.url)
          } name "${target}" for "${subpath}", but the package has no such file`,
        );
      }
      return this.#found(url);
    }
    const main = this.#mainOf(found);
    const url = this.#probe(new URL(subpath === "." ? main : subpath, folder).href) ??
      (subpath === "." ? this.#probe(new URL("./index.js", folder).href) : undefined);
    return url === undefined
      ? refused(
        "not-found",
        `imports "${name}", but its package at ${displayName(folder)} has no such file`,
      )
      : this.#found(url);
  }
}

function builtin(specifier: string, name: string): Resolution {
  const advice = INSTEAD[name] ?? ACTIVITY;
  const host = { name: `node:${name}`, advice };
  const message =
    `imports "${specifier}", a module of Node, which workflow code cannot use: ${advice}`;
  return SANDBOX.has(name)
    ? { kind: "provided", module: name as SandboxModule, onlyForRuns: message, host }
    : { kind: "refused", code: "builtin-import", message, host };
}

const PROVIDED: ReadonlySet<string> = new Set<Provided>([
  ...[
    "workflow",
    "converter",
    "temporal/workflow",
    "temporal/common",
    "temporal/workflow/lib",
  ] as const,
  ...["temporal/common/lib", "assert", "url", "util"] as const,
]);

/** Returns a module that the realm provides, by its name in a bundle. */
export function providedAs(name: string): Resolution {
  if (SANDBOX.has(name)) return builtin(`node:${name}`, name);
  return PROVIDED.has(name) ? { kind: "provided", module: name as Provided } : refused(
    "not-found",
    `needs "${name}", which this version of temporalex does not have: the bundle was made by another version`,
  );
}

/** Resolves specifiers of packages of the official SDK. */
function ofTemporal(specifier: string): Resolution | undefined {
  if (!specifier.includes("@temporalio/")) return undefined;
  if (TEMPORAL_HOST.test(specifier)) {
    return refused(
      "builtin-import",
      `imports "${specifier}", which belongs to the host's side: import types of it with \`import type\`, and call activities through ` +
        "proxyActivities()",
    );
  }
  const [, name, subpath] = TEMPORAL.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  if (subpath === undefined) {
    return { kind: "provided", module: `temporal/${name as "workflow" | "common"}` };
  }
  return subpath.startsWith("lib/") || subpath === "lib"
    ? { kind: "provided", module: `temporal/${name as "workflow" | "common"}/lib` }
    : undefined;
}

/** Yields the folder of a URL and those above it, each ending with "/". */
function* foldersUpward(url: string): Generator<string> {
  const { origin, protocol, host, pathname } = new URL(url);
  const root = origin === "null" ? `${protocol}//${host}` : origin;
  const parts = pathname.split("/").slice(0, -1);
  for (; parts.length > 0; parts.pop()) yield `${root}${parts.join("/")}/`;
}
