// What a RegisterNamespaceRequest asks for: kept and shown, or refused by name. Few fields, so they are read by hand.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { NamespaceOptions } from "../engine/server_description.ts";
import { invalid } from "../engine/host_bytes.ts";

/** Adds a namespace. */
export type RegisterNamespace = (name: string, options: NamespaceOptions) => Promise<void>;

export interface Registration {
  readonly name: string;
  readonly options: NamespaceOptions;
  /** What it asks for that there is not here. */
  readonly refused: string | undefined;
}

/** temporal.api.enums.v1.ArchivalState */
const ARCHIVAL_ENABLED = 2;

const REFUSED: { readonly [field: number]: string } = {
  5: "clusters: it is one process with one store",
  6: "an active cluster: it is one process with one store",
  9: "a global namespace: it is one process with one store",
  10: "archival of histories: export them with temporalex store export",
  11: "archival of histories: export them with temporalex store export",
  12: "archival of visibility: export histories with temporalex store export",
  13: "archival of visibility: export histories with temporalex store export",
};

/** Throws for what does not decode and for a retention below 0. */
export function readRegistration(request: Uint8Array): Registration {
  const texts: { [field: number]: string } = {};
  const data: { [key: string]: string } = Object.create(null);
  let retentionMs = 0;
  let refused: string | undefined;
  try {
    const reader = new BinaryReader(request);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      const text = wireType === WireType.LengthDelimited;
      if (text && field === 4) retentionMs = readDuration(reader);
      else if (text && field === 7) readEntry(reader, data);
      else if (text && field <= 3) texts[field] = reader.string();
      else if (text && field in REFUSED) {
        if (reader.bytes().length > 0) refused ??= REFUSED[field];
      } else if (wireType === WireType.Varint && field in REFUSED) {
        const value = reader.int32();
        if (field === 9 ? value !== 0 : value === ARCHIVAL_ENABLED) refused ??= REFUSED[field];
      } else reader.skip(wireType, field);
    }
  } catch (error) {
    throw invalid(`the request does not decode: ${(error as Error).message}`);
  }
  if (retentionMs < 0) throw invalid(`a retention of ${retentionMs} ms: give a positive one, or none to keep closed workflows`);
  const options: NamespaceOptions = {
    description: texts[2] ?? "",
    ...(texts[3] !== undefined && { ownerEmail: texts[3] }),
    data,
    retentionMs,
  };
  return { name: texts[1] ?? "", options, refused };
}

/** A google.protobuf.Duration, in milliseconds. */
function readDuration(reader: BinaryReader): number {
  let ms = 0;
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.Varint) ms += Number(reader.int64()) * 1000;
    else if (field === 2 && wireType === WireType.Varint) ms += Math.round(reader.int32() / 1e6);
    else reader.skip(wireType, field);
  }
  return ms;
}

function readEntry(reader: BinaryReader, entries: { [key: string]: string }): void {
  let key = "", value = "";
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.LengthDelimited) key = reader.string();
    else if (field === 2 && wireType === WireType.LengthDelimited) value = reader.string();
    else reader.skip(wireType, field);
  }
  entries[key] = value;
}
