import { VolumeError } from "../../../../src/errors.ts";
import { type ISCSI, type ISCSILogin, type ISCSISession, portalText } from "../../../../src/host/ports/iscsi.ts";
import type { MultipathMap, Scsi, ScsiDisk } from "../../../../src/host/ports/scsi.ts";

/** A fake: a node whose iSCSI initiator and SCSI disks are in memory. It keeps a log of what it was told. */
export class FakeISCSINode {
  sessions: ISCSISession[] = [];
  disks: ScsiDisk[] = [];
  multipathd = false;
  /** What targets have: a LUN that is scanned for appears if it is here. */
  luns = [1, 2];
  readonly log: string[] = [];
  readonly logins: ISCSILogin[] = [];
  /** Disks that somebody has, by name. */
  used: string[] = [];
  /** Portals that refuse a login, with the error. */
  readonly refusing = new Map<string, VolumeError>();
  #next = 1;

  session(more: Partial<ISCSISession> = {}): ISCSISession {
    const number = this.#next++;
    const base = { number, host: number + 10, iqn: "iqn.2024-01.example:a", interface: "default", state: "LOGGED_IN" };
    const session = { ...base, portal: { address: "10.0.0.1", port: 3260 }, ...more };
    this.sessions.push(session);
    return session;
  }

  disk({ host }: Pick<ISCSISession, "host">, lun: number, more: Partial<ScsiDisk> = {}): ScsiDisk {
    const address = { host, channel: 0, target: 0, lun };
    const names = { name: `sd${String.fromCharCode(97 + this.disks.length)}`, wwid: `naa.6000${lun}` };
    const device = { deviceNumber: `8:${this.disks.length * 16}`, sizeBytes: 1 << 26, state: "running", told: true };
    const disk = { ...names, ...device, address, names: [], ids: [], ...more };
    this.disks.push(disk);
    return disk;
  }

  map(device: string, ...disks: readonly ScsiDisk[]): void {
    const paths = disks.map(({ name }) => name);
    const map: MultipathMap = { name: "mpatha", device, deviceNumber: "254:0", sizeBytes: 1 << 26, paths };
    this.disks = this.disks.map((disk) => (disks.includes(disk) ? { ...disk, map } : disk));
  }

  readonly iscsi: ISCSI = {
    exclusively: (_iqn, act) => act(),
    sessions: async () => this.sessions,
    login: async (login) => {
      this.log.push(`login ${portalText(login.portal)}`);
      this.logins.push(login);
      const refused = this.refusing.get(portalText(login.portal));
      if (refused !== undefined) throw refused;
      this.session({ iqn: login.iqn, portal: login.portal, interface: login.interface.name });
    },
    logout: async ({ number, host }) => {
      this.log.push(`logout ${number}`);
      this.sessions = this.sessions.filter((session) => session.number !== number);
      this.disks = this.disks.filter(({ address }) => address.host !== host);
    },
    found: (look) => look(),
  };

  readonly scsi: Scsi = {
    look: async () => ({ disks: this.disks, ports: [], hosts: [], multipathd: this.multipathd }),
    scan: async ({ host, lun = -1 }) => {
      this.log.push(`scan ${host} ${lun}`);
      if (this.luns.includes(lun)) this.disk({ host }, lun);
    },
    rescan: async ({ name }) => void this.log.push(`rescan ${name}`),
    remove: async ({ name }) => {
      this.log.push(`remove ${name}`);
      this.disks = this.disks.filter((disk) => disk.name !== name);
    },
    refuseUsed: async ({ name }) => {
      this.log.push(`ask of ${name}`);
      if (this.used.includes(name)) throw new VolumeError("DeviceBusy", "transient", `${name} is used`);
    },
    offer: async ({ name }) => void this.log.push(`offer ${name}`),
    flushMap: async ({ name }) => void this.log.push(`flush ${name}`),
    growMap: async ({ name }) => void this.log.push(`grow ${name}`),
  };
}
