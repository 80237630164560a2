import { createReadStream, fstatSync } from "node:fs";
import { printable } from "../../../api/values/printable.ts";
import { messageOf, VolumeError } from "../../../errors.ts";
import type { ImageLayoutPlace } from "../../ports/images.ts";
import { openFileAt } from "../path/held-tree.ts";
import { AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { allOf, type Blob, type BlobSource, largestManifest, VerifiedBlob, verified } from "./blob-source.ts";

/** The directory of an image layout, looked up with the node's root for a root. @throws VolumeError SourceNotFound */
export function openLayout(libc: Libc, { root, path }: ImageLayoutPlace): Descriptor {
  using node = new Descriptor(libc.openat2(AT_FDCWD, root, O.PATH | O.DIRECTORY | O.CLOEXEC, 0, 0));
  const resolve = RESOLVE.IN_ROOT | RESOLVE.NO_MAGICLINKS;
  try {
    return new Descriptor(libc.openat2(node.fd, path, O.RDONLY | O.DIRECTORY | O.CLOEXEC, 0, resolve));
  } catch (error) {
    if (errnoOf(error) === "EAGAIN") throw error; // it may well be there
    const message = `${path} on the node cannot be read as a directory (${errnoOf(error) ?? messageOf(error)}): put the image layout there, or correct layout.path`;
    throw new VolumeError("SourceNotFound", "final", message, { cause: error });
  }
}

/**
 * An image layout of OCI in a directory of the node (image-spec, image-layout.md), of which its blobs count alone. They
 * are reached through no link.
 */
export class LayoutDirectory implements BlobSource {
  readonly #libc: Libc;
  readonly #path: string;
  readonly #directory: Descriptor;

  /** @throws VolumeError SourceNotFound */
  constructor(libc: Libc, place: ImageLayoutPlace) {
    this.#libc = libc;
    this.#path = place.path;
    this.#directory = openLayout(libc, place);
  }

  manifest(digest: string): Promise<Buffer> {
    return allOf(verified(this.#read(digest, largestManifest), digest));
  }

  async blob(digest: string, size: number): Promise<Blob> {
    return new VerifiedBlob(this.#read(digest, size), digest);
  }

  /** @throws VolumeError RevisionNotFound, ContentRefused */
  async *#read(digest: string, most: number): AsyncGenerator<Buffer> {
    using file = this.#open(digest);
    const { size } = fstatSync(file.fd);
    if (size > most) throw this.#refused(digest, `has ${size} bytes, more than the ${most} that it may have`);
    yield* createReadStream("", { fd: file.fd, autoClose: false, end: Math.max(size, 1) - 1 });
  }

  #open(digest: string): Descriptor {
    try {
      const file = openFileAt(this.#libc, this.#directory, `blobs/${digest.replace(":", "/")}`, "read");
      if (fstatSync(file.fd).isFile()) return file;
      file[Symbol.dispose]();
    } catch (error) {
      if (errnoOf(error) === "ENOENT") {
        const message = `${this.#path} on the node has no ${digest} among its blobs: copy the whole image there, or correct layout`;
        throw new VolumeError("RevisionNotFound", "final", message, { cause: error });
      }
      throw this.#refused(digest, `cannot be read: ${errnoOf(error) ?? printable(messageOf(error))}`);
    }
    throw this.#refused(digest, "is no file");
  }

  #refused(digest: string, why: string): VolumeError {
    const message = `${digest} of ${this.#path} on the node ${why}: copy the image there anew`;
    return new VolumeError("ContentRefused", "final", message);
  }
}
