// Types of imports that Vite resolves.
declare module "*?url" {
  const url: string;
  export default url;
}
declare module "*?raw" {
  const text: string;
  export default text;
}
declare module "*.css";
// The address of the sandbox worker's script (tools/sandbox.mjs).
declare module "virtual:sandbox" {
  const url: string;
  export default url;
  /** The address of sandbox.html, with a version. */
  export const frameUrl: string;
  /** The address of the script that runs a pasted codec. */
  export const codecScriptUrl: string;
}
// Samples that a spare worker replays, in base64 (tools/sandbox.mjs).
declare module "virtual:rehearsal" {
  const histories: readonly string[];
  export default histories;
}
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}
