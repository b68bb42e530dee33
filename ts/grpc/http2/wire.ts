// HTTP/2 on one socket for a gRPC client (RFC 9113). node:http2 makes a dozen objects per stream (a
// Duplex, its handle, header arrays), which was most of the cost of a worker's calls; here a stream
// is the call. One turn of the event loop sends in one write. Protocol errors end the connection,
// both flow-control windows are kept, and the owner is notified of the end once and notifies the
// streams.
import { nextTick } from "node:process";
import type { Socket } from "node:net";
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  head,
  HEAD_BYTES,
  PADDED,
  PREFACE,
  prefix,
  PREFIX_BYTES,
  PRIORITY,
  Reset,
  SETTING,
  uint31,
  uint32,
  unpadded,
  WireError,
} from "./frames.ts";
import { type FieldList, type Fields, HeaderDecoder, HeaderEncoder, HpackError } from "./hpack.ts";

/** Default window of a peer, before its settings. */
const DEFAULT_WINDOW = 65_535;
const DEFAULT_FRAME_BYTES = 16_384;
const LARGEST_WINDOW = 2 ** 31 - 1;
/** Pages of histories have megabytes; the default of 64 KiB would cost a round trip per window. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = 2 * STREAM_WINDOW;
/**
 * Maximum encoded header fields of a response; details of a gRPC status can have some kilobytes.
 */
const MAX_HEADER_BYTES = 256 * 1024;
/** Maximum stream id; the owner then makes another connection. */
const LAST_ID = 2 ** 31 - 1024;
/** Smaller buffers are joined for one write. */
const JOIN_BYTES = 64 * 1024;
/**
 * Maximum unread responses to pings and settings; more are an attack, or a peer that does not read.
 * A read has 64 KiB with at most 7,281 such frames, so a peer that reads never reaches it.
 */
const MAX_UNTAKEN_ANSWERS = 10_000;

/** A request and its response. The wire calls the methods. */
export abstract class WireStream {
  /** @internal */
  streamId = 0;
  /** @internal Rest of the body that waits for the peer's windows. */
  unsent: Uint8Array | undefined;
  /** @internal Bytes that the peer accepts. */
  window = 0;
  /** @internal Bytes received since the last WINDOW_UPDATE. */
  taken = 0;

  /** Header fields have arrived: the response's, then its trailers. */
  abstract onFields(fields: Fields): void;
  /** Part of the body, as a view of the read buffer. */
  abstract onData(chunk: Uint8Array): void;
  /**
   * The response is complete (undefined), or the peer has reset the stream (a code). The last
   * event.
   */
  abstract onEnd(reset: number | undefined): void;
}

/** Callbacks of a wire to its owner. */
export interface WireOwner {
  /** The peer's SETTINGS have arrived; the first ones are its connection preface. */
  onSettings(): void;
  /**
   * The peer accepts no more streams. `untouched` are above its last processed stream and have been
   * removed.
   */
  onGoAway(code: number, data: Uint8Array, untouched: readonly WireStream[]): void;
  /** Data has arrived. */
  onHeard(): void;
  /** The peer has violated the protocol; nothing more is read. The owner closes the socket. */
  onBroken(error: Error): void;
}

/**
 * A partly read DATA frame: its stream (undefined: ended), the remaining bytes, and whether the
 * stream ends with it.
 */
interface OpenData {
  readonly stream: WireStream | undefined;
  left: number;
  readonly ends: boolean;
}

export class Wire {
  /** Maximum concurrent streams of the peer. */
  maxStreams = Infinity;
  readonly #socket: Socket;
  readonly #owner: WireOwner;
  readonly #streams = new Map<number, WireStream>();
  readonly #encoder = new HeaderEncoder();
  readonly #decoder = new HeaderDecoder();
  #nextId = 1;
  #greeted = false;
  #over = false;
  // Outgoing.
  #out: Uint8Array[] = [];
  #outBytes = 0;
  /**
   * Responses to the peer's pings and settings: in `#out`, and in everything that the socket has
   * not sent.
   */
  #outAnswers = 0;
  #untakenAnswers = 0;
  #window = DEFAULT_WINDOW;
  #streamWindow = DEFAULT_WINDOW;
  #frameBytes = DEFAULT_FRAME_BYTES;
  /** Streams whose body waits for a window, oldest first. */
  readonly #waiting = new Set<WireStream>();
  readonly #pings: (() => void)[] = [];
  // Incoming.
  #taken = 0;
  #partial: Uint8Array | undefined;
  #data: OpenData | undefined;
  /** A block of header fields that continues in the next frame. */
  #block: { readonly id: number; readonly ends: boolean; bytes: Uint8Array } | undefined;

  /** Uses a connected socket and sends the preface. */
  constructor(socket: Socket, owner: WireOwner) {
    this.#socket = socket;
    this.#owner = owner;
    const settings = [[SETTING.tableSize, 0], [SETTING.enablePush, 0], [
      SETTING.initialWindow,
      STREAM_WINDOW,
    ]] as const;
    const payload = Buffer.alloc(settings.length * 6);
    settings.forEach(([id, value], i) => {
      payload.writeUInt16BE(id, i * 6);
      payload.writeUInt32BE(value, i * 6 + 2);
    });
    this.#put(PREFACE);
    this.#put(frame(FRAME.settings, 0, 0, payload));
    this.#openWindow(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
    socket.on("data", (chunk: Uint8Array) => this.#read(chunk));
  }

  /** Streams that are open. */
  get streams(): ReadonlyMap<number, WireStream> {
    return this.#streams;
  }

  /** True if this connection has no stream ids left. */
  get usedUp(): boolean {
    return this.#nextId > LAST_ID;
  }

  /**
   * Opens a stream with a gRPC message as its body. `key` identifies the fields
   * (HeaderEncoder.block).
   */
  open(stream: WireStream, key: string, fields: () => FieldList, message: Uint8Array): void {
    const id = stream.streamId = this.#nextId;
    this.#nextId += 2;
    stream.window = this.#streamWindow;
    this.#streams.set(id, stream);
    const block = this.#encoder.block(key, fields);
    const bytes = PREFIX_BYTES + message.length;
    if (
      bytes <= this.#frameBytes && bytes <= stream.window && bytes <= this.#window &&
      this.#waiting.size === 0 &&
      block.length <= this.#frameBytes
    ) {
      stream.window -= bytes;
      this.#window -= bytes;
      const whole = Buffer.allocUnsafe(2 * HEAD_BYTES + block.length + bytes);
      let at = head(whole, 0, block.length, FRAME.headers, END_HEADERS, id);
      whole.set(block, at);
      at = head(whole, at + block.length, bytes, FRAME.data, END_STREAM, id);
      prefix(whole, at, message.length);
      whole.set(message, at + PREFIX_BYTES);
      return this.#put(whole);
    }
    for (let from = 0; from < block.length; from += this.#frameBytes) {
      const part = block.subarray(from, from + this.#frameBytes);
      const last = from + part.length === block.length ? END_HEADERS : 0;
      this.#put(frame(from === 0 ? FRAME.headers : FRAME.continuation, last, id, part));
    }
    const body = Buffer.allocUnsafe(bytes);
    prefix(body, 0, message.length);
    body.set(message, PREFIX_BYTES);
    stream.unsent = body;
    this.#waiting.add(stream);
    this.#send();
  }

  /** Resets a stream, which gets no more events. */
  reset(stream: WireStream, code: number): void {
    if (!this.#forget(stream)) return;
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(code);
    this.#put(frame(FRAME.reset, 0, stream.streamId, payload));
  }

  /** Calls `onAck` for the peer's response, never before this method returns. */
  ping(onAck: () => void): void {
    this.#pings.push(onAck);
    this.#put(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  }

  /** Stops reading and sending. */
  end(): void {
    this.#over = true;
    this.#out = [];
    this.#waiting.clear();
  }

  #forget(stream: WireStream): boolean {
    if (stream.unsent !== undefined) {
      stream.unsent = undefined;
      this.#waiting.delete(stream);
    }
    return this.#streams.delete(stream.streamId);
  }

  #put(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#outBytes += bytes.length;
    // After everything that this turn and its microtasks send.
    if (this.#out.push(bytes) === 1) nextTick(flush, this);
  }

  /** Responds to a ping or settings. Bounded, because the peer may not read the responses. */
  #answer(type: number, payload: Uint8Array): void {
    if (++this.#untakenAnswers > MAX_UNTAKEN_ANSWERS) {
      throw new WireError(
        `it sends PING and SETTINGS frames without reading the acknowledgments of ${MAX_UNTAKEN_ANSWERS} of them`,
      );
    }
    this.#outAnswers++;
    this.#put(frame(type, ACK, 0, payload));
  }

  /** @internal */
  flush(): void {
    const out = this.#out;
    if (this.#over || out.length === 0) return;
    const bytes = this.#outBytes;
    const answers = this.#outAnswers;
    this.#out = [];
    this.#outBytes = this.#outAnswers = 0;
    const taken = answers === 0 ? undefined : () => {
      this.#untakenAnswers -= answers;
    };
    if (out.length === 1) this.#socket.write(out[0]!, taken);
    else if (bytes <= JOIN_BYTES) this.#socket.write(Buffer.concat(out, bytes), taken);
    else {
      const last = out.pop()!;
      this.#socket.cork();
      for (const part of out) this.#socket.write(part);
      this.#socket.write(last, taken);
      this.#socket.uncork();
    }
  }

  /** Sends waiting bodies as far as the windows allow. */
  #send(): void {
    for (const stream of this.#waiting) {
      while (stream.unsent !== undefined) {
        const bytes = Math.min(stream.unsent.length, this.#frameBytes, stream.window, this.#window);
        if (bytes <= 0) break;
        const part = stream.unsent.subarray(0, bytes);
        const last = bytes === stream.unsent.length;
        stream.unsent = last ? undefined : stream.unsent.subarray(bytes);
        if (last) this.#waiting.delete(stream);
        stream.window -= bytes;
        this.#window -= bytes;
        const start = Buffer.allocUnsafe(HEAD_BYTES);
        head(start, 0, bytes, FRAME.data, last ? END_STREAM : 0, stream.streamId);
        this.#put(start);
        this.#put(part);
      }
      if (this.#window <= 0) return;
    }
  }

  /** Allows the peer to send more bytes on a stream; id 0: on the connection. */
  #openWindow(id: number, bytes: number): void {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(bytes);
    this.#put(frame(FRAME.window, 0, id, payload));
  }

  #read(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#owner.onHeard();
    try {
      this.#frames(chunk);
    } catch (error) {
      if (!(error instanceof WireError || error instanceof HpackError)) throw error;
      const broken = error instanceof WireError
        ? error
        : new WireError(error.message, { cause: error });
      this.end();
      this.#owner.onBroken(broken);
    }
  }

  #frames(chunk: Uint8Array): void {
    if (this.#partial !== undefined) {
      chunk = Buffer.concat([this.#partial, chunk]);
      this.#partial = undefined;
    }
    let at = 0;
    while (!this.#over) {
      if (this.#data !== undefined) {
        at = this.#dataPart(this.#data, chunk, at);
        if (this.#data !== undefined) return;
      }
      if (chunk.length - at < HEAD_BYTES) break;
      const length = chunk[at]! << 16 | chunk[at + 1]! << 8 | chunk[at + 2]!;
      const type = chunk[at + 3]!;
      const flags = chunk[at + 4]!;
      const id = uint31(chunk, at + 5);
      if (!this.#greeted && type !== FRAME.settings) {
        throw new WireError(
          `the server does not speak HTTP/2: its first frame is of type ${type}, not SETTINGS`,
        );
      }
      if (length > DEFAULT_FRAME_BYTES) {
        throw new WireError(`a frame has ${length} bytes, more than ${DEFAULT_FRAME_BYTES}`);
      }
      if (this.#block !== undefined && (type !== FRAME.continuation || id !== this.#block.id)) {
        throw new WireError(
          `a frame of type ${type} on stream ${id} interrupts the headers of stream ${this.#block.id}`,
        );
      }
      if (type === FRAME.data && (flags & PADDED) === 0) {
        at += HEAD_BYTES;
        this.#data = { stream: this.#known(id), left: length, ends: (flags & END_STREAM) !== 0 };
        this.#credit(this.#data.stream, length, this.#data.ends);
        continue;
      }
      if (chunk.length - at < HEAD_BYTES + length) break;
      at += HEAD_BYTES;
      this.#frame(type, flags, id, chunk.subarray(at, at + length));
      at += length;
    }
    // A copy (`slice` of a Buffer is a view), because a view would retain the whole read buffer.
    if (!this.#over && at < chunk.length) this.#partial = new Uint8Array(chunk.subarray(at));
  }

  /** Passes on the received part of a DATA frame; returns where it ended. */
  #dataPart(data: OpenData, chunk: Uint8Array, at: number): number {
    const bytes = Math.min(data.left, chunk.length - at);
    data.left -= bytes;
    const { stream } = data;
    // The stream may have been reset since the frame began.
    const open = stream !== undefined && this.#streams.get(stream.streamId) === stream;
    if (open && bytes > 0) stream.onData(chunk.subarray(at, at + bytes));
    if (data.left > 0) return at + bytes;
    this.#data = undefined;
    if (open && data.ends) this.#ended(stream);
    return at + bytes;
  }

  /** Allows the peer to send as much again as has arrived. */
  #credit(stream: WireStream | undefined, bytes: number, ends: boolean): void {
    this.#taken += bytes;
    if (this.#taken >= CONNECTION_WINDOW / 2) {
      this.#openWindow(0, this.#taken);
      this.#taken = 0;
    }
    if (stream === undefined || ends) return;
    stream.taken += bytes;
    if (stream.taken >= STREAM_WINDOW / 2) {
      this.#openWindow(stream.streamId, stream.taken);
      stream.taken = 0;
    }
  }

  /**
   * Ends a stream after its response. A peer that responds before reading the whole request does
   * not get the rest.
   */
  #ended(stream: WireStream): void {
    if (this.#streams.get(stream.streamId) !== stream) return;
    if (stream.unsent !== undefined) this.reset(stream, Reset.CANCEL);
    else this.#forget(stream);
    stream.onEnd(undefined);
  }

  /** Returns the stream; undefined if it has ended. */
  #known(id: number): WireStream | undefined {
    if (id % 2 === 0 || id >= this.#nextId) throw new WireError(`a frame for idle stream ${id}`);
    return this.#streams.get(id);
  }

  #frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    switch (type) {
      case FRAME.data: {
        const stream = this.#known(id);
        const ends = (flags & END_STREAM) !== 0;
        this.#credit(stream, payload.length, ends);
        stream?.onData(unpadded(payload, flags));
        if (stream !== undefined && ends) this.#ended(stream);
        return;
      }
      case FRAME.headers: {
        this.#known(id);
        const bytes = unpadded(payload, flags);
        const ends = (flags & END_STREAM) !== 0;
        this.#block = { id, ends, bytes: (flags & PRIORITY) === 0 ? bytes : bytes.subarray(5) };
        return this.#blockPart(flags);
      }
      case FRAME.continuation:
        if (this.#block === undefined) throw new WireError("CONTINUATION frame without HEADERS");
        if (this.#block.bytes.length + payload.length > MAX_HEADER_BYTES) {
          throw new WireError(
            `the headers of stream ${id} have more than ${MAX_HEADER_BYTES} bytes`,
          );
        }
        this.#block.bytes = Buffer.concat([this.#block.bytes, payload]);
        return this.#blockPart(flags);
      case FRAME.reset: {
        const stream = this.#known(id);
        if (payload.length !== 4) throw frameSizeError("RST_STREAM", payload, id, "4 bytes");
        if (stream !== undefined && this.#forget(stream)) stream.onEnd(uint32(payload, 0));
        return;
      }
      case FRAME.settings:
        return this.#settings(flags, id, payload);
      case FRAME.ping:
        if (payload.length !== 8 || id !== 0) {
          throw frameSizeError("PING", payload, id, "8 bytes on stream 0");
        }
        if ((flags & ACK) !== 0) this.#pings.shift()?.();
        else this.#answer(FRAME.ping, payload);
        return;
      case FRAME.goAway:
        return this.#goAway(payload);
      case FRAME.window:
        return this.#windowUpdate(id, payload);
      case FRAME.push:
        throw new WireError("PUSH_PROMISE frame, although push is disabled");
        // Unknown frame types are ignored, including PRIORITY.
    }
  }

  #blockPart(flags: number): void {
    const block = this.#block!;
    if ((flags & END_HEADERS) === 0) {
      // The block waits for more: a copy, as above.
      block.bytes = new Uint8Array(block.bytes);
      return;
    }
    this.#block = undefined;
    const fields = this.#decoder.read(block.bytes);
    const stream = this.#streams.get(block.id);
    if (stream === undefined) return;
    stream.onFields(fields);
    if (block.ends) this.#ended(stream);
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0 || payload.length % 6 !== 0) {
      throw frameSizeError("SETTINGS", payload, id, "a multiple of 6 bytes on stream 0");
    }
    if ((flags & ACK) !== 0) {
      if (!this.#greeted) {
        throw new WireError("the first SETTINGS frame of the server is an acknowledgment");
      }
      return;
    }
    for (let at = 0; at < payload.length; at += 6) {
      this.#setting(payload[at]! << 8 | payload[at + 1]!, uint32(payload, at + 2));
    }
    this.#greeted = true;
    this.#answer(FRAME.settings, new Uint8Array(0));
    this.#owner.onSettings();
    this.#send();
  }

  #setting(setting: number, value: number): void {
    switch (setting) {
      case SETTING.tableSize:
        return this.#encoder.allow(value);
      case SETTING.maxStreams:
        this.maxStreams = value;
        return;
      case SETTING.initialWindow:
        if (value > LARGEST_WINDOW) throw windowError(value);
        for (const stream of this.#streams.values()) stream.window += value - this.#streamWindow;
        this.#streamWindow = value;
        return;
      case SETTING.maxFrame:
        if (value < DEFAULT_FRAME_BYTES) {
          throw new WireError(
            `SETTINGS_MAX_FRAME_SIZE is ${value}; at least ${DEFAULT_FRAME_BYTES} are required`,
          );
        }
        // Larger frames would only delay other streams.
        return;
    }
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) {
      throw frameSizeError("WINDOW_UPDATE", payload, id, "4 bytes");
    }
    const more = uint31(payload, 0);
    if (more === 0) throw new WireError(`WINDOW_UPDATE with increment 0 on stream ${id}`);
    if (id === 0) {
      this.#window += more;
      if (this.#window > LARGEST_WINDOW) throw windowError(this.#window);
    } else {
      const stream = this.#known(id);
      if (stream === undefined) return;
      stream.window += more;
      if (stream.window > LARGEST_WINDOW) throw windowError(stream.window);
    }
    if (this.#waiting.size > 0) this.#send();
  }

  #goAway(payload: Uint8Array): void {
    if (payload.length < 8) throw frameSizeError("GOAWAY", payload, 0, "at least 8 bytes");
    const last = uint31(payload, 0);
    const untouched = [...this.#streams.values()].filter((stream) => stream.streamId > last);
    for (const stream of untouched) this.#forget(stream);
    this.#owner.onGoAway(uint32(payload, 4), payload.slice(8), untouched);
  }
}

const flush = (wire: Wire) => wire.flush();

/** The payload has an invalid size, or the frame has an invalid stream. */
function frameSizeError(
  type: string,
  payload: Uint8Array,
  id: number,
  expected: string,
): WireError {
  return new WireError(
    `a ${type} frame has ${payload.length} bytes on stream ${id}; expected ${expected}`,
  );
}

function windowError(size: number): WireError {
  return new WireError(`a flow-control window of ${size} bytes; at most 2^31-1 are allowed`);
}
