export declare function label(text: string): string;
