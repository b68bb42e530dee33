// `webpackConfigHook`: what a hook changes is applied by the loader, in workers, bundles and
// replays, or rejected by name.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { bundleWorkflowCode, Worker } from "../../../../ts/compat/worker/mod.ts";
import {
  HOOKED_PROJECT,
  HOOKED_RESULT,
  hookOf,
  type WebpackPlugins,
} from "../../../suites/webpack_hooks.ts";
import { setting } from "./support.ts";

const { client, worker, close } = await setting();
const folder = mkdtempSync(join(tmpdir(), "temporalex-webpack-"));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const [path, text] of Object.entries(HOOKED_PROJECT)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const workflowsPath = join(folder, "workflows.js");

/** Classes with the names and properties of webpack's, which is not installed here. */
const webpack: WebpackPlugins = {
  DefinePlugin: class DefinePlugin {
    definitions: unknown;
    constructor(definitions: unknown) {
      this.definitions = definitions;
    }
  },
  ProvidePlugin: class ProvidePlugin {
    definitions: unknown;
    constructor(definitions: unknown) {
      this.definitions = definitions;
    }
  },
  NormalModuleReplacementPlugin: class NormalModuleReplacementPlugin {
    resourceRegExp: RegExp;
    newResource: unknown;
    constructor(resourceRegExp: RegExp, newResource: unknown) {
      this.resourceRegExp = resourceRegExp;
      this.newResource = newResource;
    }
  },
  IgnorePlugin: class IgnorePlugin {
    options: unknown;
    constructor(options: unknown) {
      this.options = options;
    }
  },
};
const webpackConfigHook = hookOf(folder, webpack);
let count = 0;

test("what a hook changes is applied in a worker, in its replay and in a bundle", async () => {
  const run = async (options: Parameters<typeof worker>[1]) => {
    const taskQueue = `webpack-${++count}`;
    const made = await worker(taskQueue, options);
    const id = taskQueue;
    return await made.runUntil(() => client.execute("hooked", { id, taskQueue }));
  };
  const bundlerOptions = { webpackConfigHook };
  assert.deepEqual(await run({ workflowsPath, bundlerOptions }), HOOKED_RESULT);
  const history: unknown = JSON.parse(
    await client.getHandle(undefined, `webpack-${count}`).historyJson(),
  );
  await Worker.runReplayHistory({ workflowsPath, bundlerOptions }, history);
  const { code } = await bundleWorkflowCode({ workflowsPath, webpackConfigHook });
  assert.deepEqual(await run({ workflowBundle: { code } }), HOOKED_RESULT);
});

class TsconfigPathsPlugin {}
class BannerPlugin {
  apply(compiler: { hooks: { compilation: unknown } }): unknown {
    return compiler.hooks.compilation;
  }
}

// deno-lint-ignore no-explicit-any
const REFUSED: { readonly [what: string]: readonly [(config: any) => unknown, RegExp] } = {
  "a property without a counterpart": [
    (config) => ({ ...config, target: "node" }),
    /webpackConfigHook changes "target"/,
  ],
  "plugins that find modules": [
    (config) => {
      config.resolve.plugins = [new TsconfigPathsPlugin()];
      return config;
    },
    /changes "resolve\.plugins" \(TsconfigPathsPlugin\)/,
  ],
  "a plugin that needs webpack": [
    (config) => ({ ...config, plugins: [new BannerPlugin()] }),
    /adds the webpack plugin BannerPlugin, which needs the compiler's hooks/,
  ],
  "a plugin of webpack that is not applied": [
    (config) => ({
      ...config,
      // deno-lint-ignore no-explicit-any
      plugins: [{ apply: (compiler: any) => new compiler.webpack.BannerPlugin({}) }],
    }),
    /webpack's BannerPlugin/,
  ],
  "another loader": [
    (config) => ({
      ...config,
      module: { ...config.module, rules: [{ test: /\.ts$/, use: "ts-loader" }] },
    }),
    /changes "module\.rules" \(ts-loader\)/,
  ],
  "an entry without the workflows": [
    (config) => ({ ...config, entry: ["/other.js"] }),
    /changes "entry": the entry of the workflows must remain/,
  ],
  "externals of a module system": [
    (config) => ({ ...config, externals: { fs: "commonjs fs" } }),
    /changes "externals" for "fs"/,
  ],
  "a definition of a member": [
    (config) => ({ ...config, plugins: [new webpack.DefinePlugin({ "a.b": "1" })] }),
    /a definition of "a\.b"/,
  ],
  "extensions of other languages": [
    (config) => {
      config.resolve.extensions.push(".vue");
      return config;
    },
    /"resolve\.extensions" to try \.vue/,
  ],
  "nothing returned": [() => undefined, /returned undefined; it must return the configuration/],
  "a promise": [(config) => Promise.resolve(config), /returned a promise/],
};

for (const [what, [hook, message]] of Object.entries(REFUSED)) {
  test(`rejected by name: ${what}`, async () => {
    const wanted = { name: "TypeError", message };
    await assert.rejects(bundleWorkflowCode({ workflowsPath, webpackConfigHook: hook }), wanted);
    const bundlerOptions = { webpackConfigHook: hook };
    await assert.rejects(worker("refused", { workflowsPath, bundlerOptions }), wanted);
  });
}

test("a hook that changes nothing, or what has no effect here, changes nothing", async () => {
  // deno-lint-ignore no-explicit-any
  const hook = (config: any) => ({
    ...config,
    devtool: false,
    optimization: { minimize: true },
    resolve: { ...config.resolve, symlinks: false },
    module: {
      ...config.module,
      rules: [...config.module.rules, { test: /\.m?js$/, resolve: { fullySpecified: false } }],
    },
  });
  writeFileSync(join(folder, "plain.js"), "exports.plain = async () => 1;\n");
  const path = join(folder, "plain.js");
  const { code } = await bundleWorkflowCode({ workflowsPath: path, webpackConfigHook: hook });
  assert.equal(code, (await bundleWorkflowCode({ workflowsPath: path })).code);
});
