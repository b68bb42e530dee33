// What page and frame say to each other. The first message brings a port, and everything after it goes by ports.

/** The page's first message, with the frame's port. */
export interface FrameStart {
  readonly t: "start";
  /** Text of the worker's script. */
  readonly script: string;
  /** The worker's half of the core. */
  readonly core: ArrayBuffer;
  /** A worker that sends more messages than this within a second is ended. */
  readonly messagesPerSecond: number;
  /** The worker is a codec's, and may ask for WebCrypto. */
  readonly hasCrypto?: boolean;
}

export type ToFrame =
  /** A new worker; its port comes with the message. `isSpare`: it has time until its code comes. */
  | { readonly t: "worker"; readonly id: number; readonly isSpare: boolean }
  | { readonly t: "end"; readonly id: number };

export type FromFrame =
  /** The frame's origin is opaque, and it takes orders. */
  | { readonly t: "here" }
  | { readonly t: "refused"; readonly message: string }
  /** A worker has died, or was ended. */
  | { readonly t: "died"; readonly id: number; readonly reason: string }
  | { readonly t: "ended"; readonly id: number };
