// How the images start our program: what is started without an image is to take as much memory, and no more.
import { readDockerfile } from "./image/dockerfile.ts";

/** What stands between `node` and our program in the Dockerfile's ENTRYPOINT. @throws Error if there is none */
export function nodeOptions(): string[] {
  const [, entrypoint] = /^ENTRYPOINT (\[.*\])$/m.exec(readDockerfile()) ?? [];
  const [program, ...options] = JSON.parse(entrypoint ?? "[]") as string[];
  if (program !== "node" || options.pop() !== "/app/main.cjs") throw new Error("the Dockerfile starts something else");
  return options;
}

/** The environment that the image has, in that of its own; but for PATH, which says where programs lie in the image. */
export function imageEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const lines = [...readDockerfile().matchAll(/^ENV (\w+)=(\S+)$/gm)].filter(([, name]) => name !== "PATH");
  return { ...own, ...Object.fromEntries(lines.map(([, name, value]) => [name, value])) };
}

/**
 * The parts of GlusterFS that the image takes out of Debian's package, beneath its xlator directory.
 * @throws Error if there are none
 */
export function removedTranslators(): string[] {
  const [, removed] = /^RUN cd \/usr\/lib\/\*\/glusterfs\/\*\/xlator \\\n && rm (.+)$/m.exec(readDockerfile()) ?? [];
  if (removed === undefined) throw new Error("the Dockerfile removes no translators");
  return removed.split(" ");
}
