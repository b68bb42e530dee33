// A process that plays a day of the world in a file, and says how it ended.
import process from "node:process";
import { day, openWorld } from "../../../../examples/world/main.ts";

const [path, npcs] = process.argv.slice(2);
const world = await openWorld({ path: path!, serve: false });
console.log("open");
const sight = await day(world, Number(npcs), 20);
await world.close();
console.log(`end ${JSON.stringify(sight)}`);
