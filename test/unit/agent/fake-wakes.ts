import type { WakeupListener, Wakeups, WatchedPath, WatchedProcess } from "../../../src/host/ports/wakeups.ts";
import type { Cancel } from "../../../src/ports.ts";

/** Wake sources that tell what the test says. Keeps what is listened to, by a name for each source. */
export class FakeWakes implements Wakeups {
  readonly listeners = new Map<string, WakeupListener>();
  /** How often something was begun to be listened to. */
  begun = 0;

  path = ({ root, path, links, written }: WatchedPath, listener: WakeupListener): Cancel =>
    this.#listen(`path ${root} ${path} ${links}${written === true ? " written" : ""}`, listener);
  process = ({ pid }: WatchedProcess, listener: WakeupListener): Cancel => this.#listen(`process ${pid}`, listener);
  devices = (listener: WakeupListener): Cancel => this.#listen("devices", listener);
  room = (listener: WakeupListener): Cancel => this.#listen("room", listener);

  get heard(): string[] {
    return [...this.listeners.keys()];
  }

  /** The event of the one source that is listened to, or of the one with this name. */
  wake(name = this.heard[0] ?? ""): void {
    const listener = this.listeners.get(name);
    if (listener === undefined) throw new Error(`nobody listens to ${name}`);
    listener.woken();
  }

  #listen(name: string, listener: WakeupListener): Cancel {
    if (this.listeners.has(name)) throw new Error(`${name} is listened to twice`);
    this.begun++;
    this.listeners.set(name, listener);
    return () => this.listeners.delete(name);
  }
}
