import { GlusterServer, glusterAddress, nobodysAddress } from "../lib/servers/gluster.ts";
import { type Case, isEmptyOrToken } from "./case.ts";
import { versionOf } from "./parts.ts";

let volumes = 0;
let server: GlusterServer;

const open = async (context: Mocha.Context) => {
  server = await GlusterServer.start(context);
  return server;
};

/** A glusterd with a brick, and Debian's client. */
export const glusterfsCases: readonly Case[] = [
  {
    title: "glusterfs",
    open,
    source() {
      const name = `contract-${++volumes}`;
      server.volume(name);
      return { glusterfs: { servers: [glusterAddress, nobodysAddress], path: name } };
    },
    spec: { mountOptions: ["entry-timeout=0", "negative-timeout=0"] },
    shows: isEmptyOrToken,
    keepsData: true,
    cutOffs: "some",
    parts: () => ({ client: versionOf("glusterfs", "--version"), server: versionOf("glusterd", "--version") }),
    table: { fsType: "fuse.glusterfs", source: /^10\.7\.7\.7:\/contract-/ },
  },
];
