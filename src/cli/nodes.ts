import { resource } from "../api/names.ts";
import { type Cluster, getIfAllowed, listIfAllowed } from "./cluster.ts";
import { CommandError } from "./exit-code.ts";
import { didYouMean } from "./nearest.ts";

/** That there is no such Node, as far as the user may know; undefined if there is. */
export async function missingNode(cluster: Cluster, name: string): Promise<CommandError | undefined> {
  const { items, denied } = await getIfAllowed(cluster, resource.nodes, { name });
  if (items.length > 0 || denied !== undefined) return undefined;
  const names = await nodeNames(cluster);
  return new CommandError(`there is no node ${JSON.stringify(name)}${didYouMean(name, names)}`);
}

/** As far as the user may know. */
export async function nodeNames(cluster: Cluster): Promise<string[]> {
  return (await listIfAllowed(cluster, resource.nodes)).items.map(({ metadata }) => metadata.name);
}
