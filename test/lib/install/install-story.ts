import type { Context, Func, Test } from "mocha";

/**
 * `it`, for a suite whose tests go on where the one before them ended: after one that failed the others fail at once.
 * mocha's bail would leave them out of the results, with all tests of later suites that bail.
 */
export function story(): (title: string, test: (this: Context) => void | PromiseLike<void>) => Test {
  let failed: string | undefined;
  return (title, test) => {
    async function step(this: Context): Promise<void> {
      if (failed !== undefined) throw new Error(`not run: "${failed}" failed`);
      failed = title; // also of a test that takes too long, of which nobody is told here
      try {
        await test.call(this);
      } catch (error) {
        if (this.test?.pending) failed = undefined;
        throw error;
      }
      failed = undefined;
    }
    return it(title, step as Func);
  };
}
