/**
 * Extended-resource claims: a scheduler makes them for the extended resources of a pod. A DeviceClass maps each of
 * these resources to devices (KEP-5004).
 */
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { DeviceClass } from '../../api/resource/v1.ts'
import { isExtended } from '../../validation/pod/resources.ts'

/** Marks an extended-resource claim, with the value `true`. */
export const EXTENDED_CLAIM = 'resource.kubernetes.io/extended-resource-claim'
/** Prefix of the extended resource that every DeviceClass has implicitly. The name of the class follows. */
export const DEVICE_CLASS_RESOURCE = 'deviceclass.resource.kubernetes.io/'

export const isExtendedClaim = ({ metadata }: KubeObject): boolean =>
  ownValue(metadata.annotations, EXTENDED_CLAIM) === 'true'

/** Whether a DeviceClass may map the resource to devices. */
export const isOfDevices = (name: string): boolean => isExtended(name) || name.startsWith(DEVICE_CLASS_RESOURCE)

export class ExtendedResources {
  private readonly classes = new Map<string, DeviceClass>()

  /** If several classes name one resource, the newest counts. If their ages are equal, the first by name counts. */
  constructor(classes: Iterable<DeviceClass & KubeObject>) {
    for (const deviceClass of classes) {
      const { metadata, spec } = deviceClass
      this.classes.set(DEVICE_CLASS_RESOURCE + metadata.name, deviceClass)
      const resource = spec?.extendedResourceName
      if (!resource) continue
      const other = this.classes.get(resource)
      if (other === undefined || isPreferred(deviceClass, other)) this.classes.set(resource, deviceClass)
    }
  }

  readonly classOf = (resource: string): DeviceClass | undefined => this.classes.get(resource)

  /** The extended resource that the class names, besides the implicit one. */
  nameOf(className: string): string | undefined {
    return this.classOf(DEVICE_CLASS_RESOURCE + className)?.spec?.extendedResourceName
  }
}

function isPreferred({ metadata: a }: DeviceClass, { metadata: b }: DeviceClass): boolean {
  const younger = Date.parse(a.creationTimestamp ?? '') - Date.parse(b.creationTimestamp ?? '')
  return younger > 0 || (younger === 0 && (a.name ?? '') < (b.name ?? ''))
}
