/** The volumes that count toward the limits of CSI drivers. */
import type { PersistentVolume, Pod } from '../../api/core/v1.ts'
import type { MigratedSources } from '../../registry/core/volumes/migrated-volumes.ts'
import { ebsVolume, isManaged, migratedDrivers } from '../../registry/core/volumes/migrated-volumes.ts'

/** A volume of a CSI driver. Its id names driver and handle, so that the same volume counts once. */
export interface CsiVolume {
  readonly driver: string
  readonly id: string
}

const csiVolume = (driver: string | undefined, handle: string | undefined): CsiVolume | undefined =>
  driver && handle ? { driver, id: `${driver}/${handle}` } : undefined

export function csiVolumeOf({ metadata: { labels = {} }, spec = {} }: PersistentVolume): CsiVolume | undefined {
  if (spec.csi !== undefined) return csiVolume(spec.csi.driver, spec.csi.volumeHandle)
  return migratedVolume(spec, labels['failure-domain.beta.kubernetes.io/zone'] || labels['topology.kubernetes.io/zone'])
}

/** The volumes that the pod has without a claim. */
export const inlineVolumesOf = ({ spec }: Pod): readonly CsiVolume[] =>
  (spec?.volumes ?? []).flatMap((volume) => migratedVolume(volume) ?? [])

/**
 * The handles of volumes of the plugins that a CSI driver took over. kube-scheduler counts the volumes of these and no
 * others. It fails where it finds no handle for a volume of the pod itself; here such a volume does not count.
 */
const handles: ReadonlyMap<string, (sources: MigratedSources, zone: string) => string | undefined> = new Map([
  ['kubernetes.io/aws-ebs', ({ awsElasticBlockStore: disk }: MigratedSources) => ebsVolume(disk?.volumeID)],
  [
    'kubernetes.io/azure-disk',
    ({ azureDisk: disk }: MigratedSources) => (disk && isManaged(disk) ? disk.diskURI : undefined),
  ],
  ['kubernetes.io/cinder', ({ cinder }: MigratedSources) => cinder?.volumeID],
  [
    'kubernetes.io/gce-pd',
    ({ gcePersistentDisk: disk }: MigratedSources, zone: string) =>
      disk && `projects/UNSPECIFIED/zones/${zone}/disks/${disk.pdName}`,
  ],
  ['kubernetes.io/portworx-volume', ({ portworxVolume }: MigratedSources) => portworxVolume?.volumeID],
])

function migratedVolume(sources: MigratedSources, zone = 'UNSPECIFIED'): CsiVolume | undefined {
  for (const [plugin, handleOf] of handles) {
    const volume = csiVolume(migratedDrivers.get(plugin), handleOf(sources, zone))
    if (volume !== undefined) return volume
  }
  return undefined
}

/** The driver that counts the volumes of a provisioner. */
export const countingDriver = (provisioner: string): string =>
  (handles.has(provisioner) ? migratedDrivers.get(provisioner) : undefined) ?? provisioner
