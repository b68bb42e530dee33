// What a client does with the workflow of secrets, on any service.
import assert from "node:assert/strict";
import {
  type ApplicationFailure,
  type Client,
  QueryFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/mod.ts";
import { until } from "../../support/until.ts";
import {
  add,
  broken,
  finish,
  later,
  note,
  refuse,
  SECRET,
  secrets,
  seen,
  spoil,
} from "./workflows/secrets.ts";

/** Takes the workflow through everything that carries values; two runs. */
export async function live(client: Client, id: string, how: "done" | "fail") {
  const handle = await client.start(secrets, {
    id,
    args: [`${SECRET} start`, 1],
    memo: { about: `${SECRET} memo` },
    summary: `${SECRET} summary`,
    details: `${SECRET} details`,
  });
  // A query that a cluster sent before the task that overtook it fails with "Query expired".
  const expired = (error: Error) => (assert.match(error.message, /Query expired/), [] as string[]);
  await until(
    "it receives",
    async () => (await handle.query(seen, "").catch(expired)).includes("open"),
  );
  await handle.signal(note, `${SECRET} signal`);
  assert.equal(
    await handle.update(add, `${SECRET} update`),
    `${SECRET} update and kept ${SECRET} update`,
  );
  const refused = await handle.update(refuse, `${SECRET} bad`).catch((error) => error);
  assert.ok(refused instanceof WorkflowUpdateRejectedError, String(refused));
  assert.match(refused.message, /SECRET bad is refused/);
  assert.deepEqual((refused.cause as ApplicationFailure).details, [`${SECRET} bad detail`]);
  await handle.signal(spoil, `${SECRET} spoilt`);
  // These are not received: they are carried in the header of the next run.
  await handle.signal(later, `${SECRET} buffered`);
  assert.deepEqual(await handle.query(seen, `${SECRET} query `), [
    `${SECRET} query ${SECRET} signal`,
  ]);
  const failed = await handle.query(broken).catch((error) => error);
  assert.ok(failed instanceof QueryFailedError, String(failed));
  assert.match(failed.message, /SECRET query failure/);
  assert.deepEqual((await handle.describe()).memo, { about: `${SECRET} memo` });
  await handle.signal(finish, "again");
  const second = client.getHandle(secrets, id);
  await until(
    "the next run has begun",
    async () => (await second.describe()).runId !== handle.runId,
  );
  await second.signal(note, `${SECRET} note`);
  await second.signal(finish, how);
  return { handle, first: client.getHandle(secrets, id, handle.runId!), second };
}

export const EXPECTED = {
  result: `kept ${SECRET} second run argument`,
  caught: [
    `${SECRET} failure: ${SECRET} to fail with`,
    `${SECRET} detail after ${SECRET} heartbeat 1`,
    `${SECRET} note`,
    `${SECRET} side effect`,
  ],
  generation: 2,
};
