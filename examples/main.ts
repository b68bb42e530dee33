// `npm run example NAME`: runs one example (or all) on the embedded engine, with its workflow code
// in a worker realm.
import process from "node:process";
import { open, silentLogger } from "temporalex";
import { applications, services } from "./applications.ts";
import { activities, names, scenarios, workflows } from "./scenarios.ts";

const known = [...names, ...Object.keys(applications)];
const wanted = process.argv.slice(2).filter((a) => !a.startsWith("-"));
const unknown = wanted.filter((name) =>
  name !== "all" && !known.includes(name) && !(name in services)
);
if (process.argv.includes("--help") || wanted.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`no example named ${unknown.join(", ")}`);
  console.log(
    `usage: npm run example -- NAME...\n\nNAME: ${
      [...known, ...Object.keys(services)].join(", ")
    }, or all`,
  );
  process.exit(unknown.length > 0 ? 2 : 0);
}
const say = (line: string) => console.log(`  ${line}`);
for (const name of wanted.includes("all") ? known : wanted) {
  console.log(name);
  if (name in services) {
    await services[name]!();
    continue;
  }
  let result: unknown;
  if (name in applications) result = await (await applications[name]!()).run(say);
  else {
    const app = await open({ workflows, activities, logger: silentLogger });
    try {
      result = await scenarios[name]!(app, say);
    } finally {
      await app.close();
    }
  }
  console.log(`  result: ${JSON.stringify(result)}`);
}
