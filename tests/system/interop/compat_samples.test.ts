// Samples of the official SDK with their own worker files, unmodified: `@temporalio/worker` and
// `@temporalio/activity` are this package's, the client is the official one, and what the sample's
// client prints is what it printed with the official worker (baseline.json).
// takes: 60 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as activity from "../../../ts/compat/activity/mod.ts";
import * as common from "../../../ts/compat/common/mod.ts";
import * as commonLib from "../../../ts/compat/common/lib.ts";
import * as worker from "../../../ts/compat/worker/mod.ts";
import * as workflow from "../../../ts/compat/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official } from "./support/official.ts";
import { type Program, runProgram, samples } from "./support/sample_program.ts";

const skip = noServer || noOfficial ||
  (samples === undefined ? "the samples ../shared/samples are not next to this checkout" : false);
const silent = new worker.DefaultLogger("ERROR", () => {});

let server: DevServer;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  worker.Runtime.install({ logger: silent });
});

after(async () => {
  await server?.stop();
  await worker.Runtime._instance?.shutdown();
});

/** What a sample's clients printed, one after the other. */
function baseline(sample: string): string {
  const { runs } = JSON.parse(readFileSync(join(samples!, "baseline.json"), "utf8"))[sample];
  return runs.map(({ out }: { out: string }) => out).join("");
}

/**
 * The modules of a sample's programs. The server is on a separate port, which the samples do not
 * know.
 */
function modules(made: worker.Worker[]): { readonly [name: string]: unknown } {
  const { address } = server;
  const there = { connect: () => worker.NativeConnection.connect({ address }) };
  const create = async (options: worker.WorkerOptions) => {
    const connection = options.connection ?? await there.connect();
    const found = await worker.Worker.create({ ...options, connection });
    made.push(found);
    return found;
  };
  return {
    "@temporalio/activity": activity,
    "@temporalio/common": common,
    "@temporalio/common/lib/encoding": commonLib,
    "@temporalio/workflow": workflow,
    "@temporalio/worker": {
      ...worker,
      NativeConnection: there,
      Worker: { create },
    },
    "@temporalio/client": official("@temporalio/client"),
    "@temporalio/proto": official("@temporalio/proto"),
    "@temporalio/envconfig": {
      loadClientConnectConfig: () => ({ connectionOptions: { address } }),
    },
  };
}

/** Ids that differ from run to run, and frames whose paths do. */
const shown = (text: string): string =>
  text.replace(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    "<id>",
  )
    .replace(/workflow-\S+/g, "<id>").replace(
      /[\w-]*<(?:nanoid|uuid|id)>/g,
      "<id>",
    )
    .replace(/^ {4,}at .*\n/gm, "").replace(/ at .*? \{\n/g, " {\n")
    .replace(/<Buffer .*>/, "<bytes>").replace(/\d+@\w+/, "<identity>");

/**
 * The lines of what is printed, in no order: `inspect` of Deno prints an error's `cause` after its
 * other fields, where Node keeps the order in which they were set. The order is held by "failures
 * as they are printed" in compat_common.test.ts, in Node.
 */
const unordered = (text: string): string =>
  shown(text).split("\n").map((line) => line.replace(/,$/, "")).sort().join("\n");

function sample(
  name: string,
  exit: "leaves" | "stays" = "stays",
  view: (text: string) => string = shown,
): void {
  test(
    `a sample with its own worker file prints what it did with the official SDK: ${name}`,
    { skip },
    async () => {
      const made: worker.Worker[] = [];
      const given = modules(made);
      const served: Program = runProgram(
        join(samples!, name, "src/worker.ts"),
        given,
      );
      await until(
        "the worker runs",
        () => made[0]?.getState() === "RUNNING" || served.out !== "",
      );
      assert.equal(served.out, "");
      const expected = view(baseline(name));
      const client = runProgram(join(samples!, name, "src/client.ts"), given);
      if (exit === "leaves") {
        assert.equal(await client.exited, 1);
      } else {await until("the client has printed", () =>
          view(client.out).length >= expected.length, {
          about: () =>
            client.out,
        });}
      made[0]!.shutdown();
      await until(
        "the worker has stopped",
        () => made[0]!.getState() === "STOPPED",
      );
      assert.equal(view(client.out), expected);
      assert.equal(
        served.out.replace(
          /^Decrypting .*: (?:Uint8Array|<Buffer)[^\]>]*[\]>]\n/gm,
          "",
        ),
        "",
      );
    },
  );
}

sample("hello-world");
// Its client waits for 40 s before it cancels.
sample("activities-cancellation-heartbeating");
sample("child-workflows");
sample("encryption");
// The whole failure is printed: with the activity's message and the frame of the sample that threw.
sample("saga", "leaves", "Deno" in globalThis ? unordered : shown);
