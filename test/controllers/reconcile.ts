/** One controller alone, on a control plane in memory whose own work is done. */
import type { GroupResource } from '../../src/api/group-version.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import type { Topic } from '../../src/registry/work/topic.ts'
import type { Env } from '../../src/env.ts'
import { controllers } from '../../src/controllers/controllers.ts'
import { ControlPlaneInMemory } from './control-plane.ts'

export async function newPlane(settings: Partial<Env> = {}): Promise<ControlPlaneInMemory> {
  const plane = new ControlPlaneInMemory(settings)
  await plane.context()
  await plane.settle()
  return plane
}

export async function reconcile(plane: ControlPlaneInMemory, topic: Topic, key: string): Promise<number | undefined> {
  return controllers[topic].reconcile(key, await plane.context(topic))
}

/** An object that a controller brought to rest: looking again changes nothing. */
export async function settled<O>(
  plane: ControlPlaneInMemory,
  topic: Topic,
  key: string,
  [resource, namespace, name]: readonly [GroupResource, string, string],
): Promise<(O & KubeObject) | undefined> {
  await reconcile(plane, topic, key)
  const first = await plane.get(resource, namespace, name)
  await reconcile(plane, topic, key)
  const second = await plane.get(resource, namespace, name)
  if (first?.metadata.resourceVersion !== second?.metadata.resourceVersion)
    throw new Error(`${topic} wrote ${name} again though nothing had changed`)
  // objects of a resource are of its kind
  return second as (O & KubeObject) | undefined
}

/** `kind` and `apiVersion` before an object. */
export const of = (apiVersion: string, kind: string, object: object): JsonObject =>
  ({ kind, apiVersion, ...object }) as JsonObject
