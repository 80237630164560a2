import { type ContentRef, contentKey, type ObjectContent } from "../../plugins/api/content.ts";
import type { ContentState } from "../model/plan-input.ts";
import type { ContentsDeps, FollowedContent } from "./followed-content.ts";
import { problemsOf } from "./problems.ts";
import { TokenContent } from "./token-content.ts";
import { WatchedContent } from "./watched-content.ts";

/** What is shown on this node, each followed on its own: the agent may read nothing else. Held in memory only. */
export class ContentSource {
  readonly #deps: ContentsDeps;
  readonly #followed = new Map<string, FollowedContent>();

  constructor(deps: ContentsDeps) {
    this.#deps = deps;
  }

  /** Follows exactly these from now on. */
  follow(refs: readonly ContentRef[]): void {
    const wanted = new Map(refs.map((ref) => [contentKey(ref), ref]));
    for (const [key, followed] of this.#followed) {
      if (wanted.has(key)) continue;
      followed.stop();
      this.#followed.delete(key);
    }
    for (const [key, ref] of wanted) {
      if (this.#followed.has(key)) continue;
      const followed =
        ref.kind === "ServiceAccount" ? new TokenContent(ref, this.#deps) : new WatchedContent(ref, this.#deps);
      this.#followed.set(key, followed);
    }
  }

  state(ref: ContentRef): ContentState {
    const followed = this.#followed.get(contentKey(ref));
    return followed?.state(isOptional(ref)) ?? { known: false, problem: problemsOf(ref).unknown };
  }

  /** @returns undefined if the content is not known */
  get(ref: ContentRef): ObjectContent | undefined {
    return this.#followed.get(contentKey(ref))?.get(isOptional(ref));
  }

  stop(): void {
    this.follow([]);
  }
}

function isOptional(ref: ContentRef): boolean {
  return "optional" in ref && ref.optional;
}
