// The page's service worker: it keeps the page's own files, so that it opens without a network. It asks nobody but the page's own origin,
// and handles nothing but the files of this list; FILES and VERSION are written by the build (service_worker.mjs).
const FILES = "%FILES%";
const CACHE = "temporalex-%VERSION%";
const LISTED = new Set(FILES.all.map((file) => new URL(file, self.registration.scope).href));
const PAGE = self.registration.scope;
const FRAME = new URL("sandbox.html", PAGE).href;

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.first.map((file) => new URL(file, PAGE).href));
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("temporalex-") && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const url = request.url.replace(/[?#].*$/, "");
  // The names of files change with what is in them, but for the page's own: a newer one is taken where there is a network.
  if (url === PAGE || url.endsWith("/index.html")) event.respondWith(newest(request, url));
  else if (url === FRAME) event.respondWith(sandboxed(request, url));
  else if (LISTED.has(url)) event.respondWith(kept(request, url));
});

async function newest(request, url) {
  const cache = await caches.open(CACHE);
  const name = url === PAGE ? new URL("index.html", PAGE).href : url;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(name, response.clone());
    return response;
  } catch (error) {
    const known = await cache.match(name);
    if (known === undefined) throw error;
    return known;
  }
}

// The page asks for the frame here only where the server does not answer. Its policy makes its origin an opaque one, whatever headers the
// server has sent with it (csp.mjs, FRAME_HEADERS).
async function sandboxed(request, url) {
  const response = await kept(request, url);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "sandbox allow-scripts; frame-ancestors 'self'",
  };
  return new Response(response.body, { status: response.status, headers });
}

async function kept(request, url) {
  const cache = await caches.open(CACHE);
  const known = await cache.match(url);
  if (known !== undefined) return known;
  const response = await fetch(request);
  if (response.ok) await cache.put(url, response.clone());
  return response;
}
