// Messages of the methods next to WorkflowService: JSON in field 1. Command line and store holder
// usually have the same version.
import { Message, readBytes, tagWithLength } from "../messages/wire.ts";

const FIELD = tagWithLength(1);

export const jsonMessage = (value: unknown): Uint8Array =>
  new Message().bytes(FIELD, new TextEncoder().encode(JSON.stringify(value))).finish();

/** Throws a SyntaxError for other bytes. */
export const readJsonMessage = (bytes: Uint8Array): unknown =>
  JSON.parse(new TextDecoder().decode(readBytes(bytes, FIELD)));
