// `workflow stack` and `workflow metadata`: built-in queries of Temporal's SDKs. Results are
// validated, because the worker may be of any SDK.
import {
  ENHANCED_STACK_TRACE,
  isReserved,
  STACK_TRACE,
  WORKFLOW_METADATA,
} from "../../../executor/program/built_in_queries.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import type { Printer } from "../../frame/printer.ts";
import { withService } from "../../service/open_service.ts";
import type { MetadataCall, StackCall } from "./options.ts";
import { showValue } from "../../text/values.ts";
import { asking } from "./messages.ts";

export async function stackCommand(call: StackCall): Promise<number> {
  const { workflowId, enhanced } = call.options;
  return await withService(call, async (connection) => {
    const handle = asking(connection, call.options);
    if (enhanced) {
      const stacks = await handle.query(ENHANCED_STACK_TRACE);
      call.print.result(
        { workflowId, ...asObject(stacks, ENHANCED_STACK_TRACE) },
        () => `${printable(showValue(stacks, 2))}\n`,
      );
      return Exit.ok;
    }
    const stack = await handle.query(STACK_TRACE);
    if (typeof stack !== "string") throw strange(STACK_TRACE);
    call.print.result(
      { workflowId, stackTrace: stack },
      () => stack === "" ? "" : `${printable(stack)}\n`,
    );
    if (stack === "") call.print.note("nothing waits: the run has ended");
    return Exit.ok;
  });
}

interface Definition {
  readonly name?: string;
  readonly description?: string;
}

interface Metadata {
  readonly definition?: {
    readonly type?: string;
    readonly queryDefinitions?: readonly Definition[];
    readonly signalDefinitions?: readonly Definition[];
    readonly updateDefinitions?: readonly Definition[];
  };
  readonly currentDetails?: string;
}

export async function metadataCommand(call: MetadataCall): Promise<number> {
  const { workflowId } = call.options;
  return await withService(call, async (connection) => {
    const answer = await asking(connection, call.options).query(WORKFLOW_METADATA);
    const metadata = asObject(answer, WORKFLOW_METADATA) as Metadata;
    call.print.result({ workflowId, ...metadata }, () => metadataText(metadata, call.print));
    return Exit.ok;
  });
}

function metadataText({ definition = {}, currentDetails = "" }: Metadata, print: Printer): string {
  const parts: string[] = [
    print.fields([["Type", definition.type], [
      "Details",
      currentDetails === "" ? undefined : currentDetails,
    ]]),
  ];
  const kinds = [["Signals", "signalDefinitions"], ["Updates", "updateDefinitions"], [
    "Queries",
    "queryDefinitions",
  ]] as const;
  for (const [title, kind] of kinds) {
    // All workflows have Temporal's own queries; they are not listed.
    const found = listOf(definition[kind]).filter(({ name = "" }) => !isReserved(name));
    if (found.length === 0) continue;
    parts.push(print.table(found, [
      { title, cell: ({ name }) => name === undefined || name === "" ? "(any other name)" : name },
      { title: "", cell: ({ description = "" }) => description.split("\n")[0]! },
    ]));
  }
  return parts.join("\n");
}

function listOf(value: unknown): readonly Definition[] {
  if (value === undefined || value === null) return [];
  const sound = Array.isArray(value) &&
    value.every((each: unknown) => typeof each === "object" && each !== null);
  if (!sound) throw strange(WORKFLOW_METADATA);
  return (value as { [field: string]: unknown }[]).map(({ name, description }) => ({
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  }));
}

function asObject(value: unknown, query: string): { readonly [field: string]: unknown } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as { [field: string]: unknown };
  }
  throw strange(query);
}

const strange = (query: string) =>
  new CommandError(
    `the worker's answer to ${query} is not what Temporal's SDKs answer; see temporalex workflow query --name ${query}`,
  );
