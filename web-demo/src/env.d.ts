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
