// A program with an unhandled rejection, while the given number of copies of this package listen.
const copies = Number(process.argv[2]);
const module = new URL(
  `../../../../ts/platform/rejections.${import.meta.url.endsWith(".js") ? "js" : "ts"}`,
  import.meta.url,
);
for (let copy = 0; copy < copies; copy++) {
  const { captureRejections } = await import(
    `${module.href}?copy=${copy}`
  ) as typeof import("../../../../ts/platform/rejections.ts");
  captureRejections({ ownThread: false }).listen({ unhandled: () => false, handled() {} });
}
void Promise.reject(new Error("of the program"));
await new Promise((resolve) => setTimeout(resolve, 50));
console.log("continued");
