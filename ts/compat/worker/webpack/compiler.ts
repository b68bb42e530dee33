// The compiler object on which plugins of a configuration are applied. It knows four plugins of
// webpack, which change what a name means, and records what they do. Plugins of other kinds use
// the compiler's hooks; they are rejected with the property that they ask for.

/** What the plugins change. */
export interface ModuleChanges {
  /** Expressions by global name (DefinePlugin). */
  readonly definitions: { readonly [name: string]: string };
  /** Modules by global name (ProvidePlugin): the module, and names of its exports. */
  readonly provided: { readonly [name: string]: readonly string[] };
  /** In order (NormalModuleReplacementPlugin). */
  readonly replacements: readonly Replacement[];
  /** Requests that are treated as missing (IgnorePlugin). */
  readonly ignored: readonly ((request: string, context: string) => boolean)[];
}

/** A request, as a function of NormalModuleReplacementPlugin receives it. */
export interface ReplacedRequest {
  request: string;
  context: string;
  contextInfo: { issuer: string };
  createData?: { resource: string; userRequest: string; request: string };
}

export interface Replacement {
  readonly pattern: RegExp;
  readonly by: string | ((request: ReplacedRequest) => void);
}

/** Returns the name of a plugin for messages. */
export function namePlugin(plugin: unknown): string {
  if (typeof plugin === "function") return plugin.name || "a function";
  return (plugin as object | null)?.constructor?.name ?? String(plugin);
}

interface Changed {
  definitions: { [name: string]: string };
  provided: { [name: string]: readonly string[] };
  replacements: Replacement[];
  ignored: ((request: string, context: string) => boolean)[];
}

export class CompilerRecord {
  readonly changes: Changed = { definitions: {}, provided: {}, replacements: [], ignored: [] };
  readonly #option: string;
  readonly #compiler: object;

  constructor(option: string, config: object) {
    this.#option = option;
    const { changes } = this;
    const refuse = (what: string): never => this.#refuse(what);
    // Constructors that return what has webpack's one method.
    const webpack = {
      DefinePlugin: function (definitions: unknown) {
        return { apply: () => define(changes, definitions, refuse) };
      },
      ProvidePlugin: function (definitions: unknown) {
        return { apply: () => provide(changes, definitions) };
      },
      NormalModuleReplacementPlugin: function (pattern: RegExp, by: Replacement["by"]) {
        return { apply: () => void changes.replacements.push({ pattern, by }) };
      },
      IgnorePlugin: function (options: IgnoreOptions) {
        return { apply: () => ignore(changes, options) };
      },
    };
    const known: { readonly [property: string]: unknown } = {
      webpack: new Proxy(webpack, {
        get: (target, name) =>
          Object.hasOwn(target, name)
            ? target[name as keyof typeof target]
            : refuse(`webpack's ${String(name)}`),
      }),
      options: config,
      context: "/",
    };
    this.#compiler = new Proxy({}, {
      get: (_, name) =>
        Object.hasOwn(known, name)
          ? known[name as string]
          : refuse(`the compiler's ${String(name)}`),
    });
  }

  /** Applies a plugin of the configuration: webpack's own by what they contain, others by `apply`. */
  apply(plugin: unknown): void {
    if (!plugin) return;
    const { changes } = this;
    const name = namePlugin(plugin);
    const refuse = (what: string): never => this.#refuse(what, name);
    const given = plugin as {
      readonly definitions?: unknown;
      readonly options?: IgnoreOptions;
      readonly resourceRegExp?: RegExp;
      readonly newResource?: Replacement["by"];
      apply?(compiler: object): void;
    };
    if (name === "DefinePlugin") return define(changes, given.definitions, refuse);
    if (name === "ProvidePlugin") return provide(changes, given.definitions);
    if (name === "NormalModuleReplacementPlugin") {
      changes.replacements.push({ pattern: given.resourceRegExp!, by: given.newResource! });
      return;
    }
    if (name === "IgnorePlugin") return ignore(changes, given.options!);
    this.#applying = name;
    if (typeof plugin === "function") {
      (plugin as (this: object, compiler: object) => void).call(this.#compiler, this.#compiler);
    } else if (typeof given.apply === "function") given.apply(this.#compiler);
    else refuse("no method apply");
    this.#applying = undefined;
  }

  #applying: string | undefined;

  #refuse(what: string, plugin = this.#applying ?? "a plugin"): never {
    throw new TypeError(
      `${this.#option} adds the webpack plugin ${plugin}, which needs ${what}: workflow code is loaded without webpack; ` +
        "DefinePlugin, ProvidePlugin, NormalModuleReplacementPlugin and IgnorePlugin are applied, also inside of other plugins",
    );
  }
}

function define(changes: Changed, given: unknown, refuse: (what: string) => never): void {
  for (const [name, value] of Object.entries(given as object)) {
    if (!/^[A-Za-z_$][\w$]*$|^process\.env\.[\w$]+$/.test(name)) {
      refuse(`a definition of "${name}"`);
    }
    if (typeof value === "function" || (typeof value === "object" && value !== null)) {
      refuse(`a definition of "${name}" that is not a string, number or boolean`);
    }
    changes.definitions[name] = String(value);
  }
}

function provide(changes: Changed, given: unknown): void {
  for (const [name, module] of Object.entries(given as { [name: string]: string | string[] })) {
    changes.provided[name] = [module].flat();
  }
}

interface IgnoreOptions {
  readonly resourceRegExp?: RegExp;
  readonly contextRegExp?: RegExp;
  readonly checkResource?: (request: string, context: string) => boolean;
}

function ignore(changes: Changed, options: IgnoreOptions): void {
  const { resourceRegExp, contextRegExp, checkResource } = options;
  changes.ignored.push((request, context) =>
    checkResource !== undefined
      ? checkResource(request, context)
      : resourceRegExp!.test(request) && (contextRegExp?.test(context) ?? true)
  );
}
