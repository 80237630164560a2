import { resource } from "../../src/api/names.ts";
import { VolumeError } from "../../src/errors.ts";
import { type ApiRequest, TransportError } from "../../src/kube/client/transport.ts";
import type { SimApiServer } from "./api/sim-api-server.ts";
import type { Network, PlannedAnswer, RequestFault } from "./api/sim-transport.ts";
import type { CSIWorld } from "./csi/csi-world.ts";
import { disturbancesOf } from "./csi/disturbances.ts";
import { type DriverFault, someFault } from "./csi/faults.ts";
import type { RandomCrashes } from "./faults.ts";
import type { HostFault } from "./host/host-fault.ts";
import { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What a system call may come back with, whatever it is. */
const errnos = ["EIO", "ENOMEM", "ENOSPC", "EPERM", "EROFS", "EMFILE", "EINTR"] as const;

/** What the weather works on. */
export interface Exposed {
  readonly server: SimApiServer;
  readonly network: Network;
  readonly csi: CSIWorld;
  /** Programs that can be killed between two of their effects. */
  readonly processes: readonly { kill(): void }[];
}

/** How bad things are in a world, all from one seed: crashes, and a network, an API server and hosts that fail. */
export class Weather {
  readonly crashes: RandomCrashes;
  readonly #random: SeededRandom;
  /** Apart from the others: of most worlds nobody asks. */
  readonly #drivers: SeededRandom;
  /** Of all requests, and of all effects on a host, how many fail. */
  readonly #failing: { readonly requests: number; readonly host: number };
  readonly #driverFaults: number;
  readonly #untilMs: number;
  readonly #scheduler: Scheduler;
  readonly #skews = new Map<string, number>();

  constructor(seed: number, scheduler: Scheduler) {
    const random = new SeededRandom(seed, "weather");
    this.#random = random;
    this.#scheduler = scheduler;
    this.#failing = { requests: random.pick([0, 0.02, 0.1]), host: random.pick([0, 0, 0.02, 0.1]) };
    this.#untilMs = random.between(10_000, 120_000);
    this.#drivers = new SeededRandom(seed, "drivers");
    this.#driverFaults = this.#drivers.pick([0, 0.05, 0.25]);
    this.crashes = {
      random: new SeededRandom(seed, "crashes"),
      probability: random.pick([0.01, 0.03, 0.1]),
      most: random.below(5),
      reboots: random.pick([0, 0, 0.2]),
    };
  }

  /** What goes wrong with one request. */
  request({ query }: ApiRequest): RequestFault | undefined {
    const random = this.#random;
    if (this.#over || !random.chance(this.#failing.requests)) return undefined;
    return random.pick([
      () => "refused" as const,
      () => "lost" as const,
      () => (random.chance(0.3) ? "hung" : "refused"),
      () => ({ lateMs: random.between(100, 40_000) }),
      () => this.#answer(query?.["watch"] === "true"),
      () => this.#answer(query?.["watch"] === "true"),
    ])();
  }

  /** Of these only a failing server can have done what it was asked for, and only a watch can begin too far back. */
  #answer(isWatch: boolean): PlannedAnswer {
    const random = this.#random;
    const status = random.pick([429, 500, 503, ...(isWatch ? [410 as const] : [])] as const);
    const asksToWait = status === 429 && random.chance(0.5);
    return {
      status,
      carriedOut: status === 500 && random.chance(0.5),
      ...(asksToWait && { retryAfterSeconds: 1 + random.below(5) }),
    };
  }

  /** What goes wrong with one effect on a host. */
  host(): HostFault | undefined {
    if (this.#over || !this.#random.chance(this.#failing.host)) return undefined;
    if (this.#random.chance(0.5))
      return { happened: false, error: new Error(`${this.#random.pick(errnos)} (planned)`) };
    return { happened: true, error: new VolumeError("TimedOut", "uncertain", "no answer (planned)") };
  }

  /** What goes wrong with one call of a CSI driver. */
  driver(): DriverFault | undefined {
    if (this.#over || !this.#drivers.chance(this.#driverFaults)) return undefined;
    return someFault(this.#drivers);
  }

  attacherFails(): boolean {
    return !this.#over && this.#drivers.chance(this.#driverFaults);
  }

  /** Whether an event that a kernel tells of gets lost. */
  losesWake(): boolean {
    return !this.#over && this.#random.chance(0.2);
  }

  /** What goes wrong with one read of a mount table. */
  table(): Error | undefined {
    if (this.#over || !this.#random.chance(this.#failing.host)) return undefined;
    return new Error(`${this.#random.pick(errnos)} (planned)`);
  }

  /** Disturbs everything now and then. */
  begin(exposed: Exposed): void {
    const random = this.#random;
    this.#scheduler.after(random.between(500, 30_000), () => {
      if (this.#over) return;
      this.#disturb(exposed);
      this.begin(exposed);
    });
  }

  /** How far the clock of a machine, or of a controller's, is from ours. */
  skewMs(place: string): number {
    const known = this.#skews.get(place);
    if (known !== undefined) return known;
    const skew = this.#someSkew();
    this.#skews.set(place, skew);
    return skew;
  }

  /** Somebody sets a clock, or NTP steps it. */
  #setClock(): void {
    const places = [...this.#skews.keys()];
    if (places.length > 0) this.#skews.set(this.#random.pick(places), this.#someSkew());
  }

  #someSkew(): number {
    const most = this.#random.pick([0, 0, 2_000, 120_000, 7_200_000]);
    return Math.floor(this.#random.between(-most, most));
  }

  get #over(): boolean {
    return this.#scheduler.now > this.#untilMs;
  }

  #disturb({ server, network, csi, processes }: Exposed): void {
    const random = this.#random;
    const reset = { error: new TransportError("connection reset") };
    const disturbances = [
      ...disturbancesOf(csi, this.#drivers, (ms, action) => void this.#scheduler.after(ms, action)),
      () => server.breakWatches({}),
      () => server.breakWatches(reset),
      () => server.compact(),
      () => {
        network.silencedAt = this.#scheduler.now;
      },
      () => this.#setClock(),
      () => {
        network.down++;
        server.breakWatches(reset);
        this.#scheduler.after(random.between(1_000, 40_000), () => {
          network.down--;
        });
      },
      () => {
        network.lagMs = random.between(10, 5_000);
        server.breakWatches({});
        this.#scheduler.after(random.between(1_000, 40_000), () => {
          network.lagMs = 0;
          server.breakWatches({});
        });
      },
      () => touch(server, random),
      () => random.pick(processes).kill(),
    ];
    random.pick(disturbances)();
  }
}

/** Somebody writes to an object, so that whoever read it before gets a conflict. */
function touch(server: SimApiServer, random: SeededRandom): void {
  const of = random.pick([resource.intents, resource.sets, resource.states]);
  const objects = server.list(of);
  if (objects.length === 0) return;
  const annotations = { "example.com/touched": `${random.below(1_000_000)}` };
  server.patch(of, random.pick(objects).metadata.name, { metadata: { annotations } });
}
