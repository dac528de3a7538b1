/**
 * Removes the protection finalizer of deleted claims, volumes, VolumeAttributesClasses and PodGroups that nothing uses
 * (kube-controller-manager's pvc-protection, pv-protection, vac-protection and podgroup-protection controllers). The
 * key is that of `protectedKey`.
 */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../api/core/v1.ts'
import { StatusError } from '../api/status.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { managerClients } from './clientset.ts'
import type { ResourceClient } from './resource-client.ts'
import { untilNextLook } from './waiting-time.ts'
import type { Controller, ControllerContext } from './controller.ts'
import { protectedKey, protectionFinalizer } from '../registry/protection-finalizers.ts'

/** Milliseconds between a DELETE and the first look: who reads what was deleted sees it as terminating. */
const FIRST_LOOK = 3_000
/** Milliseconds until what is still used is looked at again. */
const RETRY = 10_000

interface Protection {
  readonly group: string
  readonly resource: string
  isUsed(object: KubeObject, context: ControllerContext): Promise<boolean>
}

/** By the resource in the key. */
const protections: Readonly<Record<string, Protection>> = {
  persistentvolumeclaims: {
    group: '',
    resource: 'persistentvolumeclaims',
    async isUsed({ metadata: { namespace = '', name } }, context) {
      const pods = await listed<Pod>(context, '', 'pods', namespace)
      return pods.some(
        ({ spec, status }) =>
          !!spec?.nodeName &&
          status?.phase !== 'Succeeded' &&
          status?.phase !== 'Failed' &&
          (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
      )
    },
  },
  persistentvolumes: {
    group: '',
    resource: 'persistentvolumes',
    isUsed: (object) => Promise.resolve((object as PersistentVolume).status?.phase === 'Bound'),
  },
  'podgroups.scheduling.k8s.io': {
    group: 'scheduling.k8s.io',
    resource: 'podgroups',
    async isUsed({ metadata: { namespace = '', name } }, context) {
      const pods = await listed<Pod>(context, '', 'pods', namespace)
      return pods.some(
        ({ spec, status }) =>
          spec?.schedulingGroup?.podGroupName === name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
      )
    },
  },
  'volumeattributesclasses.storage.k8s.io': {
    group: 'storage.k8s.io',
    resource: 'volumeattributesclasses',
    async isUsed({ metadata: { name } }, context) {
      const claims = await listed<PersistentVolumeClaim>(context, '', 'persistentvolumeclaims', '')
      const volumes = await listed<PersistentVolume>(context, '', 'persistentvolumes', '')
      return (
        volumes.some(({ spec }) => spec?.volumeAttributesClassName === name) ||
        claims.some(
          ({ spec, status }) =>
            spec?.volumeAttributesClassName === name || status?.currentVolumeAttributesClassName === name,
        )
      )
    },
  },
}

export const volumeProtection: Controller = {
  async reconcile(key, context) {
    const [resource = '', ...rest] = key.split('/')
    const name = rest.pop() ?? ''
    const protection = ownValue(protections, resource)
    if (protection === undefined) return undefined
    const client = managerClients(context).resource(protection, rest[0])
    const object = await client.get(name)
    if (object === undefined || protectedKey(protection, object) === undefined) return undefined
    const { deletionTimestamp = '' } = object.metadata
    const age = context.now().getTime() - Date.parse(deletionTimestamp)
    if (age < FIRST_LOOK) return FIRST_LOOK - Math.max(age, 0)
    if (await protection.isUsed(object, context)) return untilNextLook(deletionTimestamp, context.now(), RETRY)
    await release(client, name, protectionFinalizer(protection)!)
    return undefined
  },
}

async function release(client: ResourceClient, name: string, finalizer: string): Promise<void> {
  try {
    await client.updateWithRetries(name, ({ metadata }) => {
      const left = (metadata.finalizers ?? []).filter((one) => one !== finalizer)
      if (left.length > 0) metadata.finalizers = left
      else delete metadata.finalizers
    })
  } catch (error) {
    // somebody else let it go
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  }
}

/** The resource's own type is what storage holds. */
const listed = async <O>(
  context: ControllerContext,
  group: string,
  resource: string,
  namespace: string,
): Promise<O[]> => (await managerClients(context).resource({ group, resource }, namespace).list()) as O[]
