// What page and codec frame say to each other.

/** The page's first message, with the frame's port. The frame answers with id 0 once it is ready. */
export interface CodecStart {
  /** Address that payloads are posted to, "/decode" included. */
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
  /** Nothing was answered: no such server, or one that does not allow this page's origin. */
  | { readonly id: number; readonly error: string };
