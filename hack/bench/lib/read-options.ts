import { messageOf } from "../../../src/errors.ts";

/**
 * @returns what was asked for; or, once the usage was printed, how the process is to end: 0 where it was asked for, 2
 *   with what is wrong
 */
export function readOptions<T extends object>(
  parse: (args: readonly string[]) => T | "help",
  usage: string,
  args: readonly string[] = process.argv.slice(2),
): T | number {
  try {
    const options = parse(args);
    if (options !== "help") return options;
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${usage}`);
    return 2;
  }
}
