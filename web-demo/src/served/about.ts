// Whether this page is served by `temporalex debug` or `temporalex ui`: the server adds a meta tag
// to the page.

/** Content of the meta tag. */
export type Served =
  | {
    readonly by: "debug";
    readonly histories: readonly { readonly name: string; readonly open: boolean }[];
    /** Whether the server has code, which it sends in the feed. */
    readonly code: boolean;
    /** The codec endpoint of the command line. The server forwards payloads to it. */
    readonly codecEndpoint?: string;
    /** Whether linked runs can be fetched: the histories come from a store or a cluster. */
    readonly linked?: boolean;
  }
  | {
    readonly by: "ui";
    readonly where: string;
    readonly namespace: string;
    readonly readOnly: boolean;
    /** The namespaces that the page may show; undefined: only `namespace`. */
    readonly namespaces?: readonly string[];
    /** Whether the server has code, against which opened runs are replayed. */
    readonly code?: boolean;
  };

/** Undefined if another server serves this page. */
export const served: Served | undefined = read();

function read(): Served | undefined {
  const text = document.querySelector('meta[name="temporalex-served"]')?.getAttribute("content");
  return text === null || text === undefined ? undefined : JSON.parse(text) as Served;
}

/**
 * An address of the server's data, relative to the page, whose path contains the server's token.
 */
export const dataAddress = (path: string): URL => new URL(`data/${path}`, document.baseURI);
