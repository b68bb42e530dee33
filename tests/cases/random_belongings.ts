// What the runs of random programs belong to: an entity and a correlation, as a start has them.
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";

const keyword = (value: string) => {
  const payload = defaultPayloadConverter.toPayload(value);
  return {
    ...payload,
    metadata: { ...payload.metadata, type: new TextEncoder().encode("Keyword") },
  };
};

export const searchAttributes = {
  indexedFields: { WorkflowEntityId: keyword("42"), WorkflowCorrelationId: keyword("spell-1") },
};
