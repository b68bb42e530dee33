// A project whose `webpackConfigHook` changes everything that the loader applies, for webpack's
// plugins as they are (tests/system/interop) and for classes with their names (tests/unit).
import { join } from "node:path";

/** Files of the project, by their paths. */
export const HOOKED_PROJECT: { readonly [path: string]: string } = {
  "package.json": "{}",
  "workflows.js": `
const { sleep } = require("@temporalio/workflow");
const attempt = (load) => { try { return load(); } catch (error) { return error.code ?? error.message; } };
exports.hooked = async function () {
  await sleep(1);
  return {
    alias: require("named"),
    below: require("named/below"),
    exact: require("exact"),
    emptied: Object.keys(require("gone")),
    fallback: require("not-installed"),
    external: require("ext") === JSON,
    defined: __CONFIG__,
    flag: __FLAG__ ? "on" : "off",
    environment: process.env.STAGE,
    provided: Given,
    before: require("virtual-clock"),
    after: require("./server"),
    ignored: attempt(() => require("optional")),
    condition: require("conditional"),
    mainField: require("fields"),
    text: require("./note.txt"),
    entered: globalThis.entered,
  };
};
`,
  "alias.js": 'module.exports = "aliased";',
  "below.js": 'module.exports = "below the alias";',
  "fallback.js": 'module.exports = "fallen back";',
  "given.js": 'exports.value = "provided";',
  "clock.js": 'module.exports = "replaced request";',
  "server.js": 'module.exports = "for servers";',
  "server.browser.js": 'module.exports = "replaced file";',
  "note.txt": "a note\nof two lines",
  "entry.js": 'globalThis.entered = "before the workflows";',
  "node_modules/conditional/package.json":
    '{ "name": "conditional", "exports": { "special": "./special.js", "default": "./usual.js" } }',
  "node_modules/conditional/special.js": 'module.exports = "special condition";',
  "node_modules/conditional/usual.js": 'module.exports = "usual condition";',
  "node_modules/fields/package.json":
    '{ "name": "fields", "special": "special.js", "main": "usual.js" }',
  "node_modules/fields/special.js": 'module.exports = "special field";',
  "node_modules/fields/usual.js": 'module.exports = "usual field";',
};

/** Result of the workflow `hooked` with the hook. */
export const HOOKED_RESULT = {
  alias: "aliased",
  below: "below the alias",
  exact: "aliased",
  emptied: [],
  fallback: "fallen back",
  external: true,
  defined: '{"a":1}',
  flag: "on",
  environment: "test",
  provided: "provided",
  before: "replaced request",
  after: "replaced file",
  ignored: "MODULE_NOT_FOUND",
  condition: "special condition",
  mainField: "special field",
  text: "a note\nof two lines",
  entered: "before the workflows",
};

/** The four plugins of webpack that the loader applies. */
export type WebpackPlugins = Record<
  "DefinePlugin" | "ProvidePlugin" | "NormalModuleReplacementPlugin" | "IgnorePlugin",
  // deno-lint-ignore no-explicit-any
  new (...args: any[]) => unknown
>;

/** A plugin that uses webpack's own through the compiler, as plugins of packages do. */
const composed = (by: string) => ({
  apply(compiler: { webpack: WebpackPlugins }) {
    const { NormalModuleReplacementPlugin } = compiler.webpack;
    const plugin = new NormalModuleReplacementPlugin(
      /[\\/]server\.js$/,
      ({ createData }: { createData?: { resource: string } }) => {
        if (createData !== undefined) createData.resource = by;
      },
    );
    (plugin as { apply(compiler: unknown): void }).apply(compiler);
  },
});

/** The hook of the project in `folder`. */
export function hookOf(folder: string, webpack: WebpackPlugins) {
  const file = (name: string) => join(folder, name);
  // deno-lint-ignore no-explicit-any
  return (config: any) => ({
    ...config,
    mode: "production",
    entry: [file("entry.js"), ...config.entry],
    resolve: {
      ...config.resolve,
      alias: {
        ...config.resolve.alias,
        "named/below": file("below.js"),
        named: file("alias.js"),
        exact$: file("alias.js"),
        gone: false,
      },
      fallback: { "not-installed": file("fallback.js") },
      conditionNames: ["special", "..."],
      mainFields: ["special", "..."],
    },
    externals: [config.externals, { ext: "JSON" }],
    module: {
      ...config.module,
      rules: [...config.module.rules, { test: /\.txt$/, type: "asset/source" }],
    },
    plugins: [
      ...config.plugins,
      new webpack.DefinePlugin({
        __CONFIG__: JSON.stringify(JSON.stringify({ a: 1 })),
        __FLAG__: true,
        "process.env.STAGE": '"test"',
      }),
      new webpack.ProvidePlugin({ Given: [file("given.js"), "value"] }),
      new webpack.NormalModuleReplacementPlugin(/^virtual-clock$/, file("clock.js")),
      composed(file("server.browser.js")),
      new webpack.IgnorePlugin({ resourceRegExp: /^optional$/ }),
    ],
  });
}
