import type { Connection } from "./connection.ts";

/** The answer to a question, kept for as long as the connection on which it was asked; a failure is not kept. */
export class OnceAConnection<T> {
  readonly #connection: Pick<Connection, "generation">;
  readonly #ask: () => Promise<T>;
  #kept: { readonly generation: number; readonly answer: Promise<T> } | undefined;

  constructor(connection: Pick<Connection, "generation">, ask: () => Promise<T>) {
    this.#connection = connection;
    this.#ask = ask;
  }

  /** To be called while there is a connection. */
  get(): Promise<T> {
    const { generation } = this.#connection;
    if (this.#kept?.generation === generation) return this.#kept.answer;
    const asked = { generation, answer: this.#ask() };
    this.#kept = asked;
    asked.answer.catch(() => {
      if (this.#kept === asked) this.#kept = undefined;
    });
    return asked.answer;
  }
}
