/** The scale of an autoscaler's target of any kind. Failures have the texts of client-go's scale client. */
import type { Scale } from '../../../api/autoscaling/v1.ts'
import type { CrossVersionObjectReference } from '../../../api/autoscaling/v2.ts'
import { parseApiVersion } from '../../../api/group-version.ts'
import type { KubeObject } from '../../../api/object.ts'
import { notFound, notServed, StatusError } from '../../../api/status.ts'
import { goQuote } from '../../../go/quote.ts'
import type { ResourceEntry } from '../../../registry/served/resources.ts'
import { isAnnounced } from '../../../registry/autoscaling/autoscaled-work.ts'
import type { Clientset } from '../../client/clientset.ts'
import type { ControllerContext } from '../../controller.ts'
import type { ResourceClient } from '../../client/resource-client.ts'

export interface ScaleTarget {
  readonly scale: Scale
  /** Whether writes of the target queue its autoscalers (registry/autoscaling/autoscaled-work.ts). */
  readonly isWatched: boolean
  /** @throws StatusError Conflict also where another object has the name by now */
  scaleTo(replicas: number): Promise<void>
}

export interface NoTarget {
  readonly why: string
  readonly isWatched: boolean
}

/** The attempts of a write that meets conflicts. */
const TRIES = 5

export async function scaleTargetOf(
  context: ControllerContext,
  clients: Clientset,
  namespace: string,
  { apiVersion = '', kind = '', name = '' }: CrossVersionObjectReference,
): Promise<ScaleTarget | NoTarget> {
  const { group } = parseApiVersion(apiVersion) ?? {}
  if (group === undefined && apiVersion !== '')
    return { why: `unexpected GroupVersion string: ${apiVersion}`, isWatched: true }
  const isWatched = isAnnounced({ group: group ?? '', kind })
  const entry = await entryOf(context, group ?? '', kind)
  if (entry === undefined)
    return { why: `no matches for kind ${goQuote(kind)} in group ${goQuote(group ?? '')}`, isWatched }
  const client = clients.of(entry, namespace)
  try {
    const scale = await scaleOf(client, entry, name)
    return { scale, isWatched, scaleTo: (replicas) => scaleTo(client, entry, scale, replicas) }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { why: error.message, isWatched }
  }
}

/** The resource of a kind, in the version that discovery prefers. */
async function entryOf(context: ControllerContext, group: string, kind: string): Promise<ResourceEntry | undefined> {
  const inGroup = (served: ControllerContext['served']) => served.inGroup(group).find((entry) => entry.kind === kind)
  return inGroup(context.served) ?? inGroup(await context.freshServed())
}

/** @throws StatusError */
async function scaleOf(client: ResourceClient, entry: ResourceEntry, name: string): Promise<Scale> {
  const scale = await client.scale(name)
  if (scale === null) throw notServed()
  if (scale === undefined) throw notFound(entry, name)
  return scale
}

async function scaleTo(client: ResourceClient, entry: ResourceEntry, known: Scale, replicas: number): Promise<void> {
  let scale = known
  for (let tries = 1; ; tries++)
    try {
      return await client.updateScale({ ...scale, spec: { replicas } } as Scale & KubeObject) // the scale has its kind
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 409 || tries === TRIES) throw error
      scale = await scaleOf(client, entry, scale.metadata.name ?? '')
      // the replicas were computed from the pods of another object
      if (scale.metadata.uid !== known.metadata.uid) throw error
    }
}
