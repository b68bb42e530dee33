// Messages of page and frame. The first message brings a port, which all later messages use.

/** The page's first message. It transfers the frame's port. */
export interface FrameStart {
  readonly t: "start";
  /** Text of the worker's script. */
  readonly script: string;
  /** The worker's half of the core. */
  readonly core: ArrayBuffer;
  /** A worker that sends more messages per second is terminated. */
  readonly messagesPerSecond: number;
  /** Whether the worker is for a codec and can use WebCrypto. */
  readonly hasCrypto?: boolean;
}

export type ToFrame =
  /** Starts a worker; its port is transferred. `isSpare`: its code comes later. */
  | { readonly t: "worker"; readonly id: number; readonly isSpare: boolean }
  | { readonly t: "end"; readonly id: number };

export type FromFrame =
  /** The frame's origin is opaque, and it is ready. */
  | { readonly t: "here" }
  | { readonly t: "refused"; readonly message: string }
  /** A worker failed or was terminated. */
  | { readonly t: "died"; readonly id: number; readonly reason: string }
  | { readonly t: "ended"; readonly id: number };
