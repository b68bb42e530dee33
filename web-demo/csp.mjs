// The page's content security policy: no inline code or style, no eval (only WebAssembly), nothing
// from or to another origin; its only frame is sandbox.html in the same folder. The page has it in a
// meta tag, and its server sends it with every file, because workers take the policy of their
// response.
export const CSP = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * What the frame may do in which dropped code runs, and its workers, which inherit it: evaluate
 * what it is given, and nothing else. `hash`: SHA-256 of the frame's script, base64.
 */
export const frameCsp = (hash) =>
  [
    "default-src 'none'",
    `script-src 'sha256-${hash}' 'unsafe-eval' 'wasm-unsafe-eval'`,
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

/**
 * What the frame may do that asks a codec endpoint: run its own script and connect. It is made when
 * the user has named an endpoint and pressed, and its script narrows the policy to that endpoint
 * before it asks anything. No code of others runs in it.
 */
export const codecCsp = (hash) =>
  [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "connect-src http: https:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const COMMON = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * What the server sends with every file but sandbox.html. Frames cannot be forbidden in a meta tag.
 */
export const HEADERS = { ...COMMON, "content-security-policy": `${CSP}; frame-ancestors 'none'` };

/**
 * What it sends with sandbox.html, whose meta tag has the rest of its policy: it is sandboxed also
 * where it is opened by itself.
 */
export const FRAME_HEADERS = {
  ...COMMON,
  "content-security-policy": "sandbox allow-scripts; frame-ancestors 'self'",
};

/** What it sends with codec.html, whose meta tag has the rest of its policy. */
export const CODEC_HEADERS = { ...COMMON, "content-security-policy": "frame-ancestors 'self'" };

/** The headers for a file of the page. */
export const headersOf = (path) =>
  path.endsWith("/sandbox.html")
    ? FRAME_HEADERS
    : path.endsWith("/codec.html")
    ? CODEC_HEADERS
    : HEADERS;
