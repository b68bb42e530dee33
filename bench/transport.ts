// What a gRPC call costs its caller: this package's transport, Connect's for Node, and grpc-js
// (where tests/system/interop is installed), alternating in one run against a server of no work in
// another process. `npm run bench -- transport [--calls=20000] [--rounds=3]`, or with Deno: `deno
// run -A --no-check bench/transport.ts`. CPU is the caller's own; the machine's other work shows in
// calls per second alone.
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http2";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { GrpcService } from "../ts/grpc/grpc_service.ts";
import { rawMethod } from "../ts/api/raw_methods.ts";
import { EmptySchema } from "../ts/messages/well_known.ts";
import { count, options, round, spread } from "./lib/measure.ts";

/** A response of a small task's size. */
const RESPONSE_BYTES = 120;

function serve(): void {
  const body = Buffer.alloc(5 + RESPONSE_BYTES, 65);
  body.writeUIntBE(RESPONSE_BYTES, 0, 5);
  // One field of bytes.
  body.set([0x0a, RESPONSE_BYTES - 2], 5);
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/grpc" });
      response.addTrailers({ "grpc-status": "0" });
      response.end(body);
    });
  });
  server.on("session", (session) => session.on("error", () => {}));
  server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
  process.stdin.on("end", () => process.exit(0)).resume();
}

interface Caller {
  call(): Promise<unknown>;
  close(): void;
}
const request = new Uint8Array(0);

const callers: { [name: string]: (address: string) => Caller | undefined } = {
  ours(address) {
    const service = new GrpcService({ address });
    return { call: () => service.call("getSystemInfo", request), close: () => service.close() };
  },
  connect(address) {
    const transport = createGrpcTransport({ baseUrl: `http://${address}`, acceptCompression: [] });
    const call = async () => {
      const message = fromBinary(EmptySchema, request);
      const response = await transport.unary(
        rawMethod("getSystemInfo"),
        undefined,
        30_000,
        new Headers({ "x-a": "b" }),
        message,
      );
      return toBinary(EmptySchema, response.message);
    };
    return { call, close: () => {} };
  },
  grpcJs(address) {
    let grpc;
    try {
      grpc = createRequire(join(process.cwd(), "tests/system/interop/package.json"))(
        "@grpc/grpc-js",
      );
    } catch {
      return undefined;
    }
    const client = new grpc.Client(address, grpc.credentials.createInsecure());
    const path = "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo";
    const same = (bytes: Uint8Array) => bytes;
    const call = () =>
      new Promise((resolve, reject) => {
        const answer = (error: unknown, bytes: unknown) => error ? reject(error) : resolve(bytes);
        const timing = { deadline: Date.now() + 30_000 };
        client.makeUnaryRequest(
          path,
          same,
          same,
          Buffer.from(request),
          new grpc.Metadata(),
          timing,
          answer,
        );
      });
    return { call, close: () => client.close() };
  },
};

async function measure({ call }: Caller, calls: number, inFlight: number) {
  let left = calls;
  const took: number[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) {
      const asked = performance.now();
      await call();
      took.push(performance.now() - asked);
    }
  }));
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  took.sort((a, b) => a - b);
  return {
    cpuUs: (user + system) / calls,
    perSecond: calls / ms * 1000,
    p50Ms: took[calls >> 1]!,
    p99Ms: took[Math.floor(calls * 0.99)]!,
  };
}

async function started(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return `127.0.0.1:${line}`;
  throw new Error("the server did not start");
}

async function main(): Promise<void> {
  const given = options(process.argv.slice(2), { calls: "20000", rounds: "3" });
  const [calls, rounds] = [count("calls", given.calls, 100), count("rounds", given.rounds)];
  const self = fileURLToPath(import.meta.url);
  const flags = "Deno" in globalThis ? ["run", "-A", "--no-check", self] : [self];
  const child = spawn(process.execPath, [...flags, "--serve"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const address = await started(child);
  const made = Object.entries(callers).flatMap(([name, make]) => {
    const caller = make(address);
    return caller === undefined ? [] : [{ name, caller }];
  });
  const results: { [name: string]: object } = {};
  for (const inFlight of [1, 64]) {
    const samples = made.map(({ caller }) => ({
      caller,
      of: [] as Awaited<ReturnType<typeof measure>>[],
    }));
    for (const { caller } of samples) await measure(caller, calls / 4, inFlight);
    for (let i = 0; i < rounds; i++) {
      for (const { caller, of } of samples) {
        of.push(await measure(caller, inFlight === 1 ? calls / 4 : calls, inFlight));
      }
    }
    samples.forEach(({ of }, i) => {
      const over = (field: "cpuUs" | "perSecond" | "p50Ms" | "p99Ms") =>
        spread(of.map((sample) => round(sample[field])));
      const figures = {
        cpuUs: over("cpuUs"),
        perSecond: over("perSecond"),
        p50Ms: over("p50Ms"),
        p99Ms: over("p99Ms"),
      };
      results[`${made[i]!.name}, ${inFlight} in flight`] = figures;
    });
  }
  const runtime = "Deno" in globalThis
    ? `deno ${process.versions["deno"]}`
    : `node ${process.versions.node}`;
  console.log(JSON.stringify({ bench: "transport", runtime, calls, rounds, results }));
  for (const { caller } of made) caller.close();
  child.stdin!.end();
  child.kill();
  process.exit(0);
}

if (process.argv.includes("--serve")) serve();
else await main();
