// UUIDs of version 4 from given random bytes: of the machine, or of a run's generator, so that a
// replay makes the same UUIDs.

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Returns the UUID of 16 random bytes; sets version and variant in them. */
export function uuidOf(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  let id = "";
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) id += "-";
    id += HEX[bytes[i]!];
  }
  return id;
}
