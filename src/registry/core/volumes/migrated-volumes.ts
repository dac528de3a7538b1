/** Volumes of plugins that Kubernetes no longer has. A CSI driver took each of the plugins over. */
import type { PersistentVolumeSpec, Volume } from '../../../api/core/v1.ts'

/** What a pod and a PersistentVolume both say of such volumes. */
export type MigratedSources = Pick<
  Volume,
  'awsElasticBlockStore' | 'azureDisk' | 'cinder' | 'gcePersistentDisk' | 'portworxVolume' | 'vsphereVolume'
> & { readonly azureFile?: Volume['azureFile'] & { readonly secretNamespace?: string } }

interface Migration {
  readonly plugin: string
  readonly driver: string
}

const migrations: Readonly<Record<keyof MigratedSources, Migration>> = {
  awsElasticBlockStore: { plugin: 'kubernetes.io/aws-ebs', driver: 'ebs.csi.aws.com' },
  azureDisk: { plugin: 'kubernetes.io/azure-disk', driver: 'disk.csi.azure.com' },
  azureFile: { plugin: 'kubernetes.io/azure-file', driver: 'file.csi.azure.com' },
  cinder: { plugin: 'kubernetes.io/cinder', driver: 'cinder.csi.openstack.org' },
  gcePersistentDisk: { plugin: 'kubernetes.io/gce-pd', driver: 'pd.csi.storage.gke.io' },
  portworxVolume: { plugin: 'kubernetes.io/portworx-volume', driver: 'pxd.portworx.com' },
  vsphereVolume: { plugin: 'kubernetes.io/vsphere-volume', driver: 'csi.vsphere.vmware.com' },
}

/** The CSI drivers by the names of the plugins that they took over. */
export const migratedDrivers: ReadonlyMap<string, string> = new Map(
  Object.values(migrations).map(({ plugin, driver }) => [plugin, driver]),
)

/** The driver that took over a volume. Undefined where no driver did, an error where the driver has no form for it. */
export function driverOfMigrated(sources: MigratedSources): string | Error | undefined {
  for (const [source, { driver }] of Object.entries(migrations) as [keyof MigratedSources, Migration][]) {
    if (sources[source] === undefined) continue
    return problemOf(sources) ?? driver
  }
  return undefined
}

/** As {@link driverOfMigrated}. The Secret of a share is in a namespace that the volume or its claim names. */
export function driverOfMigratedVolume(spec: PersistentVolumeSpec): string | Error | undefined {
  if (spec.azureFile !== undefined && !(spec.azureFile.secretNamespace ?? spec.claimRef?.namespace))
    return new Error('could not find a secret namespace in PersistentVolumeSource or ClaimRef')
  return driverOfMigrated(spec)
}

function problemOf({ awsElasticBlockStore: disk, azureDisk: blob }: MigratedSources): Error | undefined {
  if (disk !== undefined && ebsVolume(disk.volumeID) === undefined)
    return new Error(
      `failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${disk.volumeID})`,
    )
  if (blob !== undefined && !isManaged(blob)) return new Error(`kind(${blob.kind}) is not supported in csi migration`)
  return undefined
}

/** `aws://ZONE/ID` or `ID`. */
export const ebsVolume = (id = ''): string | undefined =>
  id.startsWith('aws://') ? /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(id)?.[1] : id

export const isManaged = ({ kind = 'managed' }: NonNullable<Volume['azureDisk']>): boolean =>
  kind.toLowerCase() === 'managed'
