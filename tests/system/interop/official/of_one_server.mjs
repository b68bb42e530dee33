// What is not the same on every server.
import { until } from "../../../../dist/tests/support/until.js";
import { outcome, run, start } from "./stage.mjs";

/** What a server has that has a register of attributes; run with --all, after the others. */
export const serverScenarios = {
  async searchAttributes() {
    const refused = await outcome(
      start("hello", { id: "sa", args: ["x"], searchAttributes: { UnregisteredAttribute: ["x"] } }),
    );
    const handle = await start("attributes", { exact: false });
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes)
          .find((each) => each),
    );
    await handle.terminate();
    return [refused, failed.cause, failed.failure.message];
  },
};

/** What only the embedded engine says; run by name. */
export const engineScenarios = {
  /** Says when it has begun: the server is killed then, and comes back. */
  async longHaul() {
    const runs = Array.from(
      { length: 16 },
      (_, i) => run("busy", { id: `haul-${i}`, args: [12, 4], exact: false }),
    );
    setTimeout(() => console.log("begun"), 300);
    return (await Promise.all(runs)).map(({ value, error }) => value ?? error);
  },
  async anyAttributes() {
    const searchAttributes = { UnregisteredAttribute: ["x"] };
    const first = await start("info", { id: "any-attributes", searchAttributes, exact: false });
    await first.result();
    const second = await start("attributes", { id: "upserts", exact: false });
    await second.result();
    return [(await first.describe()).searchAttributes, (await second.describe()).searchAttributes];
  },
};
