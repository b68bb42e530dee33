// A process that writes rows and sends messages in transactions until it is killed. Prints the
// number of each transaction after its commit.
import process from "node:process";
import { open, silentLogger } from "../../../../ts/mod.ts";
import { migrations } from "../../../unit/app/transactions/reducers.ts";
import { hears, listener, said } from "../../../unit/app/transactions/workflows.ts";

const [path] = process.argv.slice(2);
const app = await open({
  path: path!,
  workflows: { listener, hears },
  migrations,
  serve: false,
  logger: silentLogger,
});
for (const [workflow, args] of [[listener, []], [hears, ["north"]]] as const) {
  await app.client.start<string>(workflow as never, {
    id: workflow.name,
    args: [...args],
    idConflictPolicy: "USE_EXISTING",
    timeout: "10 minutes", // a busy machine
    searchAttributes: { WorkflowSubscription: workflow === hears ? ["said:", "said:north"] : [] },
  });
}
const { n } = app.engine.tables.get<{ n: number }>("SELECT count(*) AS n FROM line")!;
for (let i = n;;) {
  const group = [i++, i++, i++].map((each) =>
    app.transaction((db, workflows) => {
      const line = String(each);
      db.run("INSERT INTO line (line) VALUES (?)", line);
      workflows.signal(listener.name, said, line);
      workflows.start(listener, { id: `started-${line}`, startDelay: "1 day" });
      workflows.broadcast(said, "north", line);
      return line;
    })
  );
  for (const done of group) console.log(await done);
}
