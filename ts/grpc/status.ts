// Converts the trailers of a gRPC call to an error.
import { Code, ServiceError } from "../service/raw.ts";
import { type NamedRefusal, readStatus } from "../api/error_details.ts";

/** Trailers of HTTP/2: names are lower case. */
export type Trailers = { readonly [name: string]: string | string[] | undefined };

const one = (value: string | string[] | undefined) => Array.isArray(value) ? value[0] : value;

/** Returns the error in trailers; undefined for status 0. */
export function refusal(method: string, trailers: Trailers): ServiceError | undefined {
  const said = one(trailers["grpc-status"]) ?? "";
  const status = /^\d+$/.test(said) ? Number(said) : NaN;
  if (status === 0) return undefined;
  const text = unescaped(one(trailers["grpc-message"]) ?? "");
  const message = text === "" ? `${method} failed` : text;
  // Not canceled here: the server, or a proxy, is shutting down. The outcome is unknown.
  if (status === Code.CANCELLED) {
    return new ServiceError(
      Code.UNAVAILABLE,
      `${method} was canceled before it reached the server: ${message}`,
    );
  }
  const code =
    (Number.isInteger(status) && status > 0 && status <= 16 ? status : Code.UNKNOWN) as Code;
  const detail = namedDetail(one(trailers["grpc-status-details-bin"]));
  const operations = detail?.operations?.map(({ code, message, detail }) =>
    code === 0
      ? undefined
      : new ServiceError(code as Code, message, detail?.reason ?? "", detail?.metadata ?? {})
  );
  return new ServiceError(code, message, detail?.reason ?? "", detail?.metadata ?? {}, {
    failure: detail?.failure,
    operations,
  });
}

/**
 * Converts an HTTP response without gRPC, from a proxy or another server. The mapping is gRPC's,
 * but proxy errors (500, 52x, timeouts) are UNAVAILABLE: the outcome is unknown, and a retry is
 * right.
 */
export function httpRefusal(
  method: string,
  status: number,
  contentType: string,
  address: string,
): ServiceError {
  const codes: { readonly [status: number]: Code } = {
    400: Code.INTERNAL,
    401: Code.UNAUTHENTICATED,
    403: Code.PERMISSION_DENIED,
    404: Code.UNIMPLEMENTED,
    408: Code.UNAVAILABLE,
    429: Code.UNAVAILABLE,
    501: Code.UNIMPLEMENTED,
  };
  const type = contentType === "" ? "" : ` (${contentType})`;
  return new ServiceError(
    codes[status] ?? (status >= 500 && status < 600 ? Code.UNAVAILABLE : Code.UNKNOWN),
    `${method} returned HTTP status ${status}${type} without a gRPC status; check that ${address} is the gRPC address of a Temporal cluster`,
  );
}

/** Decodes gRPC's percent-encoding; keeps what does not decode. */
function unescaped(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, "%25"));
  } catch {
    return text;
  }
}

/**
 * Returns the details (a google.rpc.Status); undefined if damaged, because code and message are
 * still valid.
 */
function namedDetail(base64: string | undefined): NamedRefusal | undefined {
  if (base64 === undefined) return undefined;
  try {
    return readStatus(new Uint8Array(Buffer.from(base64, "base64"))).detail;
  } catch {
    return undefined;
  }
}
