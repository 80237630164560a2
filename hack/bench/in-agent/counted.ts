import type { LinuxHost } from "../../../src/host/linux/linux-host.ts";

/** How often something happened since it was taken last, by name. */
export class Counts {
  #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  take(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}

/** Counts what is asked of a host, in place. Each write of the journal waits for the disk once. */
export function count({ journal, mountTable, evidence }: LinuxHost, counts: Counts): void {
  const append = journal.append.bind(journal);
  journal.append = (text) => {
    counts.add("writes of the journal, each one wait for the disk");
    counts.add("entries of the journal", text.split("\n").length - 1);
    return append(text);
  };
  const replace = journal.replace.bind(journal);
  journal.replace = (text) => {
    counts.add("journals written anew");
    return replace(text);
  };
  const read = mountTable.read.bind(mountTable);
  mountTable.read = () => {
    counts.add("reads of the kept mount table");
    return read();
  };
  const ask = <Q, A>(question: (of: Q) => Promise<A>) => {
    return (of: Q) => {
      counts.add("questions to all mount namespaces of the node");
      return question(of);
    };
  };
  Object.assign(evidence, { holders: ask(evidence.holders), mountedOn: ask(evidence.mountedOn) });
}
