import { buildBundles } from "../../../hack/lib/bundle.ts";

let built: Promise<unknown> | undefined;

/**
 * Builds what roles run, once a lane: nobody changes the sources under it, and each build takes seconds of both
 * processors.
 */
export async function bundles(): Promise<void> {
  built ??= buildBundles();
  await built;
}
