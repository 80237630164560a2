import type { Cancel, System } from "../../ports.ts";
import type { Overview } from "./overview.ts";

/** The overview as it is sent. */
export interface Edition {
  /** Differs if, and only if, the text does. */
  readonly tag: string;
  readonly text: string;
}

/** The overview as it is now, and who wants to hear when there is another one. */
export interface Feed {
  /** Not older than a second, or than the last one took ten times over. */
  overview(): Promise<Edition>;
  /**
   * `onEdition` is called with the tag of each edition that differs from the one before; undefined: there are followers
   * enough.
   */
  follow(onEdition: (tag: string) => void): Cancel | undefined;
}

/** Dependencies of keeping the page's overview current. */
export interface FeedDeps {
  readonly system: Pick<System, "clock" | "timers" | "yielder" | "log">;
  readonly digest: (text: string) => string;
  readonly make: () => Generator<void, Overview>;
}

/** What comes together is one edition, and a second is soon enough for a person. */
const pauseMs = 1_000;
const gatherMs = 100;
/** Of the time that passes, one part in so many goes into editions at most. */
const share = 10;
/** Browsers that may follow the overview at once; the next one is refused. */
const mostFollowers = 32;

/** Makes the overview when something has changed and somebody reads it, and sends its tag to those who follow. */
export function createFeed({ system, digest, make }: FeedDeps) {
  const { clock, timers, yielder, log } = system;
  const followers = new Set<(tag: string) => void>();
  let edition: Edition | undefined;
  /** Something has changed since the last edition was begun. */
  let dirty = true;
  let begunAt = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  let underWay: Promise<Edition> | undefined;
  let timer: Cancel | undefined;
  let stopped = false;

  /** Milliseconds until the next edition may be begun. */
  const wait = () => begunAt + Math.max(pauseMs, tookMs * share) - clock.monotonic();

  async function print(): Promise<Edition> {
    dirty = false;
    begunAt = clock.monotonic();
    const steps = make();
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) if (yielder.over()) await yielder.next();
    const text = JSON.stringify(step.value);
    const tag = digest(text).slice(0, 16);
    tookMs = clock.monotonic() - begunAt;
    if (edition?.tag === tag) return edition;
    edition = { tag, text };
    for (const tell of [...followers]) tell(tag);
    return edition;
  }

  function printed(): Promise<Edition> {
    underWay ??= print()
      .catch((error: unknown) => {
        dirty = true;
        throw error;
      })
      .finally(() => {
        underWay = undefined;
        plan();
      });
    return underWay;
  }

  /** Only while somebody follows: a page that nobody looks at costs nothing. */
  function plan(): void {
    if (!dirty || stopped || followers.size === 0 || timer !== undefined || underWay !== undefined) return;
    timer = timers.after(Math.max(gatherMs, wait()), () => {
      timer = undefined;
      printed().catch((error: unknown) => log.error("the page's overview could not be made", { error }));
    });
  }

  return {
    async overview() {
      if (underWay !== undefined) return underWay;
      if (edition !== undefined && (!dirty || wait() > 0)) return edition;
      return printed();
    },
    follow(onEdition: (tag: string) => void) {
      if (followers.size >= mostFollowers) return undefined;
      followers.add(onEdition);
      plan();
      return () => followers.delete(onEdition);
    },
    changed() {
      dirty = true;
      plan();
    },
    stop() {
      stopped = true;
      timer?.();
      followers.clear();
    },
  } satisfies Feed & { changed(): void; stop(): void };
}
