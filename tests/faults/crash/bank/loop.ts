// Kills a process whose workflows change tables by transact, again and again on one file, and
// compares after each kill what histories and tables say (docs/dev/semantics/database.md#transact):
// as many moves and notes as successful markers, run by run, and no money gained or lost.
import { Client, EmbeddedEngine } from "../../../../ts/mod.ts";
import { kill, startModule } from "../../../unit/engine/support/child.ts";
import { ACCOUNTS, migrations, OPENING } from "./reducers.ts";

export interface BankJudgement {
  /** Runs in the file. */
  readonly runs: number;
  /** Markers of reducers that returned, and of those that threw. */
  readonly done: number;
  readonly thrown: number;
  readonly problems: readonly string[];
}

const child = new URL(
  import.meta.url.endsWith(".js") ? "./child.js" : "./child.ts",
  import.meta.url,
);

export async function judgeBank(path: string): Promise<BankJudgement> {
  const problems: string[] = [];
  let runs = 0, done = 0, thrown = 0;
  const engine = await EmbeddedEngine.open({ path, migrations });
  try {
    const client = new Client({ service: engine, taskQueue: "default" });
    const { tables } = engine;
    const total = tables.get<{ n: number }>("SELECT sum(balance) AS n FROM account")!.n;
    if (total !== ACCOUNTS * OPENING) {
      problems.push(`the accounts have ${total}, not ${ACCOUNTS * OPENING}`);
    }
    for await (const { workflowId, runId } of client.list("")) {
      runs++;
      const { events } = await client.getHandle(undefined, workflowId, runId).fetchHistory();
      const found = { move: 0, note: 0 };
      for (const { attributes } of events) {
        if (attributes.case !== "markerRecordedEventAttributes") continue;
        const { details, failure } = attributes.value;
        const name = JSON.parse(
          new TextDecoder().decode(details["reducer"]?.payloads[0]?.data),
        ) as keyof typeof found;
        if (failure !== undefined) thrown++;
        else {
          done++;
          found[name]++;
        }
      }
      const count = (table: string) =>
        tables.get<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE run = ?`, runId)!.n;
      const kept = { move: count("moves"), note: count("notes") };
      if (kept.move !== found.move || kept.note !== found.note) {
        problems.push(
          `run ${runId}: history has ${JSON.stringify(found)}, the tables ${JSON.stringify(kept)}`,
        );
      }
    }
    const strange = tables.get<{ n: number }>(
      "SELECT count(*) AS n FROM notes GROUP BY run, step HAVING count(*) > 1",
    );
    if (strange !== undefined) problems.push("a note was written twice");
  } finally {
    await engine.close();
  }
  return { runs, done, thrown, problems };
}

export async function bankLoop(options: {
  readonly path: string;
  readonly rounds: number;
  readonly clerks?: number;
  /** The longest time between the opening, or the first start, and the kill, in milliseconds. */
  readonly killWithinMs?: number;
  readonly random?: () => number;
  readonly onRound?: (round: number, judgement: BankJudgement) => void;
}): Promise<BankJudgement> {
  const { path, rounds, clerks = 8, killWithinMs = 400, random = Math.random } = options;
  for (let round = 1; round <= rounds; round++) {
    const process = startModule(child, [path, "run", String(clerks)]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Every second kill may hit the opening and its recovery, the others the work. In the first
    // round nothing is open.
    const from = round % 2 === 0 ? "open" : "started";
    for await (const line of process.lines) {
      if (timer === undefined && line === from) {
        timer = setTimeout(() => process.process.kill("SIGKILL"), random() * killWithinMs);
      }
    }
    clearTimeout(timer);
    await process.exited;
    if (process.process.signalCode !== "SIGKILL") {
      throw new Error(`round ${round} ended by itself: ${process.errors()}`);
    }
    const judgement = await judgeBank(path);
    options.onRound?.(round, judgement);
    if (judgement.problems.length > 0) return judgement;
  }
  const last = startModule(child, [path, "finish"]);
  const limit = setTimeout(() => void kill(last), 120_000);
  let finished = false;
  for await (const line of last.lines) finished ||= line === "finished";
  clearTimeout(limit);
  await last.exited;
  const judgement = await judgeBank(path);
  return finished ? judgement : {
    ...judgement,
    problems: [...judgement.problems, `the last process did not finish: ${last.errors()}`],
  };
}
