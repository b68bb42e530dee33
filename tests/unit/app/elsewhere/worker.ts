// A process with a worker and nothing else, on the store of another process: `worker.ts STORE
// [codec]`. Says "working" and waits for its end.
import { findHolder } from "../../../../ts/app/socket_path.ts";
import { lineTo, resolveStorePath } from "../../../../ts/app/store_service.ts";
import { silentLogger, Worker } from "../../../../ts/mod.ts";
import { invertingCodec } from "../../../support/codecs.ts";
import { told } from "./workflows.ts";

const [path, codec] = process.argv.slice(2);
const worker = await Worker.create({
  service: lineTo(findHolder(resolveStorePath(path!))!),
  taskQueue: "default",
  workflows: { told },
  logger: silentLogger,
  ...(codec !== undefined && { codec: invertingCodec() }),
});
const done = worker.run();
console.log("working");
await done;
