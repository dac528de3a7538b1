/** Finds the resources that the names of a quota limit, and computes their usage. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Amounts } from './amounts.ts'
import { sum } from './amounts.ts'
import type { Counted } from './count.ts'
import { countUsage } from './count.ts'
import type { QuotaReader } from './evaluator.ts'
import { evaluatorOf, specialResources } from './evaluators.ts'

interface Tracked {
  readonly resource: GroupResource
  readonly names: Set<string>
}

function tracked(names: Iterable<string>): Iterable<Tracked> {
  const found = new Map<string, Tracked>()
  for (const name of names)
    for (const resource of resourcesOf(name)) {
      const text = groupResourceText(resource)
      const known = found.get(text) ?? { resource, names: new Set() }
      known.names.add(name)
      found.set(text, known)
    }
  return found.values()
}

function resourcesOf(name: string): readonly GroupResource[] {
  if (!name.startsWith('count/')) return specialResources().filter((resource) => evaluatorOf(resource)?.tracks(name))
  const [resource = '', ...group] = name.slice('count/'.length).split('.')
  return [{ group: group.join('.'), resource }]
}

/**
 * The usage of these names by the objects of the quota's namespace. One name may limit several resources.
 * @param objectsOf undefined if the resource is not served; its objects do not count then
 */
export async function usageOf(
  quota: ResourceQuota,
  names: Iterable<string>,
  read: QuotaReader & { objectsOf(resource: GroupResource): Promise<AsyncIterable<KubeObject> | undefined> },
  now: Date,
): Promise<Counted> {
  let used: Amounts = new Map()
  let fallsAt = Infinity
  for (const { resource, names: ofResource } of tracked(names)) {
    const known = evaluatorOf(resource)
    const objects = known && (await read.objectsOf(resource))
    if (known === undefined || objects === undefined) continue
    const evaluator = (await known.informed?.(ofResource, read, now)) ?? known
    const counted = await countUsage(quota, evaluator, ofResource, objects, now)
    used = sum(used, counted.used)
    fallsAt = Math.min(fallsAt, counted.fallsAt)
  }
  return { used, fallsAt }
}
