// Messages of methods beside WorkflowService: JSON in field 1, the only one. Command line and store holder are mostly of one version.
import { Message, readBytes, tagWithLength } from "../api/wire.ts";

const FIELD = tagWithLength(1);

export const jsonMessage = (value: unknown): Uint8Array =>
  new Message().bytes(FIELD, new TextEncoder().encode(JSON.stringify(value))).finish();

/** Throws a SyntaxError for what is no such message. */
export const readJsonMessage = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(readBytes(bytes, FIELD)));
