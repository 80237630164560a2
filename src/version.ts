/** Version of the program; a test compares it with package.json. */
export const version = "0.1.0";

/** Put in when this is bundled (hack/lib/revision.ts). */
declare const builtRevision: string | undefined;

/** The commit that this was built from, `-dirty` if files differed; "unknown" without git, or run from its sources. */
export const revision = typeof builtRevision === "undefined" ? "unknown" : builtRevision;
