// The process that is killed: `child <path> <round> <driver|-> <FULL|NORMAL> <clients>
// <run|finish>`. It says on standard output what it is about to ask for ("try ..."), what was
// acknowledged ("ack ...") and each execution of an activity ("exec <key> <workflow> <n>"). Lines
// are written synchronously, so what the parent reads was true before the kill. `finish` starts
// nothing new and ends by itself when every run is closed.
import process from "node:process";
import { delay } from "@std/async/delay";
import { activityInfo } from "../../../ts/activity/mod.ts";
import { open } from "../../../ts/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import type { DriverName, Synchronous } from "../../../ts/engine/mod.ts";
import * as program from "./program.ts";

const [path, round, driver, synchronous, clients, mode] = process.argv.slice(2) as [
  string,
  string,
  string,
  Synchronous,
  string,
  "run" | "finish",
];
const say = (line: string) => console.log(line);

const app = await open({
  path,
  workflows: program,
  activities: {
    async step(n: number) {
      const { idempotencyKey, workflowId } = activityInfo();
      say(`exec ${idempotencyKey} ${workflowId} ${n}`);
      return n;
    },
  },
  logger: silentLogger,
  engine: { synchronous, ...(driver !== "-" && { driver: driver as DriverName }) },
});
const { client } = app;
say("open");

/**
 * Sends a request and reports its acknowledgment or its rejection; returns the reason of a
 * rejection.
 */
async function ask(what: string, call: () => Promise<unknown>): Promise<string | undefined> {
  say(`try ${what}`);
  try {
    await call();
    say(`ack ${what}`);
    return undefined;
  } catch (e) {
    say(`refused ${what}: ${(e as Error).message}`);
    return (e as Error).message;
  }
}

async function send(id: string, name: string): Promise<void> {
  const handle = client.getHandle(program.crash, id);
  await ask(`signal ${id} ${name}-a`, () => handle.signal(program.post, `${name}-a`));
  // The workflow takes updates only while its mailbox is open, and the engine none while its task
  // was lost several times in a row.
  for (let n = 0;; n++) {
    const updateId = `${name}-u${n}`;
    const refusal = await ask(`update ${id} ${updateId}`, async () => {
      const update = await handle.startUpdate(program.deliver, {
        args: [updateId],
        updateId,
        waitFor: "completed",
      });
      return await update.result();
    });
    if (!/accepts no updates|Workflow Task in failed state/.test(refusal ?? "")) break;
    await delay(5);
  }
  await ask(`signal ${id} ${name}-b`, () => handle.signal(program.post, `${name}-b`));
}

/** Runs of earlier rounds miss what their clients could not send any more. */
async function takeUp(limit: number): Promise<number> {
  const open: string[] = [];
  for await (
    const { workflowId } of client.list(
      "ExecutionStatus = 'Running' AND WorkflowType = 'Crash' ORDER BY StartTime ASC",
    )
  ) {
    open.push(workflowId);
    if (open.length >= limit) break;
  }
  await Promise.all(open.map(async (id) => {
    await send(id, `${id}-r${round}`);
    await client.getHandle(program.crash, id).result();
  }));
  return open.length;
}

async function start(client: number): Promise<void> {
  for (let n = 0;; n++) {
    const id = `r${round}c${client}n${n}`;
    await ask(
      `start ${id}`,
      () =>
        app.client.start(program.crash, {
          id,
          args: [{ steps: 2, signals: 2, updates: 1, helped: true }],
        }),
    );
    await send(id, id);
    // Some are left to themselves, so that many are open at once.
    if (n % 2 === 0) await app.client.getHandle(program.crash, id).result();
  }
}

if (mode === "finish") {
  while (await takeUp(200) > 0);
  await app.close();
  say("finished");
} else {
  await Promise.all([takeUp(20), ...Array.from({ length: Number(clients) }, (_, i) => start(i))]);
}
