/**
 * The behavior in which a resource differs from others (apiserver's registry/rest strategies). All members are
 * optional: without them a resource behaves as `store.ts` says. Objects are in the storage version.
 */
import type { ResetFields } from '../patch/reset-fields.ts'
import type { NameRule } from '../validation/names.ts'
import type { FieldError } from '../api/field.ts'
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { Env } from '../env.ts'
import type { Allocation } from './allocation.ts'
import type { ResourceScope } from './resource-scope.ts'
import type { Admission } from './write/admission.ts'
import type { WritingVerb } from './write/audited-scope.ts'

/** The data of the request, and access to other objects, for a hook. */
export interface StrategyContext {
  readonly user: UserInfo
  readonly now: Date
  readonly namespace: string
  /** The apiVersion of the request: `v1`, `events.k8s.io/v1`. */
  readonly apiVersion: string
  /** The verb of the client's request; undefined in a controller's call. */
  readonly verb?: string | undefined
  readonly dryRun: boolean
  readonly tenant: Tenant
  readonly env: Env
  readonly storage: Storage
  /**
   * The scope in which the server itself reads and writes other objects for this one: a built-in resource in its
   * storage version. The client does not get warnings of these writes.
   */
  beside(resource: GroupVersionResource, namespace?: string): ResourceScope
  /** The same for writes that kube-apiserver makes with a loopback request. */
  loopback(verb: WritingVerb, resource: GroupVersionResource, namespace?: string): ResourceScope
  /** Whether this server has the feature gate on. */
  enabled(gate: string): boolean
  /** Adds a warning to the answer, whether the write succeeds or fails. */
  readonly warn: (text: string) => void
}

/** For hooks that also write other objects. */
export interface WriteContext extends StrategyContext {
  /** Admission of the loopback requests. */
  readonly admission: Admission
  /** The object is large, so work on it runs in parts and other requests get their turns. */
  readonly isLarge?: boolean | undefined
}

/**
 * The strategy of one kind of update: of the main resource, or of a subresource that changes another part of the
 * object.
 */
export interface UpdateStrategy<O extends KubeObject = KubeObject> {
  /**
   * Changes `object` in place: restores the fields that this write may not change. By default a write of the main
   * resource keeps the old status. A write of `status` keeps everything but the status and its part of the metadata.
   */
  prepareForUpdate?(object: O, old: O, context: StrategyContext): void | Promise<void>
  /** Returns all errors in kube-apiserver's order. The generic code validates the object metadata. */
  validateUpdate?(object: O, old: O, context: StrategyContext): readonly FieldError[] | Promise<readonly FieldError[]>
  warningsOnUpdate?(object: O, old: O, context: StrategyContext): readonly string[]
  /** Default: 'as change'. */
  readonly metadataOnUpdate?: MetadataCheck
}

/**
 * How a kind validates object metadata again, after the generic rules. 'as change' compares it with the old object, 'as
 * new' validates it like that of a new object. With 'by strategy' the strategy does it, at another place among its
 * errors.
 */
export type MetadataCheck = 'as change' | 'as new' | 'by strategy'

export interface Strategy<O extends KubeObject = KubeObject> extends UpdateStrategy<O> {
  /** Default: DNS subdomain (RFC 1123). */
  readonly nameRule?: NameRule
  /** Only the generic rules check its metadata, not those that most Kubernetes kinds add. Default false. */
  readonly hasGenericMetadata?: boolean
  /** The name in kube-apiserver's etcd keys, which messages contain. Default: the name of the resource. */
  readonly storagePrefix?: string
  /**
   * Fields that a write cannot change, by subresource; '' is the main resource (GetResetFields of kube-apiserver's
   * strategies). The writer does not own them. Default: a write of the main resource cannot change the status if there
   * is a status subresource, and a write of `status` cannot change the spec.
   */
  readonly resetFields?: Readonly<Record<string, ResetFields>>
  /** generateName gets a random suffix. Default true. False: the name is generateName itself. */
  readonly generatesNames?: boolean
  /** `metadata.generation` counts changes of everything but metadata and status. Default false. */
  readonly hasGeneration?: boolean
  /**
   * Changes of `status` raise the generation, too: without the subresource it is a field like others. Default false.
   */
  readonly countsStatus?: boolean
  /** A list or map that a client sends empty, and that was absent, raises the generation. Default false. */
  readonly countsEmptied?: boolean
  /** Whether a client sent what storage cannot hold. It raises the generation, although the stored object is the same. */
  isMoreThanStored?(object: O): boolean
  /** Fields of disabled features raise the generation before the server drops them. Default false. */
  readonly countsDropped?: boolean
  /** The generation is always 1. Default false. */
  readonly generationStays?: boolean
  /** Only the generic rules check the metadata of a new object, and only if there is no other error. Default false. */
  readonly leavesNewMetadata?: boolean
  /**
   * A create keeps the status that the client sent (nodes). Default: a create drops it if there is a status
   * subresource.
   */
  readonly keepsStatusOnCreate?: boolean
  /** PUT of an absent name creates the object. Default false. */
  readonly allowCreateOnUpdate?: boolean
  /** An apply to the status of an absent name creates the object, too. Default: as a PUT does. */
  readonly allowCreateOnStatusApply?: boolean
  /** The server accepts a PUT without a resourceVersion. Default true. */
  readonly allowUnconditionalUpdate?: boolean
  /** The propagation policy of a DELETE that names none. Default Background. */
  readonly defaultPropagation?: 'Background' | 'Orphan'
  /** The warning for a DELETE without a propagation policy (jobs). */
  readonly warningOfDefaultPropagation?: string
  /** DELETE removes the object at once under any policy, and does not wait for the garbage collector (events). */
  readonly ignoresCollector?: boolean

  /**
   * Runs first on a create and on an update of the main resource. It reserves resources of the object (addresses and
   * ports of Services) and writes them into it, in place. A dry run reserves nothing.
   * @throws StatusError, after it has given back its reservations
   */
  allocate?(object: O, old: O | undefined, context: WriteContext): Promise<Allocation | undefined>
  prepareForCreate?(object: O, context: StrategyContext): void | Promise<void>
  /** Fills in the values of a valid object that kube-apiserver fills in when it reads the object from storage. */
  completeOnCreate?(object: O, context: StrategyContext): void
  /** Does the same after an update of the main resource. */
  completeOnUpdate?(object: O, context: StrategyContext): void
  validate?(object: O, context: StrategyContext): readonly FieldError[] | Promise<readonly FieldError[]>
  warningsOnCreate?(object: O, context: StrategyContext): readonly string[]
  /**
   * Changes how clients see a stored object: in reads, in answers to writes, and in the initial events of a watch.
   * Later events of a watch show the stored object, because kube-apiserver's watch cache bypasses its decorators. So does
   * the subresource `status`.
   * `decorate` does not change its argument. It runs only if the stored text contains `mark`.
   */
  readonly decorator?: { readonly mark: string; decorate(object: O): O }
  /** The fields that a field selector may name besides metadata.name and metadata.namespace, and their values. */
  selectableFields?(object: O): Readonly<Record<string, string>>
  /** The error for an unsupported field selector, if the kind has its own message. */
  unknownField?(field: string, kind: GroupVersionKind): string
  /**
   * Seconds of grace of a DELETE. Undefined for kinds that a DELETE removes at once.
   * @param asked gracePeriodSeconds of the options
   */
  gracePeriod?(object: O, asked: number | bigint | undefined): number | bigint | undefined
  /**
   * Replaces the other steps of a DELETE: marks the object, in place. False: the DELETE continues as for other kinds.
   */
  markFirst?(object: O, context: StrategyContext): boolean
  /** DELETE only marks the object, without a grace period, because a controller empties it first (namespaces). */
  readonly marksOnDelete?: boolean
  /** Why a DELETE of the object with this name is refused, whatever its options. DELETE of a collection takes it. */
  keepsName?(name: string): string | undefined
  /**
   * Runs when a DELETE marks or removes an object. It may change the object (namespaces: phase Terminating) or throw to
   * refuse.
   */
  prepareForDelete?(object: O, context: StrategyContext): void | Promise<void>
  /**
   * Runs after the write of an update of the main resource. The server logs its errors, and the answer stays the same.
   */
  afterUpdate?(object: O, old: O, context: StrategyContext): Promise<void>
  /** Runs after storage has removed the object, and releases its reservations. Dry runs skip it. */
  afterDelete?(object: O, context: WriteContext): void | Promise<void>
  /** A further condition for the removal of a marked object, besides finalizers (namespaces: empty spec.finalizers). */
  readyToGo?(object: O): boolean
  /** `status` and other subresources that read and write the same object. */
  readonly subresources?: Readonly<Record<string, UpdateStrategy<O>>>
}
