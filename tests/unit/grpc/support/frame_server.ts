// A server of HTTP/2 that a test plays frame by frame, and calls to it.
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type GrpcOptions, GrpcService } from "../../../../ts/grpc/grpc_service.ts";

/** What a test has open; it ends all of it behind each test (`closeAll`). */
export const closing: (() => unknown)[] = [];
export async function closeAll(): Promise<void> {
  // The last one first: a server ends when its connections have.
  for (const close of closing.splice(0).reverse()) await close();
}

export function service(port: number, more: Partial<GrpcOptions> = {}): GrpcService {
  const made = new GrpcService({ address: `127.0.0.1:${port}`, ...more });
  closing.push(() => made.close());
  return made;
}

export const NOTHING = new Uint8Array(0);

export const TYPE = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
};
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Uint8Array;
}

export function frame(
  type: number,
  flags: number,
  id: number,
  payload: Uint8Array | number[] = [],
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, Uint8Array.from(payload)]);
}

export const uint32 = (
  value: number,
) => [value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255];
export const field = (name: string, value: string) => [
  0x10,
  name.length,
  ...Buffer.from(name),
  value.length,
  ...Buffer.from(value),
];
/** :status 200 is entry 8 of the static table. */
export const OK = [0x88, ...field("content-type", "application/grpc")];
export const STATUS_0 = field("grpc-status", "0");
export const message = (bytes: readonly number[]) => [0, ...uint32(bytes.length), ...bytes];
export const GREETING = frame(TYPE.settings, 0, 0);

/** Completes a call with a message of these bytes. */
export const answer = (id: number, bytes: readonly number[] = []) =>
  Buffer.concat([
    frame(TYPE.headers, 4, id, OK),
    frame(TYPE.data, 0, id, message(bytes)),
    frame(TYPE.headers, 5, id, STATUS_0),
  ]);

export interface Peer {
  readonly port: number;
  readonly server: Server;
}

/**
 * `play` is called with each frame after the client's preface; the frames that it returns are sent.
 */
export async function peer(
  play: (frame: Frame, socket: Socket) => Uint8Array | undefined,
  greeting: Uint8Array = GREETING,
): Promise<Peer> {
  const server = createServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.write(greeting);
    let got = Buffer.alloc(0);
    let preface = 24;
    socket.on("data", (chunk) => {
      got = Buffer.concat([got, chunk as Uint8Array]);
      if (got.length >= preface) {
        got = got.subarray(preface);
        preface = 0;
      } else return;
      while (got.length >= 9 && got.length >= 9 + got.readUIntBE(0, 3)) {
        const length = got.readUIntBE(0, 3);
        const next = {
          type: got[3]!,
          flags: got[4]!,
          id: got.readUInt32BE(5),
          payload: got.subarray(9, 9 + length),
        };
        got = got.subarray(9 + length);
        const reply = play(next, socket);
        if (reply !== undefined) socket.write(reply);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.address() as AddressInfo).port, server };
}

/** The request is there: its DATA frame has END_STREAM. */
export const complete = ({ type, flags }: Frame) => type === TYPE.data && (flags & 1) !== 0;
