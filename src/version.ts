/** Version of the program; a test compares it with package.json. */
export const version = "0.1.0";

/** Put in when this is bundled (hack/lib/revision.ts). */
declare const builtRevision: string | undefined;

/**
 * The commit that this was built from, with `-dirty` behind if files differed from it. "unknown": it was built without
 * git, or runs from its sources.
 */
export const revision = typeof builtRevision === "undefined" ? "unknown" : builtRevision;
