/**
 * What a resource does differently from the others (apiserver's registry/rest strategies). Everything is optional:
 * a resource without a file of its own behaves as `store.ts` says. Objects are in the storage version.
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

/** The data of the request, and the other objects, that a hook can use. */
export interface StrategyContext {
  readonly user: UserInfo
  readonly now: Date
  readonly namespace: string
  /** In which version the request is: `v1`, `events.k8s.io/v1`. */
  readonly apiVersion: string
  readonly dryRun: boolean
  readonly tenant: Tenant
  readonly env: Env
  readonly storage: Storage
  /**
   * The scope in which the server itself reads and writes objects that belong to this one: a built-in resource in its
   * storage version. The client does not get its warnings.
   */
  beside(resource: GroupVersionResource, namespace?: string): ResourceScope
  /** The same for writes that kube-apiserver makes with a request of its own. */
  loopback(verb: WritingVerb, resource: GroupVersionResource, namespace?: string): ResourceScope
  /** Feature gates: on or off in this server. */
  enabled(gate: string): boolean
  /** Adds a warning to the answer, whether the write succeeds or fails. */
  readonly warn: (text: string) => void
}

/** Of a hook that writes beside the object. */
export interface WriteContext extends StrategyContext {
  /** Admission of the requests that kube-apiserver makes to itself. */
  readonly admission: Admission
  /** The object is, so that work on it gives others their turn. */
  readonly isLarge?: boolean | undefined
}

/** A write of one kind of update: the main resource, or a subresource that changes another part of the object. */
export interface UpdateStrategy<O extends KubeObject = KubeObject> {
  /**
   * Changes `object` in place: restores the fields that this write may not change. Without it a write of the main
   * resource keeps the old status, and a write of `status` keeps everything but the status and its part of the
   * metadata.
   */
  prepareForUpdate?(object: O, old: O, context: StrategyContext): void | Promise<void>
  /** All that is wrong, in the order of kube-apiserver. Object metadata is checked by the store. */
  validateUpdate?(object: O, old: O, context: StrategyContext): readonly FieldError[] | Promise<readonly FieldError[]>
  warningsOnUpdate?(object: O, old: O, context: StrategyContext): readonly string[]
  /** Default: as a change. */
  readonly metadataOnUpdate?: MetadataCheck
}

/**
 * Whether and how a kind validates object metadata again, beside the generic rules: compared with the old object, as that
 * of a new one, or in its strategy, at another place among its errors.
 */
export type MetadataCheck = 'as change' | 'as new' | 'by strategy'

export interface Strategy<O extends KubeObject = KubeObject> extends UpdateStrategy<O> {
  /** Default: DNS subdomain (RFC 1123). */
  readonly nameRule?: NameRule
  /** Its metadata is checked by the generic rules alone, not by those that most Kubernetes kinds add. Default false. */
  readonly hasGenericMetadata?: boolean
  /** In kube-apiserver's keys in etcd, which messages name. Default: the name of the resource. */
  readonly storagePrefix?: string
  /**
   * Fields that a write cannot change and whose writer does not become their owner, by subresource; '' is the main
   * resource (GetResetFields of kube-apiserver's strategies). Default: the status of a resource that has the
   * subresource, and the spec through `status`.
   */
  readonly resetFields?: Readonly<Record<string, ResetFields>>
  /** generateName gets a suffix. Default true; otherwise it is the name. */
  readonly generatesNames?: boolean
  /** `metadata.generation` counts changes of everything but metadata and status. Default false. */
  readonly hasGeneration?: boolean
  /** Changes of `status` count, too: without the subresource it is a field as others. Default false. */
  readonly countsStatus?: boolean
  /** A list or map that is sent empty, where there was none, is such a change. Default false. */
  readonly countsEmptied?: boolean
  /** Fields of switched-off features count for that before they are dropped. Default false. */
  readonly countsDropped?: boolean
  /** The generation is 1 for ever. Default false. */
  readonly generationStays?: boolean
  /** Only the generic rules check new metadata, and only when nothing else is wrong. Default false. */
  readonly leavesNewMetadata?: boolean
  /** A status sent with a create is kept (nodes). Default: dropped where there is a status subresource. */
  readonly keepsStatusOnCreate?: boolean
  /** PUT of an absent name creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean
  /** PUT without a resourceVersion is taken. Default true. */
  readonly allowUnconditionalUpdate?: boolean
  /** What happens to dependents when DELETE does not say. Default Background. */
  readonly defaultPropagation?: 'Background' | 'Orphan'
  /** The warning for a DELETE without a propagation policy (jobs). */
  readonly warningOfDefaultPropagation?: string
  /** Any policy removes it at once: the collector is not waited for (events). */
  readonly ignoresCollector?: boolean

  /**
   * Runs first on a create and on an update of the main resource. It reserves what the object needs (addresses and
   * ports of Services) and writes it into the object, in place. A dry run reserves nothing.
   * @throws StatusError; then nothing stays reserved
   */
  allocate?(object: O, old: O | undefined, context: WriteContext): Promise<Allocation | undefined>
  prepareForCreate?(object: O, context: StrategyContext): void | Promise<void>
  /** Fills in, in a valid object, what reading it back from storage would fill in. */
  completeOnCreate?(object: O, context: StrategyContext): void
  /** The same after an update of the main resource. */
  completeOnUpdate?(object: O, context: StrategyContext): void
  validate?(object: O, context: StrategyContext): readonly FieldError[] | Promise<readonly FieldError[]>
  warningsOnCreate?(object: O, context: StrategyContext): readonly string[]
  /**
   * Changes how clients see a stored object: in reads, in the answers to writes, and in the initial events of a watch.
   * Later events of a watch show the stored object, since kube-apiserver's watch cache bypasses its decorators.
   * `decorate` does not change its argument, and is called only if the stored text contains `mark`.
   */
  readonly decorator?: { readonly mark: string; decorate(object: O): O }
  /** Values of the field selectors besides metadata.name and metadata.namespace. */
  selectableFields?(object: O): Readonly<Record<string, string>>
  /** The answer to a field selector that is none of these, where the kind words it in its own way. */
  unknownField?(field: string, kind: GroupVersionKind): string
  /**
   * Seconds of grace of a DELETE, undefined for kinds that go at once.
   * @param asked gracePeriodSeconds of the options
   */
  gracePeriod?(object: O, asked: number | undefined): number | undefined
  /**
   * Replaces the other steps of a DELETE: marks the object, in place. False: the DELETE goes on as for any other kind.
   */
  markFirst?(object: O, context: StrategyContext): boolean
  /** DELETE only marks the object, without a grace period: a controller empties it first (namespaces). */
  readonly marksOnDelete?: boolean
  /** Runs when an object is marked or removed: may change it (namespaces: phase Terminating) or refuse by throwing. */
  prepareForDelete?(object: O, context: StrategyContext): void | Promise<void>
  /** Runs after an update of the main resource was written. Its errors are logged and do not change the answer. */
  afterUpdate?(object: O, old: O, context: StrategyContext): Promise<void>
  /** After the object left storage, to release its reservations. Not on dry runs. */
  afterDelete?(object: O, context: WriteContext): void | Promise<void>
  /** Must hold, beside finalizers, before a marked object may go (namespaces: empty spec.finalizers). */
  readyToGo?(object: O): boolean
  /** `status` and others that read and write the same object. */
  readonly subresources?: Readonly<Record<string, UpdateStrategy<O>>>
}
