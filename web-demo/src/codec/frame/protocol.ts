// Messages between the page and the codec frame.
/**
 * The first message, with the port for all others. The frame responds with id 0 when it is ready.
 */
export interface CodecStart {
  /** URL for POST requests, with "/decode". */
  readonly endpoint: string;
  readonly headers: { readonly [name: string]: string };
}

export interface CodecAsk {
  /** From 1. */
  readonly id: number;
  /** JSON. */
  readonly body: string;
}

export type FromCodecFrame =
  | { readonly id: number; readonly status: number; readonly text: string }
  /** No response: no such server, or its CORS headers do not allow the origin of this page. */
  | { readonly id: number; readonly error: string };
