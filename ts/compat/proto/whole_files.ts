// The files of Temporal's whole API, from their compressed descriptors.
import { createFileRegistry, type DescFile } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { readFileDescriptor } from "../../messages/descriptor_reader.ts";
import { WHOLE_API } from "../../messages/generated/whole_api.ts";
import { Fields, tagWithLength } from "../../messages/wire.ts";
import { gunzipSync } from "../../platform/gunzip.ts";

/** FileDescriptorSet.file */
const FILE = tagWithLength(1);

/** Returns the files; undefined in browsers, which cannot decompress without a promise. */
export function wholeApiFiles(): Iterable<DescFile> | undefined {
  const bytes = gunzipSync(base64Decode(WHOLE_API));
  if (bytes === undefined) return undefined;
  const file: FileDescriptorProto[] = [];
  for (const at = new Fields(bytes); at.next();) {
    if (at.tag === FILE) file.push(readFileDescriptor(at.bytes()));
  }
  return createFileRegistry({ $typeName: "google.protobuf.FileDescriptorSet", file }).files;
}
