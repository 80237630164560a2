import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PodDriver } from "../../../../src/csi/server/pod-driver.ts";
import { driverSocket, registrationSocket } from "../../../../src/csi/server/socket-paths.ts";
import { systemClock, systemRandom, systemTimers, systemTurns } from "../../../../src/system.ts";
import { RememberingLog } from "../remembering-log.ts";
import { FakeKubelet } from "./fake-kubelet.ts";
import { FakePodVolumes } from "./fake-pod-volumes.ts";
import { kubeletDir } from "./requests.ts";

const rightObject = {
  spec: { attachRequired: false, podInfoOnMount: true, fsGroupPolicy: "None", volumeLifecycleModes: ["Ephemeral"] },
};

/** The driver for pods on real sockets, over volumes that a test answers for. */
export class DriverWorld {
  readonly directory = mkdtempSync(join(tmpdir(), "nodevolume-pods-"));
  readonly csiDir = join(this.directory, "plugins/nodevolume.dev");
  readonly registrationDir = join(this.directory, "plugins_registry");
  readonly endpoint = driverSocket(this.csiDir);
  readonly registration = registrationSocket(this.registrationDir);
  readonly kubelet = new FakeKubelet();
  readonly registrations: unknown[][] = [];
  readonly ended: string[] = [];
  log = new RememberingLog();
  volumes = new FakePodVolumes();
  object: { spec?: object } | undefined = rightObject;
  readonly #drivers: PodDriver[] = [];
  #told: () => void = () => {};

  constructor() {
    mkdirSync(this.registrationDir);
  }

  /** Starts another one, as an agent that is started again does. Resolves once kubelet can find it. */
  async start(): Promise<PodDriver> {
    this.volumes = new FakePodVolumes();
    const system = {
      clock: systemClock,
      timers: systemTimers,
      yielder: systemTurns,
      random: systemRandom,
      log: this.log,
    };
    const driver = new PodDriver({
      system,
      volumes: this.volumes,
      nodeName: "node-1",
      version: "1.2.3",
      kubeletDir,
      csiDir: this.csiDir,
      registrationDir: this.registrationDir,
      ready: () => true,
      read: async () => this.object,
      onCall: (rpc, code) => {
        this.ended.push(`${rpc} ${code}`);
        this.#told();
      },
      onRegistration: (...told) => this.registrations.push(told),
    }).start();
    this.#drivers.push(driver);
    await this.serves();
    return driver;
  }

  /** Resolves once the registration socket answers. */
  async serves(): Promise<void> {
    for (let info: unknown; info === undefined; ) {
      info = await this.kubelet.register(this.registration).catch(() => undefined);
    }
    this.registrations.length = 0;
  }

  /** Resolves when a call has ended so. */
  async callEnded(what: string): Promise<void> {
    while (!this.ended.includes(what)) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  end(): void {
    for (const driver of this.#drivers) driver.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
