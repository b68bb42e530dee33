// Ports for servers that a test starts on a fixed port, to stop and restart them or to pass the
// port to another process first.
import { createServer } from "node:net";

/**
 * A loopback port without a listener that no other connection takes by chance. Systems assign ports
 * from 32768 (Linux) or 49152 (others) to outgoing connections and to servers that ask for any
 * port. A port of that range that was released may belong to another process a moment later or
 * after a restart. Browsers block no port from 20000 on.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
  throw new Error("no free port from 20000 to 31999");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) =>
      server.once("error", reject).listen(port, "127.0.0.1", resolve)
    );
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
