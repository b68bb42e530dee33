// Creates event groups, and scopes whose commands belong to a group.
import { encode } from "../common/text.ts";
import { currentCompatRun } from "../current.ts";
import { LabeledGroup, NO_GROUPS } from "./event_groups.ts";
import type { EventGroupMarker } from "./options.ts";

class ScopedGroup extends LabeledGroup {
  /** Name in the debugger, also of minified code. */
  static override readonly name = "EventGroupMarker";

  withScope<T>(fn: () => Promise<T>): Promise<T> {
    const run = currentCompatRun(
      "EventGroupMarker.withScope(...) may only be used from a Workflow Execution",
    );
    const { implicit, explicit } = run.context.current()?.groups ?? NO_GROUPS;
    return run.context.run(
      run.frame({ groups: { implicit, explicit: { ...explicit, [this.id]: this } } }),
      fn,
    );
  }
}

/**
 * Creates a group of events. Events whose markers have the same id form one group. Default id: from
 * the label, so that it is the same after a replay and a reset.
 */
export function createEventGroup(label: string, options?: { id?: string }): EventGroupMarker {
  const { info } = currentCompatRun(
    "createEventGroup(...) may only be used from a Workflow Execution",
  );
  return new ScopedGroup(label, options?.id ?? sha1(`${info.originalExecutionRunId}${label}`));
}

/**
 * SHA-1 (FIPS 180-4) in hexadecimal: realms have no crypto, whose digest is asynchronous anyway.
 */
function sha1(text: string): string {
  const bytes = encode(text);
  const padded = new DataView(new ArrayBuffer((((bytes.length + 8) >> 6) + 1) << 6));
  bytes.forEach((byte, i) => padded.setUint8(i, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const rotated = (word: number, by: number) => (word << by) | (word >>> (32 - by));
  const words = new Int32Array(80);
  for (let at = 0; at < padded.byteLength; at += 64) {
    let [a, b, c, d, e] = state as [number, number, number, number, number];
    for (let i = 0; i < 80; i++) {
      words[i] = i < 16
        ? padded.getInt32(at + 4 * i)
        : rotated(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1);
      const [mixed, constant] = i < 20
        ? [(b & c) | (~b & d), 0x5a827999]
        : i < 40
        ? [b ^ c ^ d, 0x6ed9eba1]
        : i < 60
        ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
        : [b ^ c ^ d, 0xca62c1d6];
      [a, b, c, d, e] = [
        (rotated(a, 5) + mixed + e + constant + words[i]!) | 0,
        a,
        rotated(b, 30),
        c,
        d,
      ];
    }
    [a, b, c, d, e].forEach((word, i) => (state[i] = (state[i]! + word) | 0));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
