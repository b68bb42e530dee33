// usage: node in_chromium.mjs HISTORY.bin... Replays protobuf histories in a worker realm of
// Chromium; prints one line of JSON. The same history as JSON is next to each: ids of children are
// derived from the workflow's id.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { startRuntimes } from "../../../../tools/lib/cross_runtimes.mjs";

const workflowIdOf = (path) =>
  JSON.parse(readFileSync(path.replace(/bin$/, "json"), "utf8")).events[0]
    .workflowExecutionStartedEventAttributes.workflowId ??
    "";
const { runtimes: [chromium], absent } = await startRuntimes(["chromium"]);
if (chromium === undefined) console.log(JSON.stringify({ absent: absent.join() }));
else {
  try {
    const histories = process.argv.slice(2).map((path) => ({
      name: basename(path),
      workflowId: workflowIdOf(path),
      history: readFileSync(path).toString("base64"),
    }));
    console.log(JSON.stringify({ replayed: await chromium.call("replayed", { histories }) }));
  } finally {
    await chromium.close();
  }
}
