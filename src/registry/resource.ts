import type { Growth } from '../codec/encoded-resource.ts'
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { Presentation } from '../codec/encode/presentation.ts'
import type { ResourceForms } from '../codec/resource-forms.ts'
import type { ConvertVersion } from '../patch/object-versions.ts'
import type { ResetFields } from '../patch/reset-fields.ts'
import type { ReplicasPath } from '../patch/scale-ownership.ts'
import type { ApiCall } from '../request/context.ts'
import type { KindDefaults } from '../schema/default-rules.ts'
import type { StructType } from '../schema/structural.ts'
import type { Endpoint } from './endpoint.ts'
import type { ResourceEntry } from './served/resources.ts'
import type { Strategy } from './strategy.ts'
import type { WorkRules } from './work/work.ts'

/**
 * All facts about a resource, or about one of its subresources, in one version. It has no data of single objects.
 * Built-in resources (built-in-resource.ts) and custom resources (custom-resources/custom-resource.ts) are its two
 * implementations.
 */
export interface Resource {
  readonly entry: ResourceEntry
  readonly gvr: GroupVersionResource
  /** The kind of the resource itself. Subresources with another kind (Scale, Eviction) have their own file. */
  readonly kind: GroupVersionKind
  readonly namespaced: boolean
  readonly forms: ResourceForms
  readonly presentation: Presentation
  /**
   * The types of the request's version and of the storage version. They differ only for kinds with several versions.
   */
  readonly type: StructType
  readonly storageKind: GroupVersionKind
  readonly storageType: StructType
  /** Custom resources: the type by which a body of any version is read before the version is refused. */
  typeOfVersion?(version: string): StructType
  readonly view?: View
  /** Defaults of a built-in kind in this version, beside the defaults of its members. */
  readonly kindDefaults?: KindDefaults
  /** Identity if both versions are the same. */
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
  /**
   * Converts an object of the kind from any version to that of `kind`, which is a kind of this resource.
   * @throws StatusError if a conversion webhook fails
   */
  inVersion(object: KubeObject, kind: GroupVersionKind): Promise<KubeObject>
  /**
   * Fits a stored object to the present schema, in the storage version. For built-in kinds it is the identity. The
   * schema of a definition may have changed since the write of the object. May change the object in place.
   */
  currentForm(object: KubeObject): KubeObject
  /** Present where stored objects have another version. Objects have that of the request from their read to their write. */
  readonly converter?: VersionConverter
  /** Runs before an answer that cannot await a webhook. @throws StatusError if the object has another version */
  checkConvertible?(object: KubeObject): void
  /** UID of the definition. A new definition of the same name has another UID. */
  readonly definitionUid?: string
  /** Runs before a watch begins. It announces the watch if a change of the definition must end it. */
  announceWatch?(call: ApiCall): Promise<void>
  /** A JSON client gets the stored text without changes. */
  readonly storedAsServed: boolean
  /** How much the defaults of its definition enlarge an object. Absent: little. */
  readonly growth?: Growth
  readonly strategy: Strategy
  /** Where objects of a definition have a field of field selectors. Undefined for a field of the key. */
  fieldAt?(field: string): SelectableField | undefined
  /** The handler that serves it in place of its verbs. */
  readonly endpoint?: Endpoint
  /** The rules that find the controllers' work after a write. */
  readonly workRules: WorkRules
  /** Fields that a write cannot change. The field manager of the write does not own them. */
  readonly resetFields: ResetFields
  /** The part of kube-apiserver's etcd keys that messages contain. */
  readonly storagePrefix: string
  /**
   * Converts managed fields between versions, for field managers that wrote in another version. Undefined if the kind
   * has one version.
   */
  convertVersion(call: ApiCall): ConvertVersion | undefined
  /**
   * Returns an object as a round trip through storage changes it. A newer version may fill in a value that the older
   * one lacks. The field manager of the write owns this value, too.
   */
  afterConversion(object: KubeObject): KubeObject
}

export interface SelectableField {
  /** The names of the members that lead to the field. */
  readonly names: readonly string[]
  /** The value that defaults give the field, by the number of names that an object has. */
  readonly defaults: readonly string[]
}

/**
 * A subresource whose objects have another kind, such as Scale. The server makes such an object from the resource's
 * object, and writes its changes back.
 */
export interface View {
  readonly kind: GroupVersionKind
  readonly type: StructType
  of(object: KubeObject): KubeObject
  /** The view that a write begins with, where it differs from the one that a reader gets. */
  toChange?(object: KubeObject): KubeObject
  /**
   * Writes the fields that the view may change, and its resourceVersion, into `object`, an object of `resource`.
   * @throws 422; 409 if the view has the UID of another object
   */
  into(object: KubeObject, view: KubeObject, resource: GroupResource): void
  /** Runs before the server answers the view of a stored object. @throws StatusError if the object has no view */
  checkRead?(object: KubeObject): void
  /** The path of the field that the view writes, by version. Default: spec.replicas. */
  readonly replicasIn?: ReplicasPath
}

/** @see Resource.converter. Its methods throw StatusErrors. */
export interface VersionConverter {
  /** Whether it asks a webhook. An answer then waits for it, instead of converting what it encodes. */
  readonly asks: boolean
  /** @param origin stored: the objects are unchanged since their read from storage */
  toServed(objects: readonly KubeObject[], origin: 'stored' | 'made'): Promise<KubeObject[]>
  toStored(object: KubeObject): Promise<KubeObject>
  /** Of the storage version. */
  readonly stored: Pick<Resource, 'strategy' | 'storageType'>
}

export const hasStatus = ({ subresources }: ResourceEntry): boolean =>
  subresources.some(({ name }) => name === 'status')

/**
 * Returns a subresource whose objects have their own kind. The server answers them and does not store them:
 * TokenRequest.
 */
export const ofKind = (resource: Resource, kind: GroupVersionKind, type: StructType): Resource => ({
  ...resource,
  kind,
  type,
  storageKind: kind,
  storageType: type,
  toStorage: (object) => object,
  fromStorage: (object) => object,
})
