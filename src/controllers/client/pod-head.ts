/**
 * What controllers read of a pod. A user may have thousands of pods of a megabyte each, most of it environment and
 * commands, and controllers keep all pods of an owner, a node or a selector while they work.
 */
import type { Container, EphemeralContainer, Pod, Volume } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'

/** UTF-16 units of a stored pod from which on controllers keep its head alone. */
export const LARGE_POD = 32 * 1024
/** The longest annotation that controllers read. */
const LONGEST_ANNOTATION = 1024

/**
 * The head has no resourceVersion, so that no write takes it for the whole pod: who writes a pod reads it again.
 */
export function podHead({ metadata, spec, status, ...type }: Pod & KubeObject): Pod & KubeObject {
  const { managedFields: _fields, resourceVersion: _version, annotations, ...about } = metadata
  const short = Object.entries(annotations ?? {}).filter(([, text]) => text.length <= LONGEST_ANNOTATION)
  return {
    ...type,
    metadata: { ...about, ...(annotations && { annotations: Object.fromEntries(short) }) },
    ...(spec && { spec: headOfSpec(spec) }),
    ...(status && { status }),
  }
}

/** Whether a pod is the head of one. */
export const isHead = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean => metadata.resourceVersion === undefined

/** What says which pod it is, whether it goes and whether it is over. It is small. */
export const podName = ({ metadata, status, ...type }: Pod & KubeObject): Pod & KubeObject => {
  const { name, namespace, uid, deletionTimestamp, resourceVersion } = metadata
  const { apiVersion, kind } = type
  const about = { name, namespace, uid, deletionTimestamp, resourceVersion }
  return {
    apiVersion,
    kind,
    metadata: about,
    ...(status?.phase === undefined ? {} : { status: { phase: status.phase } }),
  }
}

type Spec = NonNullable<Pod['spec']>

function headOfSpec(spec: Spec): Spec {
  const { hostAliases: _aliases, dnsConfig: _dns, imagePullSecrets: _secrets, ...kept } = spec
  const { containers, initContainers, ephemeralContainers, volumes } = spec
  return {
    ...kept,
    ...(containers && { containers: containers.map(headOfContainer) }),
    ...(initContainers && { initContainers: initContainers.map(headOfContainer) }),
    ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(headOfContainer) }),
    ...(volumes && { volumes: volumes.map(headOfVolume) }),
  }
}

function headOfContainer<One extends Container | EphemeralContainer>(container: One): One {
  const head = { ...container }
  for (const name of ['env', 'envFrom', 'command', 'args', 'volumeMounts', 'volumeDevices'] as const) delete head[name]
  return head
}

/** Controllers ask for the claims and the drivers of volumes, and for no files in them. */
function headOfVolume(volume: Volume): Volume {
  const head = { ...volume }
  for (const name of ['configMap', 'secret', 'downwardAPI', 'projected'] as const) delete head[name]
  return head
}
