// All of Temporal's API as data: a descriptor set in base64, and the names of the methods that no
// generated code knows. Programs that ask a connection for such a method load it then
// (ts/compat/client/whole_service.ts).
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { join } from "node:path";

const file = (service) => `temporal/api/${service}/v1/service.proto`;

/**
 * The module with the descriptor set; `before`: its text until now, which stays where it says the
 * same (zlibs write other bytes).
 */
export function wholeFile(image, header, before) {
  try {
    const packed = /^ {2}"(.*)";$/m.exec(before)?.[1] ?? "";
    if (gunzipSync(Buffer.from(packed, "base64")).equals(image)) return before;
  } catch {
    // It holds something else.
  }
  return `${header}/* eslint-disable */

/** A google.protobuf.FileDescriptorSet of all of Temporal's API, without options and comments: gzip, in base64. */
export const WHOLE_API =
  "${gzipSync(image, { level: 9 }).toString("base64")}";
`;
}

/** The module with the names of methods, as clients spell them. */
export function otherMethodsFile(root, image) {
  const known = readFileSync(join(root, "ts/api/raw_methods.ts"), "utf8");
  const files = fromBinary(FileDescriptorSetSchema, image).file;
  const methodsOf = (service) => {
    const [{ method }] = files.find(({ name }) => name === file(service))?.service ?? [];
    return method.map(({ name }) => name[0].toLowerCase() + name.slice(1));
  };
  const list = (names) => `[\n${names.map((name) => `  "${name}",\n`).join("")}] as const`;
  const others = methodsOf("workflowservice").filter((name) => !known.includes(`  ${name}: true,`));
  return `/** The methods of WorkflowService that no generated code of this package knows. */
export const OTHER_METHODS = ${list(others)};

/** The methods of OperatorService. */
export const OPERATOR_METHODS = ${list(methodsOf("operatorservice"))};
`;
}
