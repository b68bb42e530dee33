// Types of the options of `open` in a browser tab.
import * as kind from "../base/option_kinds.ts";
import { CLIENT_OPTIONS } from "../client/option_kinds.ts";
import { ENGINE_OPTIONS } from "../engine/option_kinds.ts";
import { WORKER_OPTIONS } from "../worker/option_kinds.ts";
import type { BrowserOpenOptions } from "./open.ts";

const { service: _theTabs, taskQueue, ...client } = CLIENT_OPTIONS;
const {
  service: _its,
  taskQueue: _theSame,
  workflows,
  activities,
  realm: _none,
  sources,
  ...worker
} = WORKER_OPTIONS;
const { path, namespace, limits, synchronous } = ENGINE_OPTIONS;
const { converter, codec, encodeCommonAttributes, logger } = client;

const OPTIONS: kind.Table<BrowserOpenOptions> = {
  ...{
    path,
    name: path,
    taskQueue,
    workflows,
    sources,
    activities,
    realm: kind.call,
    engineWorker: kind.call,
  },
  ...{
    core: kind.object,
    sqliteWasm: kind.module,
    persist: kind.flag,
    lead: kind.flag,
    converter,
    codec,
    encodeCommonAttributes,
  },
  ...{ logger, engine: { namespace, limits, synchronous }, worker, client },
};
/** Options of `open` in other runtimes, and their replacements in a tab. */
const ELSEWHERE: { readonly [name: string]: string } = {
  reducers: "pass it to the engine's Worker: serveEngine({ reducers })",
  migrations: "pass it to the engine's Worker: serveEngine({ migrations })",
  serve: "no other process can reach a tab",
};

/** Throws a TypeError with the option, its value and the expected type. */
export function checkBrowserOptions(options: BrowserOpenOptions): void {
  kind.checkOptions("open", options, OPTIONS, (part, name) => {
    if (part !== "" && Object.hasOwn(OPTIONS, name)) {
      return `${name} is an option of open itself: write open({ ${name} }), not ${part}.${name}`;
    }
    return Object.hasOwn(ELSEWHERE, name)
      ? `open has no option "${name}" in a browser tab: ${ELSEWHERE[name]}`
      : undefined;
  });
}
