// What Vite makes of imports that are no modules.
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
  /** Of sandbox.html, with the version of what is in it. */
  export const frameUrl: string;
  /** Of the script in which a pasted codec runs. */
  export const codecScriptUrl: string;
}
// The samples that a spare worker replays, as bytes in base64 (tools/sandbox.mjs).
declare module "virtual:rehearsal" {
  const histories: readonly string[];
  export default histories;
}
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}
