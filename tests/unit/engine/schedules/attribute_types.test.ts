// A description of a schedule and its entry in a list have search attributes with their registered types, as SDKs that read
// typed attributes need.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EmbeddedEngine, MemoryStore } from "../../../../ts/engine/mod.ts";
import {
  type SearchAttributes,
  SearchAttributesSchema,
} from "../../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  CreateScheduleRequestSchema,
  DescribeScheduleRequestSchema,
  DescribeScheduleResponseSchema,
  ListSchedulesRequestSchema,
  ListSchedulesResponseSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

const encoded = (text: string) => new TextEncoder().encode(text);

/** Attributes of which Typed has a type, and the others have not. */
const attributes = () =>
  create(SearchAttributesSchema, {
    indexedFields: {
      Color: { metadata: { encoding: encoded("json/plain") }, data: encoded('["red"]') },
      Sizes: { metadata: { encoding: encoded("json/plain") }, data: encoded('["1","2"]') },
      Unknown: { metadata: { encoding: encoded("json/plain") }, data: encoded('["a"]') },
      Typed: {
        metadata: { encoding: encoded("json/plain"), type: encoded("Text") },
        data: encoded('"a b"'),
      },
    },
  });

const typesOf = (found: SearchAttributes | undefined) =>
  Object.fromEntries(
    Object.entries(found?.indexedFields ?? {}).map(([name, { metadata }]) => [
      name,
      metadata["type"] && new TextDecoder().decode(metadata["type"]),
    ]),
  );

test("descriptions and lists have the registered type of each search attribute that came without one", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const created = create(CreateScheduleRequestSchema, {
      namespace: "default",
      scheduleId: "a",
      requestId: "a",
      schedule: {
        spec: {},
        action: {
          action: {
            case: "startWorkflow",
            value: {
              workflowId: "a",
              workflowType: { name: "a" },
              taskQueue: { name: "a" },
              searchAttributes: attributes(),
            },
          },
        },
      },
      searchAttributes: attributes(),
    });
    await engine.call("createSchedule", toBinary(CreateScheduleRequestSchema, created));
    const describe = async () => {
      const request = create(DescribeScheduleRequestSchema, {
        namespace: "default",
        scheduleId: "a",
      });
      const response = await engine.call(
        "describeSchedule",
        toBinary(DescribeScheduleRequestSchema, request),
      );
      const { searchAttributes, schedule } = fromBinary(DescribeScheduleResponseSchema, response);
      const { action } = schedule!.action!;
      assert.equal(action.case, "startWorkflow");
      return [searchAttributes, action.value!.searchAttributes].map(typesOf);
    };
    const listed = async () => {
      const request = create(ListSchedulesRequestSchema, { namespace: "default" });
      const response = await engine.call(
        "listSchedules",
        toBinary(ListSchedulesRequestSchema, request),
      );
      return fromBinary(ListSchedulesResponseSchema, response).schedules.map((entry) =>
        typesOf(entry.searchAttributes)
      );
    };
    const before = { Color: undefined, Sizes: undefined, Unknown: undefined, Typed: "Text" };
    assert.deepEqual([...await describe(), ...await listed()], [before, before, before]);
    engine.addSearchAttributes({ Color: "Keyword", Sizes: "KeywordList", Typed: "Keyword" });
    const after = { ...before, Color: "Keyword", Sizes: "KeywordList" };
    assert.deepEqual([...await describe(), ...await listed()], [after, after, after]);
  } finally {
    await engine.close();
  }
});
