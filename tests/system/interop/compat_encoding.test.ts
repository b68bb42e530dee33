// runtime: node
// Histories that the official package decoded, encoded by us: the bytes are those of protobufjs,
// also after changes.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeUsual } from "../../../ts/compat/common/encode_plain.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { noOfficial, official } from "./support/official.ts";

const FOLDERS = [
  "tests/unit/compat/histories",
  "../shared/fixtures/bench",
  "../shared/fixtures/compat/corpus",
];

test("histories that protobufjs decoded are encoded in one pass, to its bytes", {
  skip: noOfficial,
}, async () => {
  const { History } = official("@temporalio/proto").temporal.api.history.v1;
  let count = 0;
  for (const folder of FOLDERS.filter((path) => existsSync(path))) {
    for (const file of readdirSync(folder).filter((name) => /\.(?:json|bin)$/.test(name))) {
      const read = await readHistoryFile(new Uint8Array(readFileSync(join(folder, file)))).catch(
        () => undefined,
      );
      if (read === undefined) continue;
      const history = History.decode(read.bytes);
      const assertSame = (what: string) => {
        const bytes = encodeUsual(HistorySchema, history);
        assert.ok(
          bytes !== undefined && Buffer.from(bytes).equals(History.encode(history).finish()),
          `${folder}/${file}: ${what}`,
        );
      };
      assertSame("decoded");
      history.events.splice(1, 1);
      assertSame("without the second event");
      const [first] = history.events;
      first.workflowExecutionStartedEventAttributes.identity = "né \u{1f600}";
      first.workflowExecutionStartedEventAttributes.attempt = -1;
      first.eventTime = { seconds: first.taskId, nanos: 5 };
      assertSame("with other fields in the first event");
      count++;
    }
  }
  assert.ok(count >= 9, `${count} histories`);
});
