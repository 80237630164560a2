import { readFileSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { digestOf, tarOf } from "./tar.ts";

/** The one image on the node: of the pods' containers, and of their sandboxes. */
export const podImage = "nodevolume.test/pod-program:1";

/**
 * Writes an image with one program as an OCI archive, as `ctr images import` takes it. Without arguments it does
 * nothing until it is ended.
 */
export function writePodImage(program: string, path: string): void {
  const layer = tarOf([{ name: "pod-program", content: readFileSync(program), executable: true }]);
  const architecture = arch() === "arm64" ? "arm64" : "amd64";
  const config = json({
    architecture,
    os: "linux",
    config: { Entrypoint: ["/pod-program"], Cmd: ["pause"] },
    rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
  });
  const oci = "application/vnd.oci.image";
  const manifest = json({
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config: { mediaType: `${oci}.config.v1+json`, digest: digestOf(config), size: config.length },
    layers: [{ mediaType: `${oci}.layer.v1.tar`, digest: digestOf(layer), size: layer.length }],
  });
  const index = json({
    schemaVersion: 2,
    mediaType: `${oci}.index.v1+json`,
    manifests: [
      {
        mediaType: `${oci}.manifest.v1+json`,
        digest: digestOf(manifest),
        size: manifest.length,
        platform: { architecture, os: "linux" },
        annotations: { "io.containerd.image.name": podImage, "org.opencontainers.image.ref.name": podImage },
      },
    ],
  });
  const blob = (content: Buffer) => ({ name: `blobs/${digestOf(content).replace(":", "/")}`, content });
  const layout = { name: "oci-layout", content: json({ imageLayoutVersion: "1.0.0" }) };
  writeFileSync(
    path,
    tarOf([layout, { name: "index.json", content: index }, blob(config), blob(manifest), blob(layer)]),
  );
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
