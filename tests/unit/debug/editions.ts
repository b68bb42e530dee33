// Many editions of one program for a single realm: the start of a realm costs more than a replay.
// Each edition is a module, and the names of its workflow types are not those of the others.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

/** The text of an edition, and the type of the workflow that is replayed. */
export interface Edition {
  readonly text: string;
  readonly workflow: string;
}

export const typeOf = (workflow: string, edition: number): string => `${workflow}E${edition}`;

/** Sources of a realm, all editions of one model; a module is `/app/e<edition>/main.ts`, with the lines of its text. */
export function editionSources(
  editions: readonly Edition[],
): { readonly workflows: string; readonly sources: { readonly [path: string]: string } } {
  const sources: { [path: string]: string } = {};
  const main: string[] = [];
  for (const [n, { text, workflow }] of editions.entries()) {
    const path = `/app/e${n}/main.ts`;
    const type = typeOf(workflow, n);
    // A native definition says its type, a function has the name of its export.
    const native = new RegExp(`export const (\\w+) = workflow\\("${workflow}"`).exec(text)?.[1];
    sources[path] = native === undefined
      ? text
      : text.replace(`workflow("${workflow}"`, `workflow("${type}"`);
    main.push(`export { ${native ?? workflow} as ${type} } from "./e${n}/main.ts";`);
  }
  sources["/app/main.ts"] = `${main.join("\n")}\n`;
  return { workflows: "/app/main.ts", sources };
}

/** The history of a run, as one of another type; so is the run that continues it. */
export function ofType(history: Uint8Array, type: string): Uint8Array {
  const decoded = fromBinary(HistorySchema, history);
  for (const { attributes } of decoded.events) {
    if (
      attributes.case === "workflowExecutionStartedEventAttributes" ||
      attributes.case === "workflowExecutionContinuedAsNewEventAttributes"
    ) {
      attributes.value.workflowType!.name = type;
    }
  }
  return toBinary(HistorySchema, create(HistorySchema, decoded));
}
