// Batch operations by Temporal's command line on one server: workflows without a worker are signaled,
// canceled, terminated and deleted by query.
import assert from "node:assert/strict";
import { until } from "../../../support/until.ts";

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const QUERY = ["--query", 'WorkflowType="Batched"'];

/** Returns what the commands printed, without what differs from server to server (`plain`). */
export async function batchTranscript(
  temporal: (args: readonly string[]) => Promise<Said>,
  plain: (text: string) => string,
): Promise<string[]> {
  const printed: string[] = [];
  const note = (what: string, { code, out, err }: Said) =>
    void printed.push(
      `${what}: ${code} ${plain(out)} ${plain(err)}`.replace(
        /\b(now|\d+ \w+ ago)\b/g,
        "<time>",
      ),
    );
  const run = async (line: string) => note(plain(line), await temporal(line.split(" ")));
  for (const id of ["b1", "b2", "b3"]) {
    await temporal(
      `workflow start -w ${id} --type Batched -t nowhere`.split(" "),
    );
  }
  // A server's lists are updated a little later.
  const count = async (number: number) =>
    await until(`${number} workflows`, async () => {
      const { out } = await temporal(["workflow", "count", ...QUERY]);
      return out.includes(`Total: ${number}`);
    });
  await count(3);
  for (const line of ["signal --name go", "cancel", "terminate", "delete"]) {
    const words = [
      "workflow",
      ...line.split(" "),
      ...QUERY,
      "--reason",
      "because",
      "--yes",
    ];
    const started = await temporal(words);
    note(line, started);
    const [jobId = ""] = /[0-9a-f-]{36}/.exec(started.out + started.err) ?? [];
    assert.notEqual(jobId, "", started.out + started.err);
    await until("the end of the batch operation", async () => {
      const { out } = await temporal(["batch", "describe", "--job-id", jobId]);
      return out.includes("Completed");
    });
    await run(`batch describe --job-id ${jobId}`);
    if (line === "terminate") {
      await run(`batch terminate --reason late --job-id ${jobId}`);
      await run("batch list");
    }
  }
  await run("batch describe --job-id missing");
  await run("batch terminate --job-id missing --reason none");
  await count(0);
  return printed;
}
