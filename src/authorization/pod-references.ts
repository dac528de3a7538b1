/** The objects to which a pod, or a volume that it uses, refers. */
import type { Container, PersistentVolume, Pod } from '../api/core/v1.ts'

export interface PodReferences {
  readonly serviceAccounts: ReadonlySet<string>
  readonly secrets: ReadonlySet<string>
  readonly configMaps: ReadonlySet<string>
  readonly claims: ReadonlySet<string>
  readonly resourceClaims: ReadonlySet<string>
}

const names = (all: readonly (string | undefined)[]): ReadonlySet<string> =>
  new Set(all.filter((name) => name !== undefined && name !== '')) as ReadonlySet<string>

export function podReferences(pod: Pod): PodReferences {
  const { spec, status } = pod
  const containers = containersOf(pod)
  const volumes = spec?.volumes ?? []
  const projections = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const env = containers.flatMap(({ env }) => env ?? []).map(({ valueFrom }) => valueFrom)
  const envFrom = containers.flatMap(({ envFrom }) => envFrom ?? [])
  return {
    serviceAccounts: names([spec?.serviceAccountName]),
    secrets: names([
      ...(spec?.imagePullSecrets ?? []).map(({ name }) => name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map((from) => from?.secretKeyRef?.name),
      ...projections.map(({ secret }) => secret?.name),
      ...volumes.flatMap((volume) => [
        volume.azureFile?.secretName,
        volume.cephfs?.secretRef?.name,
        volume.cinder?.secretRef?.name,
        volume.flexVolume?.secretRef?.name,
        volume.rbd?.secretRef?.name,
        volume.secret?.secretName,
        volume.scaleIO?.secretRef?.name,
        volume.iscsi?.secretRef?.name,
        volume.storageos?.secretRef?.name,
        volume.csi?.nodePublishSecretRef?.name,
      ]),
    ]),
    configMaps: names([
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map((from) => from?.configMapKeyRef?.name),
      ...projections.map(({ configMap }) => configMap?.name),
      ...volumes.map(({ configMap }) => configMap?.name),
    ]),
    claims: names(
      volumes.map(({ name, persistentVolumeClaim, ephemeral }) =>
        ephemeral === undefined ? persistentVolumeClaim?.claimName : `${pod.metadata?.name}-${name}`,
      ),
    ),
    resourceClaims: names([...claimsOf(pod), status?.extendedResourceClaimStatus?.resourceClaimName]),
  }
}

/** A claim of the spec is named there, or it is made from a template and the status has its name. */
function claimsOf({ spec, status }: Pod): (string | undefined)[] {
  const made = new Map(status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]))
  return (spec?.resourceClaims ?? []).map(({ name, resourceClaimName, resourceClaimTemplateName }) =>
    resourceClaimTemplateName === undefined ? resourceClaimName : made.get(name),
  )
}

/** Ephemeral containers have these fields too. */
const containersOf = ({ spec }: Pod): Pick<Container, 'env' | 'envFrom'>[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

/** Secrets that a kubelet needs to mount a volume, as NAMESPACE/NAME. */
export function volumeSecrets({ spec }: PersistentVolume): ReadonlySet<string> {
  const claimNamespace = spec?.claimRef?.namespace
  const key = (reference: { name?: string; namespace?: string } | undefined): string | undefined =>
    reference?.name === undefined ? undefined : `${reference.namespace || claimNamespace}/${reference.name}`
  const { azureFile, csi } = spec ?? {}
  return names([
    key(azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace }),
    ...[
      spec?.cephfs?.secretRef,
      spec?.cinder?.secretRef,
      spec?.flexVolume?.secretRef,
      spec?.rbd?.secretRef,
      spec?.scaleIO?.secretRef,
      spec?.iscsi?.secretRef,
      spec?.storageos?.secretRef,
      csi?.nodePublishSecretRef,
      csi?.nodeStageSecretRef,
      csi?.nodeExpandSecretRef,
    ].map(key),
  ])
}
