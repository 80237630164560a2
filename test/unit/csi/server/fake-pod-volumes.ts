import type { PodPublish, PodTarget, PodVolumes } from "../../../../src/csi/server/ports.ts";

/** One call that a test answers. */
export interface HeldPodCall {
  readonly kind: "publish" | "unpublish";
  readonly target: PodTarget;
  readonly signal: AbortSignal;
  done(): void;
  fail(error: unknown): void;
}

/** A fake: binds nothing, and keeps each call until the test answers it. */
export class FakePodVolumes implements PodVolumes {
  readonly calls: HeldPodCall[] = [];
  #told: () => void = () => {};

  publish(request: PodPublish, signal: AbortSignal): Promise<void> {
    return this.#hold("publish", request, signal);
  }

  unpublish(target: PodTarget, signal: AbortSignal): Promise<void> {
    return this.#hold("unpublish", target, signal);
  }

  /** Resolves with the call of that number, from 0, which may not have come yet. */
  async call(number: number): Promise<HeldPodCall> {
    for (;;) {
      const found = this.calls[number];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  #hold(kind: HeldPodCall["kind"], target: PodTarget, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.calls.push({ kind, target, signal, done: resolve, fail: reject });
      this.#told();
    });
  }
}
