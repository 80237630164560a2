import { expect } from "chai";
import { loadAll } from "js-yaml";
import { parseSet } from "../../../../src/api/validate.ts";
import { exported } from "../../../../src/cli/export/export.ts";
import { parseMounts } from "../../../../src/cli/export/parse-mounts.ts";
import { readGolden, writeGolden, writeVariable } from "../golden.ts";

const fstab = `# /etc/fstab
UUID=1234-abcd / ext4 errors=remount-ro 0 1
/dev/sdb1 /data ext4 defaults,noatime,commit=30 0 2
LABEL=scratch /scratch xfs defaults,nofail,x-systemd.device-timeout=5 0 0
nas:/export/home /home nfs4 rw,hard,rsize=1048576,bg,_netdev 0 0
[fd00::1]:/x /mnt/x nfs ro,vers=3,nolock 0 0
tmpfs /mnt/fast tmpfs size=512m,mode=1777 0 0
tmpfs /mnt/part tmpfs size=10% 0 0
/data/shared /srv/shared none bind,ro 0 0
//win/share /mnt/win cifs credentials=/etc/cred 0 0
//nas/team/a\\040b /mnt/guest smb3 guest,vers=3.1.1,nosuid 0 0
//nas/secret /mnt/secret cifs username=u,password=canary,domain=d,uid=1000 0 0
g1:/vol /mnt/vol glusterfs defaults,_netdev,backup-volfile-servers=g2:g3,log-level=WARNING,direct-io-mode=enable 0 0
g1,g2:vol/dir /mnt/dir glusterfs ro 0 0
/dev/sdc2 none swap sw 0 0
broken line
/with\\040space /mnt/with\\040space none rbind,noauto 0 0
/dev/disk/by-id/x /mnt/x_ ext4 defaults 0 0
`;
const mountinfo = `21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw,nosuid - proc proc rw
30 21 8:17 / /data rw,noatime shared:2 - ext4 /dev/sdb1 rw,commit=30
31 21 8:17 /shared /srv/shared ro,nosuid shared:2 - ext4 /dev/sdb1 rw,commit=30
32 21 0:40 / /home rw,relatime shared:3 - nfs4 nas:/export/home rw,vers=4.2,rsize=1048576,hard,addr=10.0.0.1,clientaddr=10.0.0.2
33 21 0:41 / /var/lib/kubelet/pods/x/volumes/y rw - tmpfs tmpfs rw
40 21 0:50 / /mnt/share rw,relatime shared:4 - cifs //win/share rw,vers=3.1.1,cache=strict,username=u,uid=0,noforceuid,gid=0,noforcegid,addr=10.0.0.2,soft,serverino,bsize=1048576,actimeo=1
41 21 0:51 / /mnt/vol rw,relatime shared:5 - fuse.glusterfs g1:/vol rw,user_id=0,group_id=0,default_permissions,allow_other,max_read=131072
34 21 8:1 /srv/a /mnt/a\\040b rw,relatime shared:1 - ext4 /dev/sda1 rw
`;
const texts = new Map([
  ["fstab, of one node", exported(parseMounts(fstab), "worker-1")],
  ["mountinfo, for every node", exported(parseMounts(mountinfo), undefined)],
]);

describe("export", () => {
  const file = "export.golden.txt";
  const golden = readGolden(file);
  if (process.env[writeVariable]) writeGolden(file, texts);

  for (const [title, text] of texts) {
    it(`of ${title}`, () => expect(text).to.equal(golden.get(title)));

    it(`of ${title} is YAML of sets that our schema takes, each with a name of its own`, () => {
      const sets = loadAll(text).filter((one) => one !== null && one !== undefined) as { metadata: { name: string } }[];
      expect(sets.length).to.be.greaterThan(2);
      for (const set of sets) expect(parseSet(set)).to.have.property("ok", true);
      expect(new Set(sets.map(({ metadata }) => metadata.name)).size).to.equal(sets.length);
    });
  }

  it("shows no password", () => {
    expect(texts.get("fstab, of one node")).not.to.include("canary");
  });

  it("tells an fstab from a mount table", () => {
    expect(parseMounts(fstab).kind).to.equal("fstab");
    expect(parseMounts(mountinfo).kind).to.equal("mountinfo");
    expect(parseMounts("").lines).to.deep.equal([]);
    expect(parseMounts(fstab).unread).to.deep.equal([16]);
  });

  it("leaves no line of an fstab unsaid", () => {
    const text = texts.get("fstab, of one node") ?? "";
    for (const { target } of parseMounts(fstab).lines) expect(text).to.include(target);
  });
});
