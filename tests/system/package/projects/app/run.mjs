// One run from start to end, by name, so that every runtime and module system can share it. Prints
// one line of JSON.
export async function runCart({ open, silentLogger }, options, keepHistory) {
  const app = await open({ logger: silentLogger, ...options });
  try {
    const handle = await app.client.start("Cart", { id: `cart-${Date.now()}`, args: ["ada"] });
    const counts = [
      await handle.executeUpdate("add_item", { args: ["tea"] }),
      await handle.executeUpdate("add_item", { args: ["milk"] }),
    ];
    const status = await handle.query("status");
    await handle.signal("checkout");
    const result = await handle.result();
    const { events } = await handle.fetchHistory();
    await keepHistory?.(await handle.historyJson());
    return { counts, status, result, events: events.length };
  } finally {
    await app.close();
  }
}
