// `workflow show`: a history as a table, or in Temporal's own JSON form.
import { toJson } from "@bufbuild/protobuf";
import { collectHistory, historyToJson, isClosing } from "../../../client/history.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { Exit } from "../../frame/exit.ts";
import type { Color, Column } from "../../frame/printer.ts";
import { type Handle, withService } from "../../service/open_service.ts";
import type { ShowCall } from "./options.ts";
import { EventTexts } from "./event_texts.ts";

/** Rows of one page. */
const PAGE = 200;
/** With `--follow`, a page is shown after this time without an event. */
const QUIET_MS = 50;

export async function showCommand(call: ShowCall): Promise<number> {
  const { workflowId, runId, follow, detailed, decode } = call.options;
  const { print, io } = call;
  return await withService(call, async ({ client, settings }) => {
    const handle = client.getHandle(undefined, workflowId, runId) as Handle;
    const events = handle.history({ follow, decode: decode || !print.json, ...settings });
    if (print.format === "json") {
      // The complete form of the service, which other programs load.
      io.out(`${historyToJson(await collectHistory(events))}\n`);
      return Exit.ok;
    }
    if (print.format === "jsonl") {
      for await (const event of events) {
        io.out(`${JSON.stringify(toJson(HistoryEventSchema, event))}\n`);
      }
      return Exit.ok;
    }
    const texts = new EventTexts();
    if (detailed) {
      for await (const event of events) {
        print.result(
          event,
          () =>
            `${print.paint(`${event.eventId} ${texts.name(event)}`, "bold")}  ${
              texts.time(event)
            }\n${texts.details(event)}\n`,
        );
      }
      return Exit.ok;
    }
    const columns: Column<HistoryEvent>[] = [
      { title: "ID", right: true, cell: (event) => String(event.eventId) },
      {
        title: "Time",
        cell: (event) => texts.time(event),
        narrow: (event) => toTheSecond(texts.time(event)),
        color: () => "dim",
      },
      // Width of the longest common name, so that pages of --follow are aligned.
      { title: "Event".padEnd(34), cell: (event) => texts.name(event), color },
      { title: "What", cell: (event) => texts.summary(event) },
    ];
    const table = print.pages(columns);
    let page: HistoryEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      clearTimeout(timer);
      if (page.length > 0 && print.format === "text") io.out(table(page));
      page = [];
    };
    for await (const event of events) {
      page.push(event);
      if (page.length >= PAGE) flush();
      else if (follow) {
        clearTimeout(timer);
        timer = setTimeout(flush, QUIET_MS);
      }
    }
    flush();
    return Exit.ok;
  });
}

/** Converts "2026-11-28T09:34:56.971Z" to "11-28 09:34:56". */
const toTheSecond = (time: string): string => time.slice(5, 19).replace("T", " ");

function color(event: HistoryEvent): Color | undefined {
  const name = event.attributes.case ?? "";
  if (/Failed|TimedOut|Terminated/.test(name)) return "red";
  if (/Cancel/.test(name)) return "yellow";
  return isClosing(event) ? "green" : /^workflowTask/.test(name) ? "dim" : undefined;
}
