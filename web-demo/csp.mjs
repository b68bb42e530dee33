// What the page may do. No inline code or style, no eval (WebAssembly alone), nothing from or to another origin, nothing in frames. The
// page carries it in a meta tag, and its server sends it with everything, workers included: those take theirs from their own response.
export const CSP = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** What the server sends with every file. Frames cannot be forbidden in a meta tag. */
export const HEADERS = {
  "content-security-policy": `${CSP}; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
