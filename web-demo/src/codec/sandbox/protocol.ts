// Messages between the page and the worker of a pasted codec.
import type { Payload } from "temporalex";

export type ToCodec =
  | { readonly t: "load"; readonly text: string }
  | { readonly t: "decode"; readonly id: number; readonly payloads: readonly Payload[] };

export type FromCodec =
  | { readonly t: "loaded" }
  | { readonly t: "refused"; readonly message: string }
  | { readonly t: "decoded"; readonly id: number; readonly payloads: Payload[] }
  /** `message`: name and message of the error. */
  | { readonly t: "failed"; readonly id: number; readonly message: string };
