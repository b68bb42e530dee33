// The trace context in a header, as Temporal's SDKs have it: `_tracer-data`, a JSON object with the fields that the propagator writes
// (`traceparent` and `tracestate` of W3C's). So a trace goes on through workers and clients of other SDKs, and comes back.
import { type Context, defaultTextMapGetter, defaultTextMapSetter, propagation } from "@opentelemetry/api";
import { defaultPayloadConverter, type Payload } from "../converter/payload.ts";

/** Name of the header. */
export const TRACE_HEADER = "_tracer-data";

type Headers = { readonly [name: string]: Payload };

/** The context that headers bring, on top of another one. Headers that cannot be read bring none: a trace is not worth a failure. */
export function contextOf(headers: Headers, on: Context): Context {
  const payload = Object.hasOwn(headers, TRACE_HEADER) ? headers[TRACE_HEADER] : undefined;
  if (payload === undefined) return on;
  let carrier: unknown;
  try {
    carrier = defaultPayloadConverter.fromPayload(payload);
  } catch {
    return on;
  }
  if (typeof carrier !== "object" || carrier === null) return on;
  return propagation.extract(on, carrier as { [key: string]: string }, defaultTextMapGetter);
}

/** The headers with the context in them; as they are where no propagator is set up. */
export function headersWith(context: Context, headers: Headers): Headers {
  const carrier: { [key: string]: string } = {};
  propagation.inject(context, carrier, defaultTextMapSetter);
  if (Object.keys(carrier).length === 0) return headers;
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}
