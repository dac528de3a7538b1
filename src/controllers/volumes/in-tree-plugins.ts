/**
 * The volume plugins that are built into kube-controller-manager, and what Kedge does in their place. There is no
 * storage here: of a volume on a host only the object goes.
 */
import type { PersistentVolume } from '../../api/core/v1.ts'
import { migratedDrivers } from '../../registry/core/volumes/migrated-volumes.ts'
import { annotation, PROVISIONED_BY } from './matching.ts'

const IN_TREE = 'kubernetes.io/'
const HOST_PATH = 'kubernetes.io/host-path'
/** Plugins that neither provision nor delete. */
const OTHERS: ReadonlySet<string> = new Set([
  'kubernetes.io/csi',
  'kubernetes.io/fc',
  'kubernetes.io/iscsi',
  'kubernetes.io/nfs',
])
/** The fields of a volume's spec by which kube-controller-manager finds a plugin. */
const KINDS = ['csi', 'fc', 'flexVolume', 'hostPath', 'iscsi', 'nfs'] as const
/** kube-controller-manager's pattern, which has no anchor. */
const DELETABLE_PATH = /\/tmp\/.+/

/** The program that provisions, or why none does. */
export type Provisioner = { readonly name: string; readonly why?: string } | { readonly why: string }

export function provisionerOf(name: string): Provisioner {
  const driver = migratedDrivers.get(name)
  if (driver !== undefined) return { name: driver }
  if (name === HOST_PATH)
    return { name, why: `Failed to create provisioner: provisioning in volume plugin "${HOST_PATH}" is disabled` }
  if (OTHERS.has(name)) return { why: 'no provisionable volume plugin matched' }
  return name.startsWith(IN_TREE) ? { why: `no volume plugin matched name: ${name}` } : { name }
}

/** `here`: the object may go. `elsewhere`: another program deletes the volume. */
export type Deleter = 'here' | 'elsewhere' | { readonly why: string }

/** Who deletes a released volume: the plugin that provisioned it, or else the one of its kind. */
export function deleterOf(volume: PersistentVolume): Deleter {
  const { metadata, spec = {} } = volume
  const provisioner = annotation(volume, PROVISIONED_BY) ?? ''
  if (provisioner === HOST_PATH) return ofHostPath(spec.hostPath?.path ?? '')
  if (OTHERS.has(provisioner)) return { why: 'no deletable volume plugin matched' }
  if (provisioner.startsWith(IN_TREE) && !migratedDrivers.has(provisioner))
    return { why: `no volume plugin matched name: ${provisioner}` }
  if (provisioner !== '' || spec.csi !== undefined) return 'elsewhere'
  if (spec.hostPath !== undefined) return ofHostPath(spec.hostPath.path)
  const isOther = spec.nfs !== undefined || spec.fc !== undefined || spec.iscsi !== undefined
  const problem = isOther ? 'no deletable volume plugin matched' : 'no volume plugin matched'
  return { why: `error getting deleter volume plugin for volume "${metadata.name}": ${problem}` }
}

const ofHostPath = (path = ''): Deleter =>
  DELETABLE_PATH.test(path) ? 'here' : { why: `host_path deleter only supports /tmp/.+ but received provided ${path}` }

/** Whether kube-controller-manager knows the kind of the volume. */
export const isKnownKind = ({ spec = {} }: PersistentVolume): boolean => KINDS.some((kind) => spec[kind] !== undefined)
