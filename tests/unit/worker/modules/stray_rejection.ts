// A process in which an activity leaves a rejected promise behind, and then the program itself
// does, which must end as ever.
import { open } from "../../../../ts/mod.ts";
import { activities, workflow } from "../../../../ts/workflow/mod.ts";

const acts = activities<{ stray(): Promise<number> }>({ startToClose: "20s" });
const strays = workflow("Strays", async () => await acts.stray());
const logger = {
  debug() {},
  info() {},
  warn() {},
  error(message: string, fields: { activityType?: string; workflowId?: string } = {}) {
    if (/unhandled promise rejection/.test(message)) {
      console.log(`logged ${fields.activityType} ${fields.workflowId}`);
    }
  },
};
const app = await open({
  workflows: [strays],
  logger,
  activities: {
    stray: async () => {
      void (async () => {
        await 0;
        throw new Error("forgotten");
      })();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 1;
    },
  },
});
console.log(`result ${await app.client.execute(strays, { id: "w", args: [] })}`);
console.log("outside is the program's own");
void Promise.reject(new Error("of the program"));
await new Promise((resolve) => setTimeout(resolve, 10_000));
console.log("not reached");
