import { canonicalJson } from "../util/canonical-json.ts";
import { digest } from "../util/digest.ts";

/** Equal for equal indexes, and "" for none: all that the controller keeps of an index. */
export function indexDigest(spec: unknown): string {
  return spec === undefined ? "" : digest(canonicalJson(spec));
}
