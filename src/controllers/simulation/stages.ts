/** The Stages of a control plane. Without KWOK's CustomResourceDefinition there are none, and nothing is read. */
import { BoundedMap } from '../../base/bounded-map.ts'
import type { KubeObject } from '../../api/object.ts'
import { STAGES } from '../../registry/simulation/stage-work.ts'
import type { Stage } from '../../registry/simulation/stages.ts'
import { readStage } from '../../registry/simulation/stages.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { EventRecorder } from '../workloads/events/events.ts'

const RESOURCE = typedResource<KubeObject>(STAGES.group, STAGES.resource)
/** The most Stages that are played: the first by name. */
const MOST_STAGES = 200

/** The most characters of all played Stages. Further Stages by name are not played. */
const MOST_TEXT = 1_000_000

/** The most Stages beyond these limits that get an Event. */
const MOST_TOLD = 10

interface Compiled {
  readonly stage: Stage | undefined
  /** Characters of its JSON. The compiled form is some ten times as large. */
  readonly size: number
}

/** Compiled Stages by uid and version. */
const known = new BoundedMap<string, Compiled>({
  entries: 2 * MOST_STAGES,
  size: 2 * MOST_TEXT,
  sizeOf: (_, { size }) => size,
})

export interface PlayedStages {
  /** Sorted by name. */
  readonly stages: readonly Stage[]
  /** Stages beyond the limits. */
  readonly leftOut: readonly KubeObject[]
  /** Changes with every write of a Stage. */
  readonly version: string
}

export async function stagesOf(clients: Clientset): Promise<PlayedStages> {
  const objects = (await clients.ifKnown(RESOURCE)?.list()) ?? []
  const byName = objects.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const stages: Stage[] = []
  const leftOut = byName.slice(MOST_STAGES)
  let left = MOST_TEXT
  for (const object of byName.slice(0, MOST_STAGES)) {
    const { stage, size } = compiled(object)
    left -= size
    if (left < 0) leftOut.push(object)
    else if (stage !== undefined) stages.push(stage)
  }
  const version = byName.map(({ metadata: { uid, resourceVersion } }) => `${uid}/${resourceVersion}`).join()
  return { stages, leftOut, version }
}

/** Records an Event at each Stage beyond the limits, because the author's write succeeded. */
export async function tellLeftOut(events: EventRecorder, leftOut: readonly KubeObject[]): Promise<void> {
  const message = `the first ${MOST_STAGES} Stages by name are played, as long as they have ${MOST_TEXT} characters together`
  for (const stage of leftOut.slice(0, MOST_TOLD)) await events.warnOnce(stage, 'StageNotPlayed', message)
}

function compiled(object: KubeObject): Compiled {
  const key = `${object.metadata.uid}/${object.metadata.resourceVersion}`
  const before = known.get(key)
  if (before !== undefined) return before
  const read = readStage(object)
  const made = { stage: 'stage' in read ? read.stage : undefined, size: JSON.stringify(object).length }
  known.set(key, made)
  return made
}
