// The process that is killed: `local_keys_child PLACE MESSAGES`. PLACE is the path of a store, or
// the address of a server; MESSAGES is a list of KeyMessage as JSON, sent in that order. Each
// attempt of an activity is a line on standard output, written synchronously.
import { writeSync } from "node:fs";
import process from "node:process";
import { activityInfo, sleep } from "../../../ts/activity/mod.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { open } from "../../../ts/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { callOf, type KeyMessage } from "./local_keys_names.ts";

const [place, list] = process.argv.slice(2) as [string, string];
const messages = JSON.parse(list) as KeyMessage[];
const say = (line: string) => void writeSync(1, `${line}\n`);
const ending = import.meta.url.endsWith(".js") ? "js" : "ts";
const workflows = ["local_keys_workflows", "local_keys_temporal"].map((name) =>
  new URL(`./${name}.${ending}`, import.meta.url)
);
const MAX_WORK_MS = 40;

async function attempt(): Promise<void> {
  const { idempotencyKey, workflowId, startToCloseTimeoutMs } = activityInfo();
  const { number, call } = callOf(startToCloseTimeoutMs!);
  say(`call ${workflowId} ${number} ${call} ${idempotencyKey}`);
  await sleep(Math.random() * MAX_WORK_MS);
}

const activities = { charge: attempt, tick: attempt };
const onServer = /^[\d.]+:\d+$/.test(place);

async function connect(): Promise<Client> {
  if (!onServer) {
    const app = await open({
      path: place,
      workflows,
      activities,
      logger: silentLogger,
      serve: false,
      engine: { synchronous: "NORMAL" },
    });
    return app.client;
  }
  const service = new GrpcService({ address: place });
  const taskQueue = "local-keys";
  const options = {
    service,
    taskQueue,
    workflows,
    activities,
    logger: silentLogger,
    stickyScheduleToStartTimeout: "500ms",
  };
  const worker = await Worker.create(options);
  void worker.run();
  return new Client({ service, taskQueue, logger: silentLogger });
}

const client = await connect();
say("open");

/**
 * Sends until it is acknowledged; while the workflow's task keeps failing, a server refuses
 * updates.
 */
async function send({ workflowId, kind, customer, number }: KeyMessage): Promise<void> {
  const type = workflowId.startsWith("native") ? "NativeTill" : "TemporalTill";
  for (;;) {
    try {
      const handle = await client.start(type, {
        id: workflowId,
        args: [],
        taskTimeout: "1s",
        idConflictPolicy: "USE_EXISTING",
      });
      if (kind === "remind") await handle.signal("remind", customer, number);
      else {await handle.executeUpdate("pay", {
          args: [customer, number],
          updateId: `pay-${number}`,
        });}
      say(`ack ${number}`);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, MAX_WORK_MS));
    }
  }
}

await Promise.all(messages.map(send));
say("sent");
