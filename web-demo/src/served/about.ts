// Whether this page is served by `temporalex debug` or `temporalex ui`: their server says so in the page's head.

/** What the server says of itself. */
export type Served =
  | {
    readonly by: "debug";
    readonly histories: readonly { readonly name: string; readonly open: boolean }[];
    /** There is code, which comes by the feed. */
    readonly code: boolean;
    /** The codec endpoint of the command line, to which the server passes payloads on. */
    readonly codecEndpoint?: string;
    /** Runs that a history names can be fetched: they are of a store or a cluster. */
    readonly linked?: boolean;
  }
  | {
    readonly by: "ui";
    readonly where: string;
    readonly namespace: string;
    readonly readOnly: boolean;
    /** Code comes by the feed, and opened runs are replayed against it. */
    readonly code?: boolean;
  };

/** Undefined: this page lies on a server that knows nothing of it. */
export const served: Served | undefined = read();

function read(): Served | undefined {
  const text = document.querySelector('meta[name="temporalex-served"]')?.getAttribute("content");
  return text === null || text === undefined ? undefined : JSON.parse(text) as Served;
}

/** An address of the server's data. The page lies below the server's token, so no address names it. */
export const dataAddress = (path: string): URL => new URL(`data/${path}`, document.baseURI);
