// The files of Temporal's whole API, from their compressed descriptors.
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { WHOLE_API } from "../../messages/generated/whole_api.ts";
import { builtin } from "../../platform/builtin.ts";

/** Returns the files; undefined in browsers, which cannot decompress without a promise. */
export function wholeApiFiles(): Iterable<DescFile> | undefined {
  const zlib = builtin<{ gunzipSync(bytes: Uint8Array): Uint8Array }>("node:zlib");
  if (zlib === undefined) return undefined;
  const set = fromBinary(FileDescriptorSetSchema, zlib.gunzipSync(base64Decode(WHOLE_API)));
  return createFileRegistry(set).files;
}
