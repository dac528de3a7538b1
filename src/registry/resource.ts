import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { Presentation } from '../codec/presentation.ts'
import type { ResourceForms } from '../codec/resource-forms.ts'
import type { ConvertVersion } from '../patch/object-versions.ts'
import type { ResetFields } from '../patch/reset-fields.ts'
import type { ReplicasPath } from '../patch/scale-ownership.ts'
import type { ApiCall } from '../request/context.ts'
import type { KindDefaults } from '../schema/default-rules.ts'
import type { StructType } from '../schema/structural.ts'
import type { Endpoint } from './endpoint.ts'
import type { ResourceEntry } from './resources.ts'
import type { Strategy } from './strategy.ts'
import type { WorkRules } from './work.ts'

/**
 * All that the server knows of a resource, or of one of its subresources, in a version; nothing about a single object.
 * Built-in resources (built-in-resource.ts) and custom resources (custom-resources/custom-resource.ts) are its two
 * implementations.
 */
export interface Resource {
  readonly entry: ResourceEntry
  readonly gvr: GroupVersionResource
  /** The kind of the resource itself; subresources with kinds of their own (Scale, Eviction) have their own file. */
  readonly kind: GroupVersionKind
  readonly namespaced: boolean
  readonly forms: ResourceForms
  readonly presentation: Presentation
  /** Type of the request's version, and of the version in storage. They differ only for kinds with several versions. */
  readonly type: StructType
  readonly storageKind: GroupVersionKind
  readonly storageType: StructType
  readonly view?: View
  /** Defaults of a built-in kind in this version, beside those of its members. */
  readonly kindDefaults?: KindDefaults
  /** Identity when both versions are the same. */
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
  /**
   * Converts an object of the kind, in any version, to that of `kind`, which is one of the resource's.
   * @throws StatusError where a conversion webhook fails
   */
  inVersion(object: KubeObject, kind: GroupVersionKind): Promise<KubeObject>
  /**
   * Fits an object from storage to the present schema, still in the storage version. Identity for built-in kinds; the
   * schema of a definition may have changed since the object was written. May change the object in place.
   */
  currentForm(object: KubeObject): KubeObject
  /**
   * Present where a webhook converts. Objects are then in the version of the request from the moment when they are read
   * until they are written.
   */
  readonly converter?: VersionConverter
  /**
   * Called before an answer that cannot wait for a webhook. @throws StatusError where the object is of another version
   */
  checkConvertible?(object: KubeObject): void
  /** UID of the definition. A new definition of the same name has another UID. */
  readonly definitionUid?: string
  /** Called before a watch begins. Announces the watch where a changed definition must end it. */
  announceWatch?(call: ApiCall): Promise<void>
  /** A JSON client gets the stored text as it is. */
  readonly storedAsServed: boolean
  readonly strategy: Strategy
  /** The handler that serves it in place of its verbs. */
  readonly endpoint?: Endpoint
  /** The controllers that have work after a write. */
  readonly workRules: WorkRules
  /** Fields that a write cannot change. The writer does not become their owner. */
  readonly resetFields: ResetFields
  /** The part of kube-apiserver's keys in etcd that messages contain. */
  readonly storagePrefix: string
  /**
   * Converts between versions for field managers that wrote in another version. Undefined where the kind has one
   * version.
   */
  convertVersion(call: ApiCall): ConvertVersion | undefined
  /**
   * An object after its way into storage and back: a newer version may fill in a value that the older one lacks, which
   * the manager of the write owns, too.
   */
  afterConversion(object: KubeObject): KubeObject
}

/**
 * A subresource whose objects are another kind, made of the resource's object and written back into it: Scale.
 */
export interface View {
  readonly kind: GroupVersionKind
  readonly type: StructType
  of(object: KubeObject): KubeObject
  /**
   * Writes what the view may change, and the version it names, into `object`, which is of `resource`.
   * @throws 422, and 409 for the UID of another object
   */
  into(object: KubeObject, view: KubeObject, resource: GroupResource): void
  /** Before the view of a stored object is answered. @throws StatusError when there is none */
  checkRead?(object: KubeObject): void
  /** The path in the object that the view writes, by version. Default: spec.replicas. */
  readonly replicasIn?: ReplicasPath
}

/** @see Resource.converter. Its methods throw StatusErrors. */
export interface VersionConverter {
  /** @param origin stored: as storage has them, nothing of them changed */
  toServed(objects: readonly KubeObject[], origin: 'stored' | 'made'): Promise<KubeObject[]>
  toStored(object: KubeObject): Promise<KubeObject>
  /** Of the storage version. */
  readonly storedStrategy: Strategy
}

export const hasStatus = ({ subresources }: ResourceEntry): boolean =>
  subresources.some(({ name }) => name === 'status')

/** A subresource whose objects are of a kind of their own, which the server answers and does not keep: TokenRequest. */
export const ofKind = (resource: Resource, kind: GroupVersionKind, type: StructType): Resource => ({
  ...resource,
  kind,
  type,
  storageKind: kind,
  storageType: type,
  toStorage: (object) => object,
  fromStorage: (object) => object,
})
