// The events of a history as lines, without a session.
import { fromBinary } from "@bufbuild/protobuf";
import type { EventLine } from "temporalex/debug";
import { HistorySchema } from "../../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { lineOf } from "../../../ts/debug/events.ts";

export const readHistoryLines = (history: Uint8Array): readonly EventLine[] =>
  fromBinary(HistorySchema, history).events.map((event) => lineOf(event));
