// Polls a folder in a tight loop, and prints the files that a user other than their owner could
// have opened at some moment. Ends on SIGTERM.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const folder = process.argv[2]!;
const seen = new Map<string, number>();
let looks = 0;
let over = false;
process.once("SIGTERM", () => over = true);
console.log("watching");
const look = () => {
  for (const end = performance.now() + 20; performance.now() < end; looks++) {
    for (const name of readdirSync(folder)) {
      try {
        const stat = lstatSync(join(folder, name));
        if (!stat.isDirectory() && (stat.mode & 0o077) !== 0) seen.set(name, stat.mode & 0o777);
      } catch {
        // Gone meanwhile.
      }
    }
  }
  if (!over) return void setTimeout(look);
  console.log(
    JSON.stringify({ looks, open: [...seen].map(([name, mode]) => `${name} ${mode.toString(8)}`) }),
  );
};
look();
