// The trace context in a header, as Temporal's SDKs encode it: `_tracer-data`, a JSON object with
// the fields that the propagator writes (W3C `traceparent` and `tracestate`). So a trace continues
// through workers and clients of other SDKs.
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
} from "@opentelemetry/api";
import { defaultPayloadConverter, type Payload } from "../converter/payload.ts";

/** Name of the header. */
export const TRACE_HEADER = "_tracer-data";

type Headers = { readonly [name: string]: Payload };

/**
 * Returns the context in the headers, on top of another one. Unreadable headers are ignored: a
 * trace is not worth a failure.
 */
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

/** Returns the headers with the context added; unchanged without a propagator. */
export function headersWith(context: Context, headers: Headers): Headers {
  const carrier: { [key: string]: string } = {};
  propagation.inject(context, carrier, defaultTextMapSetter);
  if (Object.keys(carrier).length === 0) return headers;
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}
