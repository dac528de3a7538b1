import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { Presentation } from '../codec/presentation.ts'
import type { ResourceForms } from '../codec/resource-forms.ts'
import type { ConvertVersion } from '../patch/managed-fields.ts'
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
 * A resource, or one of its subresources, in a version: all that is said of it, and nothing of a place in it. Built-in
 * resources (built-in-resource.ts) and those of definitions (custom-resources/custom-resource.ts) are its two
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
  /** Type of the request's version, and of the version in storage (the same but for kinds with several versions). */
  readonly type: StructType
  readonly storageKind: GroupVersionKind
  readonly storageType: StructType
  readonly view?: View
  /** Of a built-in kind in this version, beside what its members have. */
  readonly kindDefaults?: KindDefaults
  /** Identity when both versions are the same. */
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
  /**
   * An object of the kind, of whatever version, in that of `kind`, which is one of the resource's.
   * @throws StatusError where a webhook converts it and does not
   */
  inVersion(object: KubeObject, kind: GroupVersionKind): Promise<KubeObject>
  /**
   * What was read from storage as it is taken today, still in the storage version: identity for built-in kinds; a
   * definition may have another schema than when the object was written. May change the object in place.
   */
  currentForm(object: KubeObject): KubeObject
  /**
   * Present where a webhook converts: objects are in the version of the request from when they are read until they are
   * written.
   */
  readonly converter?: VersionConverter
  /** Before an object is answered. @throws StatusError where it is of another version and nothing can be waited for */
  checkConvertible?(object: KubeObject): void
  /** Of the definition, in which a resource that comes back under its name is another one. */
  readonly definitionUid?: string
  /** Before a watch begins: says that there is one, where what is watched may change its form. */
  announceWatch?(call: ApiCall): Promise<void>
  /** A JSON client gets the stored text as it is. */
  readonly storedAsServed: boolean
  readonly strategy: Strategy
  /** What serves it instead of its verbs. */
  readonly endpoint?: Endpoint
  /** What its writes are work for. */
  readonly workRules: WorkRules
  /** Of writes through it. */
  readonly resetFields: ResetFields
  /** In kube-apiserver's keys in etcd, which messages name. */
  readonly storagePrefix: string
  /** Between the versions of the kind, for owners of fields that wrote in another one; undefined: it has but one. */
  convertVersion(call: ApiCall): ConvertVersion | undefined
  /**
   * What conversion makes of an object on its way into storage and back: an older version may lack a value that a newer
   * one fills in, and who writes owns that, too.
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
  /** Where versions of the object have what the view writes; default: spec.replicas. */
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
