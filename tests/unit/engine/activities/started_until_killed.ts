// A process that starts and completes standalone activities and writes a line for each acknowledged
// call, until it is killed. Argument: the path of the store.
import process from "node:process";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { ActivityEngine } from "./support.ts";

await ActivityEngine.during(SqliteStore.open(process.argv[2]!), async (opened) => {
  const lead = async (name: string) => {
    for (let n = 0;; n++) {
      const activityId = `${name}-${n}`;
      await opened.start({ activityId, taskQueue: { name } });
      console.log(`started ${activityId}`);
      if (n % 2 === 1) continue;
      const { taskToken, activityId: got } = await opened.poll(name);
      await opened.complete(taskToken, got);
      console.log(`completed ${got}`);
    }
  };
  await Promise.all(["a", "b", "c"].map(lead));
});
