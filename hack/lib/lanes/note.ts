import type { Runnable, Suite } from "mocha";

const notes = new WeakMap<Runnable | Suite, object>();

/** Adds to the result of a test what it was made with; as JSON. */
export function noteOn(context: Mocha.Context, note: object): void {
  if (context.test !== undefined) notes.set(context.test, note);
}

/** As a part of a line of results. */
export function noteOf(test: Runnable): { readonly note?: object } {
  const note = notes.get(test);
  return note === undefined ? {} : { note };
}
