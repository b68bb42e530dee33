// Another process that calls functions over the store's socket. Prints one JSON line per result.
import process from "node:process";
import { StoreService } from "../../../../ts/app/store_service.ts";
import { Client, FunctionFailedError, silentLogger } from "../../../../ts/client/mod.ts";
import { invertingSyncCodec } from "../../../support/codecs.ts";
import type * as functions from "./functions.ts";

const [path, coded] = process.argv.slice(2);
const service = new StoreService({ path: path! });
const client = new Client({
  service,
  logger: silentLogger,
  ...(coded !== undefined && { codec: invertingSyncCodec() }),
});
console.log(JSON.stringify(await client.call<typeof functions.begin>("begin", "a")));
const lines = ["one", "two", "three", "end"];
const said = lines.map((line) => client.call<typeof functions.sayLine>("sayLine", "a", line));
console.log(JSON.stringify(await Promise.all(said)));
const error = await client.call("fail", "four").catch((e) => e) as FunctionFailedError;
const { functionName, cause } = error;
const { details } = cause as unknown as { details: unknown };
console.log(
  JSON.stringify([
    error instanceof FunctionFailedError,
    functionName,
    cause.message,
    details,
  ]),
);
console.log(JSON.stringify((await client.call("missing").catch((e) => e) as Error).message));
await service.close();
