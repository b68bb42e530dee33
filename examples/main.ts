// `npm run example NAME`: runs one example (or all) on the embedded engine in memory, with its workflow code in a worker realm.
import process from "node:process";
import { open, silentLogger } from "temporalex";
import { activities, names, scenarios, workflows } from "./scenarios.ts";

const wanted = process.argv.slice(2).filter((a) => !a.startsWith("-"));
const unknown = wanted.filter((name) => name !== "all" && !(name in scenarios));
if (process.argv.includes("--help") || wanted.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`no example named ${unknown.join(", ")}`);
  console.log(`usage: npm run example -- NAME...\n\nNAME: ${names.join(", ")}, or all`);
  process.exit(unknown.length > 0 ? 2 : 0);
}
const app = await open({ workflows, activities, logger: silentLogger });
for (const name of wanted.includes("all") ? names : wanted) {
  console.log(name);
  const result = await scenarios[name]!(app, (line) => console.log(`  ${line}`));
  console.log(`  result: ${JSON.stringify(result)}`);
}
await app.close();
