import { fileURLToPath } from "node:url";

/** The top folder of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
