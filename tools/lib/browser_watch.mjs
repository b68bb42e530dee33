// Notices a browser that has ended and a page that has crashed. Calls of playwright-core that wait
// for them reject, but not in every state, and a test that waits for something else would wait
// until its limit.
import process from "node:process";

/**
 * A program that has not ended by then waits for the lost browser. Calls that reject have failed
 * its tests before.
 */
const LOST_GRACE_MS = 10_000;

/**
 * Calls `onLost` once with an Error if the browser ends before its `close` is called, or if a page
 * of it crashes. By default the error is printed, and the process ends with code 1 unless it ends
 * earlier by itself.
 */
export function watchBrowser(browser, source, onLost = endProcess) {
  let isWatched = true;
  const lose = (reason) => {
    if (!isWatched) return;
    isWatched = false;
    onLost(new Error(`browser lost (${source}): ${reason}`));
  };
  const watchPage = (page) => page.on("crash", () => lose(`the page ${page.url()} crashed`));
  const watchContext = (context) => context.on("page", watchPage);
  browser.contexts().forEach(watchContext);
  browser.on("context", watchContext);
  browser.on("disconnected", () => lose("its process ended, or its connection was closed"));
  const close = browser.close.bind(browser);
  browser.close = async (...args) => {
    isWatched = false;
    await close(...args);
  };
}

/** Ends this process with code 1 after a grace period, for a lost browser. */
export function endProcess(error) {
  console.error(error.message);
  setTimeout(() => {
    console.error(`this process did not end within ${LOST_GRACE_MS / 1000} s after that`);
    process.exit(1);
  }, LOST_GRACE_MS).unref();
}

/**
 * Resolves or rejects as `promise` does, or rejects after `timeoutMs` with an Error that names
 * `what`.
 */
export async function withinTime(timeoutMs, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} did not end within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
