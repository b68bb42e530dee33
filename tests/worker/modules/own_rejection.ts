// A program that leaves a rejected promise of its own, with as many copies of this package listening as it is told.
const copies = Number(process.argv[2]);
const module = new URL(`../../../ts/platform/rejections.${import.meta.url.endsWith(".js") ? "js" : "ts"}`, import.meta.url);
for (let copy = 0; copy < copies; copy++) {
  const { captureRejections } = await import(
    `${module.href}?copy=${copy}`
  ) as typeof import("../../../ts/platform/rejections.ts");
  captureRejections({ ownThread: false }).listen({ unhandled: () => false, handled() {} });
}
void Promise.reject(new Error("of the program"));
await new Promise((resolve) => setTimeout(resolve, 50));
console.log("went on");
