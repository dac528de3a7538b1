/**
 * The facts of how kube-apiserver serves a resource that need no call. kube-apiserver has two servers: apiserver's
 * installer serves built-in resources (built-in-serving.ts), and apiextensions' handler serves custom ones
 * (custom-resources/custom-serving.ts). `Resource` (resource.ts) has the facts that need a call.
 */
import type { RequestInfo } from '../../request/request-info.ts'
import type { ResourceEntry } from './resources.ts'

export const verbs = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'] as const
export type Verb = (typeof verbs)[number]

export interface Serving {
  /**
   * The verb of a method at a path of the resource. It is '' for OPTIONS, which only a proxy answers. Undefined: the
   * resource has no such path.
   * @throws StatusError 400, 404, 405
   */
  verbAt(entry: ResourceEntry, info: RequestInfo, method: string): Verb | '' | undefined
  /** A version that is deprecated has its warning beside the refusal of a method or a subresource, too. */
  readonly warnsWhenRefused: boolean
  /** Aggregated discovery writes group and version of a kind even if they equal those of the list. */
  readonly namesOwnVersion: boolean
  /** The informers of kube-apiserver's admission plug-ins keep its objects without managedFields. */
  readonly informedWithoutManagedFields: boolean
  /**
   * Whether OpenAPI derives its models, and the document of its version, from its own schema (`ResourceEntry.openApi`).
   * Otherwise the models are built-in types. All resources of a version have the same value.
   */
  readonly publishesSchema: boolean
  /** @param cbor the feature gate CBORServingAndStorage is on */
  operations(cbor: boolean): OperationDialect
}

/** Parts of OpenAPI documents that all operations of these resources share. */
export interface OperationDialect {
  /** Media types of an answer. */
  readonly json: readonly string[]
  readonly watch: readonly string[]
  readonly patches: readonly string[]
  /** Media types of request bodies of create, replace and delete. */
  readonly bodies: readonly string[]
  /** The document has paths below /watch/, and the descriptions of lists say "list or watch". */
  readonly watches: boolean
  /** Query parameters of a read. */
  readonly getOptions: readonly string[]
  /** DELETE of a collection has a body, and parameters for the members of that body. */
  readonly hasCollectionDeleteOptions: boolean
  readonly patchCodes: readonly (200 | 201)[]
  /** A subresource whose kind is one of options (PodExecOptions) is a connection. */
  readonly connects: boolean
  /** The kind that the operations of a subresource name. */
  readonly subresourceKind: 'its own' | 'of the resource'
}

export const verbOf = ({ verb }: RequestInfo): Verb | '' => verbs.find((known) => known === verb) ?? ''
